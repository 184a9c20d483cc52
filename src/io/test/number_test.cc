#include "io/number.h"

#include <doctest/doctest.h>

#include <array>
#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace kansetsu::io;

namespace {

std::string problem(std::string_view text, Infinity infinity = Infinity::kRefuse) {
  double x = 0;
  return parse_numbers(text, {&x, 1}, infinity).value_or("");
}

double number(std::string_view text, Infinity infinity = Infinity::kRefuse) {
  double x = 7;
  CHECK_MESSAGE(!parse_numbers(text, {&x, 1}, infinity), text);
  return x;
}

}  // namespace

TEST_CASE("numbers are read however they are written") {
  CHECK(number("1") == 1);
  CHECK(number("+1.5") == 1.5);
  CHECK(number(" \n\t-.5e1\r\n") == -5);
  CHECK(number("5.") == 5);
  CHECK(number("1E3") == 1000);
  CHECK(std::signbit(number("-0")));
}

TEST_CASE("numbers too small for a double are zero, too large ones an error") {
  CHECK(number("1e-400") == 0);
  CHECK(std::signbit(number("-1e-400")));
  CHECK(number("0." + std::string(400, '0') + "1") == 0);
  CHECK(number("1e-99999999999999999999") == 0);
  CHECK(number("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(problem("1e999") == "'1e999' is too large");
  CHECK(problem("1" + std::string(400, '0') + "e-5").find("too large") != std::string::npos);
  CHECK(problem("1e99999999999999999999").find("too large") != std::string::npos);
}

TEST_CASE("what is no number is named") {
  CHECK(problem("") == "expected 1 number, found 0");
  CHECK(problem("1 2") == "expected 1 number, found 2");
  CHECK(problem("1 }") == "'}' is not a number");
  CHECK(problem("1,5") == "'1,5' is not a number");
  CHECK(problem("0x10") == "'0x10' is not a number");
  CHECK(problem("1e") == "'1e' is not a number");
  CHECK(problem("+-1") == "'+-1' is not a number");
  CHECK(problem("nan") == "'nan' is not a number");
  CHECK(problem("nan", Infinity::kAllow) == "'nan' is not a number");
  CHECK(problem("inf") == "'inf' is not finite");
  CHECK(problem("-infinity") == "'-infinity' is not finite");
}

TEST_CASE("infinity is read where it is allowed") {
  CHECK(number("inf", Infinity::kAllow) == std::numeric_limits<double>::infinity());
  CHECK(number("-inf", Infinity::kAllow) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("vectors need the right number of numbers") {
  std::array<double, 3> v{};
  CHECK_FALSE(parse_numbers(" 1\n2\t3 ", v));
  CHECK(v == std::array<double, 3>{1, 2, 3});
  CHECK(parse_numbers("1 2", v).value() == "expected 3 numbers, found 2");
  CHECK(parse_numbers("1 2 3 4", v).value() == "expected 3 numbers, found 4");
}

TEST_CASE("numbers do not depend on the locale") {
  const char* known[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  for (const char* name : known) {
    if (!std::setlocale(LC_ALL, name)) continue;
    CHECK(number("1.5") == 1.5);
    CHECK(format_number(1.5) == "1.5");
  }
  std::setlocale(LC_ALL, "C");
}

TEST_CASE("any double survives being written and read") {
  std::mt19937_64 rng(20240801);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = rng();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    const double y = number(format_number(x));
    CHECK(std::memcmp(&x, &y, sizeof x) == 0);
  }
}
