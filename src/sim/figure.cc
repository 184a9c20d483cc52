#include "sim/figure.h"

#include "kansetsu/model/configuration.h"

namespace kansetsu {

FigureData::FigureData(const Model& m, const FigureOptions& o)
    : model(m), options(o), mechanics(model), work(model), q(neutral(model)) {
  for (Eigen::VectorXd* x : {&v, &vdot, &torque, &external, &tau, &extra, &effort, &work_step, &spring_torque})
    *x = Eigen::VectorXd::Zero(model.nv());
  std::vector<int> position(size_t(model.nv()), -1);  // of each column
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange r = model.coordinates(JointId(j));
    for (int k = 0; r.nq == r.nv && k < r.nv; ++k) position[size_t(r.v + k)] = r.q + k;
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const CoordinateRange r = model.coordinates(JointId(j));
    if (r.nq == 4 && joint.swing_twist) balls.push_back({r.q, r.v, *joint.swing_twist});
    for (int k = 0; k < info(joint.type).nv; ++k) {
      DriveCoordinate drive;
      drive.joint = JointId(j);
      drive.index = k;
      const Model::Row& row = model.row(JointId(j), k);
      drive.terms = row.terms;
      drive.offset = row.offset;
      drive.dof = model.dof(JointId(j), k);
      bool vector = true;
      for (const auto& [column, ratio] : row.terms) vector = vector && position[size_t(column)] >= 0;
      for (const auto& [column, ratio] : row.terms) {
        if (vector) drive.positions.emplace_back(position[size_t(column)], ratio);
      }
      drives.push_back(std::move(drive));
    }
  }
}

void FigureData::begin_stages(int stages) {
  q0 = q, v0 = v;
  while (int(rate_q.size()) < stages) {
    rate_q.push_back(Eigen::VectorXd::Zero(model.nq()));
    rate_v.push_back(Eigen::VectorXd::Zero(model.nv()));
  }
}

}  // namespace kansetsu
