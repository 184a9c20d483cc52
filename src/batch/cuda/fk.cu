#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(Fk, float)
KANSETSU_INSTANTIATE_LAUNCH(Fk, double)
