#pragma once

#include "batch/integrate_kernel.h"
#include "batch/kernel_table.h"
#include "batch/layout_kernel.h"
#include "batch/link_kernel.h"
#include "batch/pose_kernel.h"
#include "kinematics/entry.h"

/// The kernels of batches as entry points of one instruction set. Included by the files that instantiate them.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

template <class P>
bool gather_entry(const BlockRows<const scalar_t<P>>& from, int n, scalar_t<P>* packs) {
  const scalar_t<P>* rows[P::width];
  for (int i = 0; i < P::width; ++i) rows[i] = from.first + (i < from.count ? i : from.count - 1) * from.stride;
  const P check = gather(rows, n, as<P>(packs));
  bool finite = true;
  for (int i = 0; i < P::width; ++i) finite = finite && check[i] == 0;
  return finite;
}

/// Pointers to all rows of a block; missing rows point to `spare`.
template <class P>
struct RowPointers {
  scalar_t<P>* rows[P::width];
  RowPointers(const BlockRows<scalar_t<P>>& to, scalar_t<P>* spare) {
    for (int i = 0; i < P::width; ++i) rows[i] = i < to.count ? to.first + i * to.stride : spare;
  }
};

template <class P>
void scatter_entry(const scalar_t<P>* packs, const int* order, int n, const BlockRows<scalar_t<P>>& to,
                   scalar_t<P>* spare) {
  const RowPointers<P> pointers(to, spare);
  if (order)
    scatter(as<P>(packs), order, n, pointers.rows);
  else
    scatter(as<P>(packs), n, pointers.rows);
}

template <class P>
void link_pose_rows_entry(const TreeViewOf<scalar_t<P>>& tree, const LinksOfBodies& links, const scalar_t<P>* q,
                          void* scratch, const BlockRows<scalar_t<P>>& to, scalar_t<P>* spare) {
  node_poses(*tree.nodes, links, as<P>(q), scratch, RowPointers<P>(to, spare).rows);
}

template <class P>
void link_poses_entry(const LinkPlacement* links, const int* moved, int moved_count, const scalar_t<P>* X_WB,
                      scalar_t<P>* X_WL) {
  link_poses(links, moved, moved_count, as<Transform<P>>(X_WB), as<Transform<P>>(X_WL));
}

template <class P>
void body_wrenches_entry(const LinkPlacement* links, int link_count, int body_count, const scalar_t<P>* X_WB,
                         const scalar_t<P>* wrenches, scalar_t<P>* out) {
  body_wrenches(links, link_count, body_count, as<Transform<P>>(X_WB), as<Force<P>>(wrenches), as<Force<P>>(out));
}

template <class P>
int find_no_rotation_entry(const int* at, int count, const scalar_t<P>* q) {
  return find_no_rotation(at, count, as<P>(q));
}

template <class P>
bool has_zero_entry(const scalar_t<P>* packs, int n) {
  P zeros(0);
  for (int i = 0; i < n; ++i) zeros = zeros + select(as<P>(packs)[i] == P(0), P(1), P(0));
  bool found = false;
  for (int i = 0; i < P::width; ++i) found = found || zeros[i] != 0;
  return found;
}

template <class P>
void integrate_entry(const CoordinateStretch* stretches, int count, const scalar_t<P>* q, const scalar_t<P>* v,
                     scalar_t<P> dt, scalar_t<P>* out) {
  integrate(stretches, count, as<P>(q), as<P>(v), P(dt), as<P>(out));
}

template <class P>
void advance_entry(int n, const scalar_t<P>* x, const scalar_t<P>* rate, scalar_t<P> dt, scalar_t<P>* to) {
  for (int i = 0; i < n; ++i) as<P>(to)[i] = as<P>(x)[i] + P(dt) * as<P>(rate)[i];
}

template <class P>
constexpr BatchKernels<scalar_t<P>> make_batch_table() {
  return {P::width,
          gather_entry<P>,
          scatter_entry<P>,
          link_pose_rows_entry<P>,
          link_poses_entry<P>,
          body_wrenches_entry<P>,
          find_no_rotation_entry<P>,
          has_zero_entry<P>,
          integrate_entry<P>,
          advance_entry<P>};
}

}  // namespace
}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
