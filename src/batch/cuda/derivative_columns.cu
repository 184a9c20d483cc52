#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(DerivativeColumns, float)
KANSETSU_INSTANTIATE_LAUNCH(DerivativeColumns, double)
