#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(RneaDerivatives, float)
KANSETSU_INSTANTIATE_LAUNCH(RneaDerivatives, double)
