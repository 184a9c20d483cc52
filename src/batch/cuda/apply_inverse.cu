#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(ApplyInverse, float)
KANSETSU_INSTANTIATE_LAUNCH(ApplyInverse, double)
