#include "inputs.h"

#include <utility>

#include "kansetsu/io/recording.h"
#include "kansetsu/spatial/is_rotation.h"

namespace kansetsu::python {

std::string position_name(const Model& model, int index) { return io::position_names(model)[size_t(index)]; }
std::string dof_name(const Model& model, int index) { return model.dof_names()[size_t(index)]; }

void require_turns(const Expected& e, const Model& model, const double* q) {
  int left = model.nq() - model.nv();  // one for each quaternion
  const auto check = [&](const CoordinateRange& r, const std::string& of) {
    if (r.nq == r.nv) return;
    --left;
    const int i = r.nq == 7 ? r.q + 3 : r.q;
    if (is_rotation(Quaternion<>{q[i], q[i + 1], q[i + 2], q[i + 3]})) return;
    const bool zero = q[i] == 0 && q[i + 1] == 0 && q[i + 2] == 0 && q[i + 3] == 0;
    raise_value(fmt::format("{}: {}[{}:{}]{}, the quaternion of {}, is {}; model.q0 has unit quaternions", e.function,
                            e.name, i, i + 4, e.of_row(), of,
                            zero ? "zero" : "so short or long that no number holds the square of its length"));
  };
  if (left > 0) check(model.base_coordinates(), "the base");
  for (int j = 0; left > 0 && j < model.joint_count(); ++j)
    check(model.coordinates(JointId(j)), fmt::format("'{}'", model.joint(JointId(j)).name));
}

const ExternalForces* load(Scratch& s, const RowsArgument<double>& wrenches, std::ptrdiff_t i) {
  if (!wrenches.data) return nullptr;
  const double* w = wrenches.row(i);
  const size_t links = s.external.wrenches().size();
  for (size_t k = 0; k < links; ++k, w += 6) s.external[LinkId(int(k))] = {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}};
  return &s.external;
}

void transpose_square(double* data, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) std::swap(data[i * n + j], data[j * n + i]);
  }
}

}  // namespace kansetsu::python
