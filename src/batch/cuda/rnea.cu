#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(Rnea, float)
KANSETSU_INSTANTIATE_LAUNCH(Rnea, double)
