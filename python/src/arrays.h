#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "bindings.h"
#include "kansetsu/batch/batch.h"
#include "kansetsu/spatial/spatial.h"

/// NumPy arrays in and out. Arguments with contiguous rows of doubles are read in place, others are copied; results are new arrays.
namespace kansetsu::python {

void import_numpy();

/// A new, uninitialised array. `data` is its memory.
template <class Real>
struct NewArray {
  Floats object;
  Real* data;
};
template <class Real = double>
NewArray<Real> new_array(std::span<const std::ptrdiff_t> shape);
template <class Real = double>
NewArray<Real> new_array(std::initializer_list<std::ptrdiff_t> shape) {
  return new_array<Real>(std::span(shape.begin(), shape.size()));
}
/// The caller's array for results: of exactly this shape and type, in C order, writeable.
template <class Real>
NewArray<Real> given_array(const char* function, nb::handle out, std::span<const std::ptrdiff_t> shape);
/// A view of memory that belongs to `owner`, which it keeps alive.
Floats view_array(double* data, std::initializer_list<std::ptrdiff_t> shape, nb::handle owner);

/// An argument as rows of `width` numbers.
template <class Real>
struct RowsArgument {
  nb::object keep;  ///< the owner of the numbers
  const Real* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< in numbers; 0: the same row for all
  std::ptrdiff_t count = -1;  ///< −1: one row, given as a vector

  bool one() const { return count < 0; }
  const Real* row(std::ptrdiff_t i) const { return data + i * stride; }
  operator batch::Rows<const Real>() const { return {data, stride}; }
};

/// The name of an argument in messages, and the meaning of each of its numbers.
struct Expected {
  const char* function = "";
  const char* name = "";
  std::string (*number_name)(const Model&, int index) = nullptr;
  const Model* model = nullptr;
  std::ptrdiff_t row = -1;  ///< of several

  std::string of_row() const { return row < 0 ? "" : " of row " + std::to_string(row); }
};

/// Reads (width,) or (N, width). Other number types are converted if that is exact; wrong shapes and types raise.
template <class Real>
RowsArgument<Real> read_rows(const Expected& expected, nb::handle value, std::ptrdiff_t width);
/// Reads (a, b) or (N, a, b), as rows of a·b numbers.
template <class Real>
RowsArgument<Real> read_blocks(const Expected& expected, nb::handle value, std::ptrdiff_t a, std::ptrdiff_t b);

/// Whether it is a tensor on a CUDA device, according to DLPack.
bool is_on_device(nb::handle value);

/// Whether it has rows of float32, which are computed in single precision.
bool is_float_rows(nb::handle value);

/// Raises unless all numbers of a row are finite; names the first that is not.
void require_finite(const Expected& expected, const double* data, std::ptrdiff_t width);

/// Exactly `count` finite numbers.
std::vector<double> read_numbers(const Expected& expected, nb::handle value, std::ptrdiff_t width);
/// Any number of finite numbers.
std::vector<double> read_numbers(const Expected& expected, nb::handle value);
Vec3<> read_vec3(const Expected& expected, nb::handle value);
/// (N, 3)
std::vector<Vec3<>> read_points(const Expected& expected, nb::handle value);
/// A 4×4 matrix, a position (3,), or a position and a quaternion x y z w (7,). None is the identity.
Transform<> read_pose(const Expected& expected, nb::handle value);
/// From the 16 numbers of a 4×4 matrix.
Transform<> read_matrix(const Expected& expected, const double* x);
/// 3×3, or a quaternion x y z w.
Mat3<> read_rotation(const Expected& expected, nb::handle value);

Floats to_array(const Vec3<>& v);
Floats to_array(const Mat3<>& R);
Floats to_array(const Transform<>& X);  ///< 4×4
Floats to_array(const Motion<>& V);
Floats to_array(const Force<>& F);
Floats to_array(std::span<const double> numbers);
Floats to_array(const Eigen::Ref<const Eigen::MatrixXd>& M);
/// Its transpose: frames in rows.
Floats to_rows(const Eigen::Ref<const Eigen::MatrixXd>& M);
Floats to_array(const std::vector<Vec3<>>& points);
Floats to_array(const std::vector<Force<>>& wrenches);
Floats to_array(const std::vector<Motion<>>& motions);
Bools to_bool_array(std::span<const std::uint8_t> values);

void put(const Vec3<>& v, double* out);
void put(const Transform<>& X, double* out);  ///< 12: R row by row, then p

/// An array of records. `dtype` is a NumPy data type whose size is that of the record.
Records record_array(nb::handle dtype, std::ptrdiff_t count, std::size_t size, const void* data);

}  // namespace kansetsu::python
