#include "kansetsu/model/joint_values.h"

#include "kansetsu/base/error.h"
#include "model/joint_motion.h"

namespace kansetsu {

std::vector<int> position_columns(const Model& model) {
  std::vector<int> position(std::size_t(model.nv()), -1);
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange range = model.coordinates(JointId(j));
    const bool whole = has_quaternion(model.joint(JointId(j)).type);
    for (int k = 0; k < range.nv; ++k) position[std::size_t(range.v + k)] = whole ? range.q : range.q + k;
  }
  return position;
}

std::vector<std::vector<double>> joint_values(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q) {
  check_size("joint_values", "q", q.size(), model.nq());
  const int n = model.joint_count();
  const std::vector<int> position = position_columns(model);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) {
    const JointId id(j);
    const JointTypeInfo& type = info(model.joint(id).type);
    std::vector<double>& own = values[std::size_t(j)];
    if (has_quaternion(type.type)) {  // its own quaternion, or that of the joint it follows one to one
      const int first = position[std::size_t(model.row(id, 0).terms.at(0).first)];
      own.assign(q.data() + first, q.data() + first + type.nq);
      continue;
    }
    for (int k = 0; k < type.nv; ++k) {
      const Model::Row& row = model.row(id, k);
      double x = row.offset;
      for (const auto& [column, ratio] : row.terms) x += ratio * q[position[std::size_t(column)]];
      own.push_back(x);
    }
  }
  return values;
}

}  // namespace kansetsu
