#include "batch/cuda/launch.cuh"

KANSETSU_INSTANTIATE_LAUNCH(LeanAba, float)
KANSETSU_INSTANTIATE_LAUNCH(LeanAba, double)
