#include "arrays.h"

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <fmt/format.h>
#include <numpy/arrayobject.h>

#include <cmath>
#include <cstring>

#include "errors.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::python {
namespace {

template <class Real>
constexpr int kType = sizeof(Real) == sizeof(double) ? NPY_DOUBLE : NPY_FLOAT;

PyArrayObject* as_array(nb::handle h) { return reinterpret_cast<PyArrayObject*>(h.ptr()); }

nb::object checked(PyObject* array) {
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

std::string shape_text(PyArrayObject* a) {
  std::string text = "(";
  const int ndim = PyArray_NDIM(a);
  for (int i = 0; i < ndim; ++i) text += fmt::format("{}{}", i ? ", " : "", PyArray_DIM(a, i));
  return text + (ndim == 1 ? ",)" : ")");
}

/// Numbers of any type that converts to double.
bool is_number(int type) {
  return PyTypeNum_ISINTEGER(type) || type == NPY_BOOL || type == NPY_HALF || type == NPY_FLOAT || type == NPY_DOUBLE;
}

/// As an array of Real in C order. Accepts lists of numbers; refuses texts, objects and complex numbers.
template <class Real>
nb::object converted(const Expected& e, nb::handle value) {
  nb::object any;
  if (PyArray_Check(value.ptr())) {
    any = nb::borrow(value);
  } else {
    PyObject* made = value.is_none() ? nullptr : PyArray_FROM_O(value.ptr());
    if (made && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(made)) == NPY_OBJECT &&
        nb::hasattr(value, "__dlpack__")) {
      Py_DECREF(made);  // a tensor that NumPy reads by DLPack only
      made = nb::module_::import_("numpy").attr("from_dlpack")(value).release().ptr();
    }
    if (!made) {
      PyErr_Clear();
      raise_type(fmt::format("{}: {} is a '{}', expected an array of numbers", e.function, e.name,
                             nb::type_name(value.type()).c_str()));
    }
    any = nb::steal(made);
  }
  PyArrayObject* a = as_array(any);
  if (!is_number(PyArray_TYPE(a)) && PyArray_SIZE(a) > 0) {
    const nb::object dtype = any.attr("dtype");
    raise_type(fmt::format("{}: {} has dtype {}, expected real numbers (float64)", e.function, e.name,
                           nb::str(dtype).c_str()));
  }
  return checked(PyArray_FromAny(
      any.ptr(), PyArray_DescrFromType(kType<Real>), 0, 0,
      NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST, nullptr));
}

/// Whether its rows can be read in place.
template <class Real>
bool is_ready(nb::handle value) {
  if (!PyArray_Check(value.ptr())) return false;
  PyArrayObject* a = as_array(value);
  if (PyArray_TYPE(a) != kType<Real> || !PyArray_CHKFLAGS(a, NPY_ARRAY_ALIGNED) ||
      !PyArray_ISNBO(PyArray_DESCR(a)->byteorder))
    return false;
  const int ndim = PyArray_NDIM(a);
  if (PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS)) return true;
  if (ndim != 2 || PyArray_DIM(a, 0) < 2) return false;
  const npy_intp row = PyArray_STRIDE(a, 0), step = PyArray_STRIDE(a, 1);
  return (step == npy_intp(sizeof(Real)) || PyArray_DIM(a, 1) == 1) && row % npy_intp(sizeof(Real)) == 0 &&
         row >= PyArray_DIM(a, 1) * npy_intp(sizeof(Real));
}

/// With one dimension more than a row has, the first one counts rows.
template <class Real>
RowsArgument<Real> read(const Expected& e, nb::handle value, std::span<const std::ptrdiff_t> row_shape) {
  RowsArgument<Real> out;
  out.keep = is_ready<Real>(value) ? nb::borrow(value) : converted<Real>(e, value);
  PyArrayObject* a = as_array(out.keep);
  const int row_ndim = int(row_shape.size()), ndim = PyArray_NDIM(a);
  bool fits = ndim == row_ndim || ndim == row_ndim + 1;
  for (int i = 0; fits && i < row_ndim; ++i) fits = PyArray_DIM(a, ndim - row_ndim + i) == row_shape[size_t(i)];
  if (!fits) {
    std::string row;
    for (const std::ptrdiff_t n : row_shape) row += fmt::format("{}{}", row.empty() ? "" : ", ", n);
    raise_value(fmt::format("{}: {} has shape {}, expected ({}{}) or (N, {}){}", e.function, e.name, shape_text(a), row,
                            row_ndim == 1 ? "," : "", row, e.model ? " for model '" + e.model->name() + "'" : ""));
  }
  out.data = static_cast<const Real*>(PyArray_DATA(a));
  std::ptrdiff_t width = 1;
  for (const std::ptrdiff_t n : row_shape) width *= n;
  if (ndim > row_ndim) {
    out.count = PyArray_DIM(a, 0);
    out.stride = out.count > 1 ? PyArray_STRIDE(a, 0) / std::ptrdiff_t(sizeof(Real)) : width;
  }
  return out;
}

Floats copy_of(const double* data, std::initializer_list<std::ptrdiff_t> shape) {
  NewArray<double> out = new_array(shape);
  std::ptrdiff_t size = 1;
  for (const std::ptrdiff_t n : shape) size *= n;
  if (size > 0) std::memcpy(out.data, data, size_t(size) * sizeof(double));
  return out.object;
}

template <class Spatial>
Floats spatial_rows(const std::vector<Spatial>& rows) {
  static_assert(sizeof(Spatial) == 6 * sizeof(double));
  return copy_of(reinterpret_cast<const double*>(rows.data()), {std::ptrdiff_t(rows.size()), 6});
}

void require_unit(const Expected& e, const Quaternion<>& q) {
  const double norm = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (std::abs(norm - 1) > kUnitQuaternion)
    raise_value(
        fmt::format("{}: the quaternion (x, y, z, w) of {} has length {:.9g}, expected 1", e.function, e.name, norm));
}

void require_rotation(const Expected& e, const Mat3<>& R) {
  const double errors[] = {dot(R.x, R.x) - 1,
                           dot(R.y, R.y) - 1,
                           dot(R.z, R.z) - 1,
                           dot(R.x, R.y),
                           dot(R.y, R.z),
                           dot(R.z, R.x),
                           dot(cross(R.x, R.y), R.z) - 1};
  for (const double error : errors) {
    if (!(std::abs(error) <= kUnitQuaternion))
      raise_value(fmt::format("{}: {}{} is not a rotation: its rows are not orthonormal and right-handed", e.function,
                              e.name, e.of_row()));
  }
}

}  // namespace

void import_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

template <class Real>
NewArray<Real> new_array(std::span<const std::ptrdiff_t> shape) {
  static_assert(sizeof(npy_intp) == sizeof(std::ptrdiff_t));
  nb::object array =
      checked(PyArray_SimpleNew(int(shape.size()), reinterpret_cast<const npy_intp*>(shape.data()), kType<Real>));
  Real* data = static_cast<Real*>(PyArray_DATA(as_array(array)));
  return {std::move(array), data};
}
template NewArray<double> new_array<double>(std::span<const std::ptrdiff_t>);
template NewArray<float> new_array<float>(std::span<const std::ptrdiff_t>);

template <class Real>
NewArray<Real> given_array(const char* function, nb::handle out, std::span<const std::ptrdiff_t> shape) {
  if (!PyArray_Check(out.ptr())) {
    raise_type(
        fmt::format("{}: out is a '{}', expected an array of NumPy", function, nb::type_name(out.type()).c_str()));
  }
  PyArrayObject* a = as_array(out);
  bool fits = PyArray_NDIM(a) == int(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = PyArray_DIM(a, int(i)) == shape[i];
  if (!fits || PyArray_TYPE(a) != kType<Real>) {
    const nb::object dtype = out.attr("dtype");
    std::string wanted;
    for (const std::ptrdiff_t n : shape) wanted += fmt::format("{}{}", wanted.empty() ? "" : ", ", n);
    raise_value(fmt::format("{}: out has shape {} and dtype {}, expected ({}{}) and {}", function, shape_text(a),
                            nb::str(dtype).c_str(), wanted, shape.size() == 1 ? "," : "",
                            sizeof(Real) == sizeof(double) ? "float64" : "float32"));
  }
  if (!PyArray_CHKFLAGS(a, NPY_ARRAY_CARRAY) || !PyArray_ISNBO(PyArray_DESCR(a)->byteorder))
    raise_value(fmt::format("{}: out is not writeable, aligned and in C order", function));
  return {nb::object(nb::borrow(out)), static_cast<Real*>(PyArray_DATA(a))};
}
template NewArray<double> given_array<double>(const char*, nb::handle, std::span<const std::ptrdiff_t>);
template NewArray<float> given_array<float>(const char*, nb::handle, std::span<const std::ptrdiff_t>);

Floats view_array(double* data, std::initializer_list<std::ptrdiff_t> shape, nb::handle owner) {
  nb::object array = checked(
      PyArray_SimpleNewFromData(int(shape.size()), reinterpret_cast<const npy_intp*>(shape.begin()), NPY_DOUBLE, data));
  if (PyArray_SetBaseObject(as_array(array), nb::borrow(owner).release().ptr()) < 0) throw nb::python_error();
  return array;
}

template <class Real>
RowsArgument<Real> read_rows(const Expected& expected, nb::handle value, std::ptrdiff_t width) {
  return read<Real>(expected, value, std::span(&width, 1));
}
template RowsArgument<double> read_rows(const Expected&, nb::handle, std::ptrdiff_t);
template RowsArgument<float> read_rows(const Expected&, nb::handle, std::ptrdiff_t);

template <class Real>
RowsArgument<Real> read_blocks(const Expected& expected, nb::handle value, std::ptrdiff_t a, std::ptrdiff_t b) {
  const std::ptrdiff_t shape[] = {a, b};
  return read<Real>(expected, value, shape);
}
template RowsArgument<double> read_blocks(const Expected&, nb::handle, std::ptrdiff_t, std::ptrdiff_t);
template RowsArgument<float> read_blocks(const Expected&, nb::handle, std::ptrdiff_t, std::ptrdiff_t);

bool is_on_device(nb::handle value) {
  if (PyArray_Check(value.ptr()) || nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) return false;
  const nb::object asked = nb::getattr(value, "__dlpack_device__", nb::none());
  if (asked.is_none()) return false;
  constexpr int kCuda = 2;  // DLPack's number
  return nb::cast<std::pair<int, int>>(asked()).first == kCuda;
}

bool is_float_rows(nb::handle value) {
  return PyArray_Check(value.ptr()) && PyArray_TYPE(as_array(value)) == NPY_FLOAT && PyArray_NDIM(as_array(value)) > 1;
}

void require_finite(const Expected& e, const double* data, std::ptrdiff_t width) {
  if ((Eigen::Map<const Eigen::ArrayXd>(data, width) * 0).sum() == 0) [[likely]]  // nan if one is not finite
    return;
  for (std::ptrdiff_t i = 0; i < width; ++i) {
    if (std::isfinite(data[i])) continue;
    const std::string of = e.number_name && e.model ? " (" + e.number_name(*e.model, int(i)) + ")" : "";
    raise_value(
        fmt::format("{}: {}[{}]{}{} is {}, expected a finite number", e.function, e.name, i, of, e.of_row(), data[i]));
  }
}

std::vector<double> read_numbers(const Expected& e, nb::handle value) {
  const nb::object array = converted<double>(e, value);
  PyArrayObject* a = as_array(array);
  const auto* data = static_cast<const double*>(PyArray_DATA(a));
  if (PyArray_NDIM(a) != 1)
    raise_value(fmt::format("{}: {} has shape {}, expected a vector", e.function, e.name, shape_text(a)));
  std::vector<double> out(data, data + PyArray_SIZE(a));
  require_finite(e, out.data(), std::ptrdiff_t(out.size()));
  return out;
}

std::vector<double> read_numbers(const Expected& e, nb::handle value, std::ptrdiff_t width) {
  std::vector<double> out = read_numbers(e, value);
  if (std::ptrdiff_t(out.size()) != width)
    raise_value(fmt::format("{}: {} has shape ({},), expected ({},)", e.function, e.name, out.size(), width));
  return out;
}

Vec3<> read_vec3(const Expected& e, nb::handle value) {
  const std::vector<double> v = read_numbers(e, value, 3);
  return {v[0], v[1], v[2]};
}

std::vector<Vec3<>> read_points(const Expected& e, nb::handle value) {
  const RowsArgument<double> rows = read_rows<double>(e, value, 3);
  std::vector<Vec3<>> out;
  for (std::ptrdiff_t i = 0; i < (rows.one() ? 1 : rows.count); ++i) {
    const double* p = rows.row(i);
    require_finite(e, p, 3);
    out.push_back({p[0], p[1], p[2]});
  }
  return out;
}

Transform<> read_pose(const Expected& e, nb::handle value) {
  Transform<> X;
  if (value.is_none()) return X;
  const nb::object array = converted<double>(e, value);
  PyArrayObject* a = as_array(array);
  const auto* x = static_cast<const double*>(PyArray_DATA(a));
  const int ndim = PyArray_NDIM(a);
  const bool is_matrix = ndim == 2 && PyArray_DIM(a, 0) == 4 && PyArray_DIM(a, 1) == 4;
  const bool is_vector = ndim == 1 && (PyArray_DIM(a, 0) == 3 || PyArray_DIM(a, 0) == 7);
  if (!is_matrix && !is_vector) {
    raise_value(fmt::format(
        "{}: {} has shape {}, expected a pose: (4, 4), a position (3,), or position and quaternion x y z w (7,)",
        e.function, e.name, shape_text(a)));
  }
  if (is_matrix) return read_matrix(e, x);
  require_finite(e, x, PyArray_SIZE(a));
  X.p = {x[0], x[1], x[2]};
  if (PyArray_DIM(a, 0) == 3) return X;
  const Quaternion<> q{x[3], x[4], x[5], x[6]};
  require_unit(e, q);
  X.R = to_mat3(normalised(q));
  return X;
}

Transform<> read_matrix(const Expected& e, const double* x) {
  require_finite(e, x, 16);
  Transform<> X;
  X.R = {{x[0], x[1], x[2]}, {x[4], x[5], x[6]}, {x[8], x[9], x[10]}};
  X.p = {x[3], x[7], x[11]};
  require_rotation(e, X.R);
  if (x[12] != 0 || x[13] != 0 || x[14] != 0 || x[15] != 1)
    raise_value(fmt::format("{}: the last row of {}{} is not 0 0 0 1", e.function, e.name, e.of_row()));
  return X;
}

Mat3<> read_rotation(const Expected& e, nb::handle value) {
  const nb::object array = converted<double>(e, value);
  PyArrayObject* a = as_array(array);
  const auto* x = static_cast<const double*>(PyArray_DATA(a));
  require_finite(e, x, PyArray_SIZE(a));
  if (PyArray_NDIM(a) == 1 && PyArray_DIM(a, 0) == 4) {
    const Quaternion<> q{x[0], x[1], x[2], x[3]};
    require_unit(e, q);
    return to_mat3(normalised(q));
  }
  if (PyArray_NDIM(a) != 2 || PyArray_DIM(a, 0) != 3 || PyArray_DIM(a, 1) != 3) {
    raise_value(fmt::format("{}: {} has shape {}, expected a rotation: (3, 3), or a quaternion x y z w (4,)",
                            e.function, e.name, shape_text(a)));
  }
  const Mat3<> R{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]}};
  require_rotation(e, R);
  return R;
}

Floats to_array(const Vec3<>& v) { return copy_of(&v.x, {3}); }
Floats to_array(const Mat3<>& R) { return copy_of(&R.x.x, {3, 3}); }
Floats to_array(const Transform<>& X) {
  const Mat3<>& R = X.R;
  const double m[] = {R.x.x, R.x.y, R.x.z, X.p.x, R.y.x, R.y.y, R.y.z, X.p.y, R.z.x, R.z.y, R.z.z, X.p.z, 0, 0, 0, 1};
  return copy_of(m, {4, 4});
}
Floats to_array(const Motion<>& V) { return copy_of(&V.w.x, {6}); }
Floats to_array(const Force<>& F) { return copy_of(&F.t.x, {6}); }
Floats to_array(std::span<const double> x) { return copy_of(x.data(), {std::ptrdiff_t(x.size())}); }
Floats to_array(const Eigen::Ref<const Eigen::MatrixXd>& M) {
  NewArray<double> out = new_array({M.rows(), M.cols()});
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out.data, M.rows(), M.cols()) = M;
  return out.object;
}
Floats to_rows(const Eigen::Ref<const Eigen::MatrixXd>& M) {
  NewArray<double> out = new_array({M.cols(), M.rows()});
  Eigen::Map<Eigen::MatrixXd>(out.data, M.rows(), M.cols()) = M;
  return out.object;
}
Floats to_array(const std::vector<Vec3<>>& p) {
  return copy_of(p.empty() ? nullptr : &p[0].x, {std::ptrdiff_t(p.size()), 3});
}
Floats to_array(const std::vector<Force<>>& F) { return spatial_rows(F); }
Floats to_array(const std::vector<Motion<>>& V) { return spatial_rows(V); }
Bools to_bool_array(std::span<const std::uint8_t> values) {
  const npy_intp n = npy_intp(values.size());
  nb::object out = checked(PyArray_SimpleNew(1, &n, NPY_BOOL));
  auto* data = static_cast<npy_bool*>(PyArray_DATA(as_array(out)));
  for (size_t i = 0; i < values.size(); ++i) data[i] = values[i] != 0;
  return out;
}

void put(const Vec3<>& v, double* out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }
void put(const Transform<>& X, double* out) {
  put(X.R.x, out), put(X.R.y, out + 3), put(X.R.z, out + 6), put(X.p, out + 9);
}

Records record_array(nb::handle dtype, std::ptrdiff_t count, std::size_t size, const void* data) {
  PyArray_Descr* descr = nullptr;
  if (!PyArray_DescrConverter(dtype.ptr(), &descr)) throw nb::python_error();
  const npy_intp shape = count;
  nb::object out = checked(PyArray_NewFromDescr(&PyArray_Type, descr, 1, &shape, nullptr, nullptr, 0, nullptr));
  if (std::size_t(PyArray_ITEMSIZE(as_array(out))) != size) throw Error("record_array: the data type has another size");
  if (count > 0) std::memcpy(PyArray_DATA(as_array(out)), data, size * size_t(count));
  return out;
}

}  // namespace kansetsu::python
