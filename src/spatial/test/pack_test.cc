#include "kansetsu/spatial/pack.h"

#include "spatial/test/support.h"

namespace kansetsu {
namespace {

template <class T, int W>
struct Case {
  using Scalar = T;
  using Packed = Pack<T, W>;
  static constexpr int width = W;
};

template <class P>
bool same_bits(P a, P b) {
  using Bits = std::conditional_t<sizeof(P) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

TEST_CASE_TEMPLATE("pack: every operation is the scalar one, lane by lane", C, Case<double, 2>, Case<double, 4>,
                   Case<double, 8>, Case<float, 4>, Case<float, 8>, Case<float, 16>) {
  using T = typename C::Scalar;
  using P = typename C::Packed;
  const unsigned seed = 3;
  CAPTURE(seed);
  test::Random random(seed);
  for (int round = 0; round < 100; ++round) {
    P a, b, c;
    for (int i = 0; i < C::width; ++i) {
      a.set(i, T(random.number()));
      b.set(i, T(random.number()));
      c.set(i, T(random.number()));
    }
    if (round == 0) b = a;  // equality in all lanes
    const P sum = a + b, difference = a - b, product = a * b, quotient = a / b, negative = -a, fused = madd(a, b, c);
    const P fused_minus = msub(a, b, c), root = sqrt(a * a), picked = select(a < b, a, c);
    const P both = select((a < b) & (b <= c), a, c), either = select((a > b) | !(b >= c), a, c),
            equal = select(a == b, a, c);
    P in_place = a;
    in_place += b;
    in_place *= c;
    in_place -= a;
    for (int i = 0; i < C::width; ++i) {
      const T x = a[i], y = b[i], z = c[i];
      REQUIRE(same_bits(sum[i], x + y));
      REQUIRE(same_bits(difference[i], x - y));
      REQUIRE(same_bits(product[i], x * y));
      REQUIRE(same_bits(quotient[i], x / y));
      REQUIRE(same_bits(negative[i], -x));
      REQUIRE(same_bits(fused[i], madd(x, y, z)));
      REQUIRE(same_bits(fused_minus[i], msub(x, y, z)));
      REQUIRE(same_bits(root[i], sqrt(T(x * x))));
      REQUIRE(same_bits(picked[i], select(x < y, x, z)));
      REQUIRE(same_bits(both[i], x < y && y <= z ? x : z));
      REQUIRE(same_bits(either[i], x > y || !(y >= z) ? x : z));
      REQUIRE(same_bits(equal[i], x == y ? x : z));
      REQUIRE(same_bits(in_place[i], T((x + y) * z) - x));
    }
  }
}

TEST_CASE("pack: a broadcast fills all lanes and keeps the sign of zero") {
  const Pack<double, 4> a(1.5), zero(-0.0);
  for (int i = 0; i < 4; ++i) {
    CHECK(a[i] == 1.5);
    CHECK(std::signbit(double(zero[i])));
  }
}

TEST_CASE("pack: a comparison with NaN is false, and select takes the other value") {
  Pack<double, 2> a(1.0);
  a.set(1, std::nan(""));
  const Pack<double, 2> r = select(a < Pack<double, 2>(2.0), Pack<double, 2>(7.0), Pack<double, 2>(8.0));
  CHECK(r[0] == 7);
  CHECK(r[1] == 8);
}

TEST_CASE("madd: one rounding exactly where the build has a hardware fma") {
  const double e = 0x1p-30;
  const double rounding = madd(1 + e, 1 - e, -1.0);  // −2⁻⁶⁰ if fused, 0 if the product is rounded to 1
#if defined(__FMA__)
  CHECK(rounding == -0x1p-60);
#else
  CHECK(rounding == 0);
#endif
}

static_assert(std::is_same_v<scalar_t<double>, double>);
static_assert(std::is_same_v<scalar_t<Pack<float, 8>>, float>);
static_assert(std::is_trivially_copyable_v<Pack<double, 8>> && sizeof(Pack<double, 8>) == 64);
static_assert(sizeof(NativePack<double>) == kRegisterBytes && sizeof(NativePack<float>) == kRegisterBytes);

}  // namespace
}  // namespace kansetsu
