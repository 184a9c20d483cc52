#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(MassMatrixInverse, float)
KANSETSU_INSTANTIATE_LAUNCH(MassMatrixInverse, double)
