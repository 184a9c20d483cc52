#pragma once

/// KANSETSU_HD marks code that kernels use: callable from host and device, and always inlined, so that an object
/// compiled for one instruction set never lends an out-of-line copy to an object compiled for another.
#if defined(__CUDACC__)
#define KANSETSU_HD __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define KANSETSU_HD [[gnu::always_inline]] inline
#else
#define KANSETSU_HD inline
#endif
