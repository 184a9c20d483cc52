#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(Aba, float)
KANSETSU_INSTANTIATE_LAUNCH(Aba, double)
