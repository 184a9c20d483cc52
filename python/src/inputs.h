#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>

#include "arrays.h"
#include "errors.h"
#include "kansetsu/dynamics/dynamics.h"
#include "model_handle.h"

namespace kansetsu::python {

std::string position_name(const Model& model, int index);
std::string dof_name(const Model& model, int index);
/// Raises if a quaternion is zero, as in numpy.zeros(nq): no rotation, and every result would be nan.
void require_turns(const char* function, const char* name, const Model& model, const double* q);

/// The arrays that a function of a model is called with: all of one state, or rows that agree in number. Vectors beside
/// rows count for all of them.
template <class Real>
class Inputs {
 public:
  Inputs(const char* function, const Model& model) : function_(function), model_(model) {}

  RowsArgument<Real> q(nb::handle value, const char* name = "q") {
    const RowsArgument<Real> out = any_q(value, name);
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (out.one()) require_turns(function_, name, model_, out.data);
    }
    return out;
  }
  /// The same, and quaternions may be zero.
  RowsArgument<Real> any_q(nb::handle value, const char* name = "q") {
    return take({function_, name, position_name, &model_}, value, model_.nq());
  }
  /// nv numbers; None: zeros, where that is allowed.
  RowsArgument<Real> tangent(const char* name, nb::handle value, bool zeros = true) {
    if (zeros && value.is_none()) return zero_row();
    return take({function_, name, dof_name, &model_}, value, model_.nv());
  }
  /// 6 numbers per link; None: none.
  RowsArgument<Real> wrenches(nb::handle value) {
    if (value.is_none()) return {};
    return add(read_blocks<Real>({function_, "external", nullptr, &model_}, value, model_.link_count(), 6),
               {function_, "external"}, 6 * model_.link_count());
  }
  /// 10 numbers per link; None: the model's.
  RowsArgument<Real> inertias(nb::handle value) {
    if (value.is_none()) return {};
    return add(read_blocks<Real>({function_, "inertias", nullptr, &model_}, value, model_.link_count(), 10),
               {function_, "inertias"}, 10 * model_.link_count());
  }

  bool one() const { return count_ < 0; }
  std::ptrdiff_t count() const { return count_; }
  const char* function() const { return function_; }

  /// Where results go: an array of this shape, once per state; a new one, or `out`, which shares no memory with an argument.
  NewArray<Real> result(std::initializer_list<std::ptrdiff_t> shape, nb::handle out = nb::none()) const {
    std::array<std::ptrdiff_t, 4> all;
    std::size_t n = 0;
    if (!one()) all[n++] = count_;
    for (const std::ptrdiff_t size : shape) all[n++] = size;
    const std::span<const std::ptrdiff_t> whole(all.data(), n);
    if (out.is_none()) return new_array<Real>(whole);
    NewArray<Real> given = given_array<Real>(function_, out, whole);
    std::ptrdiff_t size = 1;
    for (const std::ptrdiff_t length : whole) size *= length;
    for (const Memory& m : read_) {
      if (std::less<>{}(m.begin, given.data + size) && std::less<>{}(given.data, m.end))
        raise_value(fmt::format("{}: out shares memory with {}", function_, m.name));
    }
    return given;
  }

  /// For functions that take one state at a time: job(i, out) for every state, `out` at its result of the size given.
  template <class Job>
  Floats each(std::initializer_list<std::ptrdiff_t> shape, Job&& job) const {
    NewArray<Real> out = result(shape);
    std::ptrdiff_t size = 1;
    for (const std::ptrdiff_t n : shape) size *= n;
    if (one()) {
      job(0, out.data);
    } else {
      nb::gil_scoped_release release;
      for (std::ptrdiff_t i = 0; i < count_; ++i) job(i, out.data + i * size);
    }
    return out.object;
  }

 private:
  RowsArgument<Real> take(const Expected& expected, nb::handle value, std::ptrdiff_t width) {
    return add(read_rows<Real>(expected, value, width), expected, width);
  }
  RowsArgument<Real> add(RowsArgument<Real> rows, const Expected& expected, std::ptrdiff_t width) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (rows.one()) require_finite(expected, rows.data, width);
    }
    const std::ptrdiff_t last = rows.one() ? 0 : (rows.count - 1) * rows.stride;
    const std::ptrdiff_t size = rows.count == 0 ? 0 : last + width;
    if (read_count_ < read_.size()) read_[read_count_++] = {expected.name, rows.data, rows.data + size};
    if (rows.one()) return rows;
    if (count_ >= 0 && rows.count != count_) {
      raise_value(
          fmt::format("{}: {} has {} rows, expected {} as the others", function_, expected.name, rows.count, count_));
    }
    count_ = rows.count;
    return rows;
  }
  RowsArgument<Real> zero_row() {
    if (zeros_.empty()) zeros_.assign(size_t(model_.nv()) + 1, Real(0));
    RowsArgument<Real> out;
    out.data = zeros_.data();
    return out;
  }

  const char* function_;
  const Model& model_;
  std::ptrdiff_t count_ = -1;
  std::vector<Real> zeros_;
  /// Where the arguments are.
  struct Memory {
    const char* name = "";
    const Real *begin = nullptr, *end = nullptr;
  };
  std::array<Memory, 5> read_;
  size_t read_count_ = 0;
};

/// job(double{}), or job(float{}) where the array holds rows of floats.
template <class Job>
auto by_type(nb::handle value, Job&& job) {
  return is_float_rows(value) ? job(float{}) : job(double{});
}

using ConstVectorMap = Eigen::Map<const Eigen::VectorXd>;
using VectorMap = Eigen::Map<Eigen::VectorXd>;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMatrixMap = Eigen::Map<RowMatrix>;

inline ConstVectorMap map(const double* data, std::ptrdiff_t size) { return {data, size}; }
inline VectorMap map(double* data, std::ptrdiff_t size) { return {data, size}; }

inline Floats vector(const Eigen::VectorXd& x) { return to_array(std::span(x.data(), size_t(x.size()))); }

/// Takes row i as the state.
inline const State& load(Scratch& s, const RowsArgument<double>& q, const RowsArgument<double>& v,
                         std::ptrdiff_t i = 0) {
  s.state.q = map(q.row(i), s.state.q.size());
  s.state.v = map(v.row(i), s.state.v.size());
  return s.state;
}

/// Wrenches of row i; null where there are none.
const ExternalForces* load(Scratch& s, const RowsArgument<double>& wrenches, std::ptrdiff_t i = 0);

/// Symmetric matrices are the same in rows and columns; others are turned.
void transpose_square(double* data, std::ptrdiff_t n);

}  // namespace kansetsu::python
