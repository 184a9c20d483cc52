#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(Crba, float)
KANSETSU_INSTANTIATE_LAUNCH(Crba, double)
