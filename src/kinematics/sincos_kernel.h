#pragma once

#include <cstring>
#include <type_traits>

#include "kansetsu/spatial/pack.h"
#include "kansetsu/spatial/sincos.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// sin and cos of n numbers: for plain doubles a register full at a time, with the same bits.
template <class T>
KANSETSU_HD void sincos_array(const T* angle, int n, T* s, T* c) {
  if constexpr (kHasPacks && std::is_floating_point_v<T>) {
    using Lanes = NativePack<T>;
    for (int i = 0; i < n; i += Lanes::width) {  // arrays are padded to whole cache lines
      Lanes x, sine, cosine;
      std::memcpy(&x, angle + i, sizeof(Lanes));
      sincos(x, sine, cosine);
      std::memcpy(s + i, &sine, sizeof(Lanes));
      std::memcpy(c + i, &cosine, sizeof(Lanes));
    }
  } else {
    int i = 0;
    if constexpr (requires { typename T::IntVector; }) {  // packs; other types have their own sincos
      constexpr int kTogether = sizeof(T) == 64 ? 4 : 3;  // AVX-512 has twice as many registers
      for (; i + kTogether <= n; i += kTogether) sincos_in_step<kTogether>(angle + i, s + i, c + i);
    }
    for (; i < n; ++i) {
      const T x = angle[i];  // the sines may overwrite the angles
      sincos(x, s[i], c[i]);
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
