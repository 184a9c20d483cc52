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
/// Raises if a quaternion is zero, as in numpy.zeros(nq): every result would be nan.
void require_turns(const Expected& expected, const Model& model, const double* q);

/// The array arguments of a function of a model: one state, or equal numbers of rows. A vector given with rows applies to
/// every row.
template <class Real>
class Inputs {
 public:
  Inputs(const char* function, const Model& model) : function_(function), model_(model) {}

  RowsArgument<Real> q(nb::handle value, const char* name = "q") {
    RowsArgument<Real> out = any_q(value, name);
    arguments_[count_of_arguments_ - 1].turns = true;
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (out.one()) require_turns({function_, name}, model_, out.data);
    }
    return out;
  }
  /// The same, but quaternions may be zero.
  RowsArgument<Real> any_q(nb::handle value, const char* name = "q") {
    return take({function_, name, position_name, &model_}, value, model_.nq());
  }
  /// nv numbers; None: zeros, if that is allowed.
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

  /// The array of results, of this shape for each state: a new one, or `out`, which must not share memory with an argument.
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
    for (size_t i = 0; i < count_of_arguments_; ++i) {
      const Argument& a = arguments_[i];
      if (std::less<>{}(a.data, given.data + size) && std::less<>{}(given.data, a.end()))
        raise_value(fmt::format("{}: out shares memory with {}", function_, a.name));
    }
    return given;
  }

  /// Raises unless all numbers of rows are finite and their quaternions rotations. For functions without a batch,
  /// which looks itself.
  void check_rows() const {
    for (size_t k = 0; k < count_of_arguments_; ++k) {
      const Argument& a = arguments_[k];
      for (std::ptrdiff_t i = 0; i < a.count; ++i) {
        const Expected expected{function_, a.name, a.number_name, &model_, i};
        require_finite(expected, a.data + i * a.stride, a.width);
        if (a.turns) require_turns(expected, model_, a.data + i * a.stride);
      }
    }
  }

  /// For functions that take one state at a time: job(i, out) for every state, `out` at its result of the size given.
  template <class Job>
  Floats each(std::initializer_list<std::ptrdiff_t> shape, Job&& job) const {
    check_rows();
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
    arguments_[count_of_arguments_++] = {expected.name, expected.number_name, rows.data, rows.stride, rows.count, width,
                                         false};
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
  /// Names and places of the arguments. Not initialised before use: calls for one state are short.
  struct Argument {
    const char* name;
    std::string (*number_name)(const Model&, int index);
    const Real* data;
    std::ptrdiff_t stride, count, width;
    bool turns;  ///< contains quaternions

    const Real* end() const {
      if (count == 0) return data;
      return data + (count < 0 ? 0 : (count - 1) * stride) + width;
    }
  };
  std::array<Argument, 5> arguments_;
  size_t count_of_arguments_ = 0;
};

/// job(double{}), or job(float{}) if the array has rows of float32.
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

/// Wrenches of row i; null if there are none.
const ExternalForces* load(Scratch& s, const RowsArgument<double>& wrenches, std::ptrdiff_t i = 0);

/// To row-major order; symmetric matrices need no transposition.
void transpose_square(double* data, std::ptrdiff_t n);

}  // namespace kansetsu::python
