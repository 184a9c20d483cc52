#pragma once

#include <cstring>

#include "kansetsu/spatial/pack.h"

/// Eight numbers side by side, whatever a register holds.
namespace kansetsu::kernel::inline KANSETSU_ISA {

#if defined(__AVX512F__)

using Eight = Pack<double, 8>;
template <int J>
KANSETSU_HD Eight broadcast(const Eight& a) {
  return Eight(typename Eight::Vector(__builtin_shufflevector(a.v, a.v, J, J, J, J, J, J, J, J)));
}
/// Four of them.
template <int kFirst>
KANSETSU_HD Pack<double, 4> four_of(const Eight& a) {
  using Four = Pack<double, 4>;
  return Four(typename Four::Vector(__builtin_shufflevector(a.v, a.v, kFirst, kFirst + 1, kFirst + 2, kFirst + 3)));
}
KANSETSU_HD Pack<double, 2> two_of(const Eight& a) {
  using Four = Pack<double, 4>;
  using Two = Pack<double, 2>;
  const Four s = four_of<0>(a) + four_of<4>(a);
  return Two(typename Two::Vector(__builtin_shufflevector(s.v, s.v, 0, 1))) +
         Two(typename Two::Vector(__builtin_shufflevector(s.v, s.v, 2, 3)));
}

#else

/// Registers side by side: compilers keep a vector that is wider than a register in memory.
struct alignas(64) Eight {
  using Part = NativePack<double>;
  static constexpr int width = 8, kParts = 8 / Part::width;
  Part part[kParts];

  Eight() = default;
  KANSETSU_HD Eight(double s) {  // NOLINT(google-explicit-constructor): broadcast, like Pack
    for (Part& p : part) p = Part(s);
  }
  KANSETSU_HD double operator[](int lane) const { return part[lane / Part::width][lane % Part::width]; }
  KANSETSU_HD void set(int lane, double s) { part[lane / Part::width].set(lane % Part::width, s); }
  KANSETSU_HD friend Eight operator+(const Eight& a, const Eight& b) {
    Eight out;
    for (int i = 0; i < kParts; ++i) out.part[i] = a.part[i] + b.part[i];
    return out;
  }
  KANSETSU_HD friend Eight operator*(const Eight& a, const Eight& b) {
    Eight out;
    for (int i = 0; i < kParts; ++i) out.part[i] = a.part[i] * b.part[i];
    return out;
  }
  KANSETSU_HD friend Eight madd(const Eight& a, const Eight& b, const Eight& c) {
    Eight out;
    for (int i = 0; i < kParts; ++i) out.part[i] = kansetsu::madd(a.part[i], b.part[i], c.part[i]);
    return out;
  }
};
template <int J>
KANSETSU_HD Eight broadcast(const Eight& a) {
  return Eight(a[J]);
}
/// In the order of the wider registers, so that the sum has the same bits.
KANSETSU_HD Pack<double, 2> two_of(const Eight& a) {
  Pack<double, 2> out(0.0);
  out.set(0, (a[0] + a[4]) + (a[2] + a[6]));
  out.set(1, (a[1] + a[5]) + (a[3] + a[7]));
  return out;
}

#endif

/// From and to memory, register by register.
KANSETSU_HD Eight load_eight(const double* at) {
  Eight out;
#if defined(__AVX512F__)
  std::memcpy(&out, at, sizeof(out));
#else
  for (int i = 0; i < Eight::kParts; ++i) std::memcpy(&out.part[i], at + i * Eight::Part::width, sizeof(Eight::Part));
#endif
  return out;
}
KANSETSU_HD void store_eight(const Eight& a, double* at) {
#if defined(__AVX512F__)
  std::memcpy(at, &a, sizeof(a));
#else
  for (int i = 0; i < Eight::kParts; ++i) std::memcpy(at + i * Eight::Part::width, &a.part[i], sizeof(Eight::Part));
#endif
}

/// Numbers from here and there.
KANSETSU_HD Eight gather_eight(const double* from, const int* at) {
#if defined(__AVX512F__)
  return Eight(typename Eight::Vector{from[at[0]], from[at[1]], from[at[2]], from[at[3]], from[at[4]], from[at[5]],
                                      from[at[6]], from[at[7]]});
#else
  const double numbers[8] = {from[at[0]], from[at[1]], from[at[2]], from[at[3]],
                             from[at[4]], from[at[5]], from[at[6]], from[at[7]]};
  return load_eight(numbers);
#endif
}

KANSETSU_HD double total(const Eight& a) {
  const Pack<double, 2> t = two_of(a);
  return t[0] + t[1];
}

/// The first six of them to memory.
KANSETSU_HD void store_six(double* to, const Eight& a) {
#if defined(__AVX512F__)
  const Pack<double, 4> low = four_of<0>(a), high = four_of<4>(a);
  std::memcpy(to, &low, sizeof(low));
  std::memcpy(to + 4, &high, 2 * sizeof(double));
#else
  for (int i = 0; i < 6; ++i) to[i] = a[i];
#endif
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
