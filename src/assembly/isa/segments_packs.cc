#include "assembly/kernel_table.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {
namespace {

using T = NativePack<double>;
using Link = SegmentLink<T>;
using Step = SegmentStep<T>;

/// One lane of a struct of packs from the same struct of numbers.
template <class Packs, class Numbers>
void set(Packs& x, int lane, const Numbers& value) {
  static_assert(sizeof(Packs) == sizeof(Numbers) * T::width);
  T* to = reinterpret_cast<T*>(&x);
  const double* from = reinterpret_cast<const double*>(&value);
  for (std::size_t n = 0; n < sizeof(Numbers) / sizeof(double); ++n) to[n].set(lane, from[n]);
}
/// And back.
template <class Numbers, class Packs>
void get(const Packs& x, int lane, Numbers& out) {
  static_assert(sizeof(Packs) == sizeof(Numbers) * T::width);
  const T* from = reinterpret_cast<const T*>(&x);
  double* to = reinterpret_cast<double*>(&out);
  for (std::size_t n = 0; n < sizeof(Numbers) / sizeof(double); ++n) to[n] = from[n][lane];
}

void set_link_entry(void* links, int k, int lane, const ChainLink& link) {
  Link& out = static_cast<Link*>(links)[k];
  set(out.X_PJ, lane, link.X_PJ);
  set(out.M, lane, link.M);
  set(out.S, lane, link.S);
  set(out.turn, lane, link.S.w);
  set(out.slide, lane, link.S.v);
  set(out.turns, lane, PrimitiveKind(link.kind) != PrimitiveKind::kSlide ? 1.0 : 0.0);
}

/// Lanes without a last link.
T lanes_of(const double* shorter) {
  T out;
  for (int lane = 0; lane < T::width; ++lane) out.set(lane, shorter[lane]);
  return out;
}

void place_entry(const void* links, void* memory, int count, const double* q, const double* rate, const double* u,
                 const double* shorter, SegmentShare* shares) {
  Step* steps = static_cast<Step*>(memory);
  for (int k = 0; k < count; ++k) {
    steps[k].rate = reinterpret_cast<const T*>(rate)[k];
    steps[k].u = reinterpret_cast<const T*>(u)[k];
  }
  Transform<T> X;
  Motion<T> v;
  place_segments(static_cast<const Link*>(links), steps, count, reinterpret_cast<const T*>(q), lanes_of(shorter) > T(0),
                 X, v);
  for (int lane = 0; lane < T::width; ++lane) {
    get(X, lane, shares[lane].carry.X);
    get(v, lane, shares[lane].carry.v);
    get(steps[0].X, lane, shares[lane].X);
  }
}

void reduce_entry(const void* memory, void* step_memory, int count, const double* shorter, SegmentShare* shares) {
  const Link* links = static_cast<const Link*>(memory);
  Step* steps = static_cast<Step*>(step_memory);
  Motion<T> V;
  bool any = false;
  for (int lane = 0; lane < T::width; ++lane) {
    set(V, lane, shares[lane].V_before);
    any = any || shorter[lane] != 0;
  }
  SegmentFront<T> f;
  reduce_segments(links, steps, count, V, lanes_of(shorter) > T(0), any, f);
  for (int lane = 0; lane < T::width; ++lane) {
    SegmentShare& out = shares[lane];
    get(f.P, lane, out.P);
    get(f.Z, lane, out.Z);
    get(steps[0].C, lane, out.C);
    get(links[0].S, lane, out.S);
    for (int i = 0; i < 6; ++i) {
      Force<> row;
      get(f.E[i], lane, row);
      const double six[6] = {row.t.x, row.t.y, row.t.z, row.f.x, row.f.y, row.f.z};
      for (int k = 0; k < 6; ++k) {
        out.E[6 * i + k] = six[k];
        out.Gamma[6 * i + k] = f.Gamma[i <= k ? 6 * i + k : 6 * k + i][lane];
      }
      out.b[i] = f.b[i][lane];
    }
  }
}

void finish_entry(const void* memory, const void* step_memory, int count, const SegmentShare* shares, double* qdd) {
  Motion<T> s;
  T F[6];
  for (int lane = 0; lane < T::width; ++lane) {
    set(s, lane, shares[lane].s_first);
    const Force<>& end = shares[lane].F_end;
    const double six[6] = {end.t.x, end.t.y, end.t.z, end.f.x, end.f.y, end.f.z};
    for (int i = 0; i < 6; ++i) set(F[i], lane, six[i]);
  }
  finish_segments(static_cast<const Link*>(memory), static_cast<const Step*>(step_memory), count, s, F,
                  reinterpret_cast<T*>(qdd));
}

}  // namespace

extern const SegmentKernels segments_table;
const SegmentKernels segments_table{T::width,    sizeof(Link), sizeof(Step), set_link_entry,
                                    place_entry, reduce_entry, finish_entry};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
