#pragma once

#include <optional>
#include <string>
#include <vector>

/// Functions by which parts of a model follow a coordinate: joints of a file's own kind, points of tendons. docs/formats/osim.md.
namespace kansetsu {

/// A number as a function of another.
struct CoordinateFunction {
  enum class Kind { kPolynomial, kSpline, kSegments, kSine };
  Kind kind = Kind::kPolynomial;
  std::vector<double> coefficients{};  ///< of powers, the highest first; of a sine a, ω, φ, c: a·sin(ω·x + φ) + c
  std::vector<double> x{}, y{};        ///< points of a spline, or of straight segments; beyond them straight on
  double scale = 1;

  static CoordinateFunction constant(double value) { return {.coefficients = {value}}; }
  static CoordinateFunction linear(double slope = 1, double at_zero = 0) { return {.coefficients = {slope, at_zero}}; }
  bool is_constant() const { return kind == Kind::kPolynomial && coefficients.size() <= 1; }
  bool is_identity() const;
  double operator()(double at) const;
  double derivative(double at) const;

  /// Finds the pieces of a spline; called once when its points are known. The cubic through the first four points, and through the last
  /// four, gives the third derivative at the ends [Forsythe, Malcolm and Moler 1977, ch. 4]. A reason if the points are no spline.
  std::optional<std::string> prepare();
  std::vector<double> slope{}, square{}, cube{};  ///< as prepare() fills them

  friend bool operator==(const CoordinateFunction&, const CoordinateFunction&) = default;
};

}  // namespace kansetsu
