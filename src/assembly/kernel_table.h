#pragma once

#include "assembly/front_kernel.h"
#include "assembly/segments_kernel.h"
#include "model/tree.h"

/// Entry points of the assembly kernels of one instruction set.
namespace kansetsu::kernel {

struct AssemblyKernels {
  /// Of bodies first … last − 1: pose in the parent, tree velocities, and pose X_EB and velocity (in B) relative to the body
  /// that carries the stretch. All arrays are over all bodies; X_EB may be null.
  void (*motions)(const TreeView&, int first, int last, const double* q, const double* v, void* scratch,
                  Transform<>* X_PB, Transform<>* X_EB, Motion<>* V, double* u);
  int (*invert_factor)(const double* A, double* C_inv);
  void (*body_front)(const double* C_inv, double* H, int ld, const PivotRows&, const KeptRows&);
  void (*add_child)(const KeptRows& child, int bonds, const int* place, const int* rows, const PivotRows&,
                    const KeptRows&);
  /// Closes rows: the factor in place, and the kept rows without them. order: null if Y is positive definite; else it is
  /// found, `own` rows come from joints, and `free` is the diagonal of Y for free parts. Returns the number of rows left out.
  int (*close)(const PivotRows&, int own, int* order, const double* free, const KeptRows&);
  /// Six rows [Ia, ta] to add to a hub, from rows over its accelerations.
  int (*rake)(const PivotRows&, const KeptRows& share);
  void (*substitute)(const PivotRows&, const int* order, const double* z, int stride, double* n);
  void (*body_acceleration)(const double* C_inv, const double* H, int ld, const double* y0, const double* n, double* s);
  void (*reduce)(const PivotRows&, const int* order, double* r, double* r_kept);
};

const AssemblyKernels& assembly();

/// Segments of a chain side by side in the lanes of a register. Constants and steps are memory of `link_bytes` and
/// `step_bytes` a link; numbers per link come as `width` in a row. shares: one per lane. shorter: per lane, 1 if it
/// has no last link.
struct SegmentKernels {
  int width;
  std::size_t link_bytes, step_bytes;
  void (*set_link)(void* links, int k, int lane, const ChainLink& link);
  void (*place)(const void* links, void* steps, int count, const double* q, const double* rate, const double* u,
                const double* shorter, SegmentShare* shares);
  void (*reduce)(const void* links, void* steps, int count, const double* shorter, SegmentShare* shares);
  void (*finish)(const void* links, const void* steps, int count, const SegmentShare* shares, double* qdd);
};

const SegmentKernels& segments();

}  // namespace kansetsu::kernel
