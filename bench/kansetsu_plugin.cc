#include <map>
#include <memory>
#include <string>

#include "kansetsu/base/cpu.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu_models.h"

/// Kansetsu through its public functions.
namespace kansetsu::bench {
namespace {

std::string last_error;

/// Models by name with their exported form, made once and kept.
struct Entry {
  Model model;
  ExportedModel exported;
};
Entry* find_entry(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Entry>> entries;
  auto at = entries.find(name);
  if (at == entries.end()) {
    auto model = find_model(name);
    if (!model) return nullptr;
    at = entries.emplace(name, std::make_unique<Entry>(Entry{*model, {}})).first;
    export_model(*model, name, at->second->exported);
  }
  return at->second.get();
}

const ModelData* load(const char* name) try {
  Entry* entry = find_entry(name);
  return entry ? &entry->exported.data : nullptr;
} catch (const std::exception& e) {
  last_error = e.what();
  return nullptr;
}

struct Instance {
  const Entry& entry;
  const Model& model;
  Workspace work;
  LinkPoses poses;
  Eigen::Matrix<double, 6, Eigen::Dynamic> axes;
  Eigen::VectorXd tau_out;
  Eigen::MatrixXd M;
  SparseMassMatrix sparse;
  AbaResult forward;
  RneaDerivatives inverse_by;
  AbaDerivatives forward_by;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> vdot, tau;
  bool geared;

  Instance(const Entry& e, const StateData& data)
      : entry(e),
        model(e.model),
        work(model),
        poses(model),
        axes(6, model.nv()),
        tau_out(model.nv()),
        M(model.nv(), model.nv()),
        sparse(model),
        forward(model),
        inverse_by(model),
        forward_by(model),
        geared(!model.description().couplings.empty()) {
    const auto vectors = [&](const double* at, int n, int i) {
      return Eigen::Map<const Eigen::VectorXd>(at + i * n, n);
    };
    for (int i = 0; i < data.count; ++i) {
      states.emplace_back(model);
      states.back().q = vectors(data.q, model.nq(), i);
      states.back().v = vectors(data.v, model.nv(), i);
      vdot.push_back(vectors(data.a, model.nv(), i));
      tau.push_back(vectors(data.tau, model.nv(), i));
    }
  }
};

void* create(const ModelData* model, const StateData* states) try {
  const Entry* entry = find_entry(model->name);
  return entry ? new Instance(*entry, *states) : nullptr;
} catch (const std::exception& e) {
  last_error = e.what();
  return nullptr;
}

/// The axis of a coordinate that moves several joints is no single column: no Jacobians of models with gears.
const char* variant_name(void* instance, int algorithm, int variant) {
  static const char* const crba_variants[] = {"dense", "sparse", nullptr};
  if (algorithm == kCrba) return crba_variants[variant];
  if (algorithm == kJacobians && static_cast<const Instance*>(instance)->geared) return nullptr;
  return variant == 0 ? "" : nullptr;
}

double run(void* instance, int algorithm, int variant, int state) {
  Instance& in = *static_cast<Instance*>(instance);
  const size_t i = size_t(state);
  const State& s = in.states[i];
  switch (algorithm) {
    case kFk:
      fk(in.model, s.q, in.work, in.poses);
      return in.poses.X_WL.back().p.x;
    case kJacobians:
      joint_axes(in.model, s.q, in.work, in.axes);
      return in.axes(5, in.axes.cols() - 1);
    case kRnea:
      rnea(in.model, s, in.vdot[i], in.work, in.tau_out);
      return in.tau_out[0];
    case kCrba:
      if (variant == 0) {
        crba(in.model, s.q, in.work, in.M);
        return in.M(0, 0);
      }
      crba(in.model, s.q, in.work, in.sparse);
      return in.sparse.value[0];
    case kAba:
      aba(in.model, s, in.tau[i], in.work, in.forward);
      return in.forward.vdot[0];
    case kMinverse:
      mass_matrix_inverse(in.model, s.q, in.work, in.M);
      return in.M(0, 0);
    case kRneaDerivatives:
      rnea_derivatives(in.model, s, in.vdot[i], in.work, in.inverse_by);
      return in.inverse_by.dq(0, 0);
    case kAbaDerivatives:
      aba_derivatives(in.model, s, in.tau[i], in.work, in.forward_by);
      return in.forward_by.dq(0, 0);
  }
  return 0;
}

double* put(const Eigen::Ref<const Eigen::MatrixXd>& matrix, double* out) {
  Eigen::Map<Eigen::MatrixXd>(out, matrix.rows(), matrix.cols()) = matrix;
  return out + matrix.size();
}

void put_poses(const Instance& in, double* out) {
  const ExportedModel& exported = in.entry.exported;
  for (size_t b = 0; b < exported.bodies.size(); ++b) {
    const Transform<> X = in.poses[exported.links[b]] * exported.X_LB[b];
    for (const Vec3<>& row : {X.R.x, X.R.y, X.R.z, X.p}) *out++ = row.x, *out++ = row.y, *out++ = row.z;
  }
}

Eigen::MatrixXd to_dense(const SparseMassMatrix& sparse) {
  const Eigen::Index n = Eigen::Index(sparse.row_start.size()) - 1;
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index r = 0; r < n; ++r) {
    for (int k = sparse.row_start[size_t(r)]; k < sparse.row_start[size_t(r) + 1]; ++k) {
      M(r, sparse.column[size_t(k)]) = M(sparse.column[size_t(k)], r) = sparse.value[size_t(k)];
    }
  }
  return M;
}

void result(void* instance, int algorithm, int variant, int state, double* out) {
  run(instance, algorithm, variant, state);
  Instance& in = *static_cast<Instance*>(instance);
  switch (algorithm) {
    case kFk:
      put_poses(in, out);
      break;
    case kJacobians:
      put(in.axes, out);
      break;
    case kRnea:
      put(in.tau_out, out);
      break;
    case kCrba:
      put(variant == 0 ? in.M : to_dense(in.sparse), out);
      break;
    case kAba:
      put(in.forward.vdot, out);
      break;
    case kMinverse:
      put(in.M, out);
      break;
    case kRneaDerivatives:
      put(in.inverse_by.da, put(in.inverse_by.dv, put(in.inverse_by.dq, out)));
      break;
    case kAbaDerivatives:
      put(in.forward_by.dtau, put(in.forward_by.dv, put(in.forward_by.dq, out)));
      break;
  }
}

}  // namespace
}  // namespace kansetsu::bench

const Plugin* bench_plugin() {
  using namespace kansetsu::bench;
  static const Plugin plugin{.library = "kansetsu",
                             .version = KANSETSU_VERSION,
                             .compiler = BENCH_COMPILER " " BENCH_COMPILER_VERSION,
                             .flags = BENCH_FLAGS,
                             .instruction_set = kansetsu::to_string(kansetsu::instruction_set()),
                             .create = create,
                             .destroy = [](void* instance) { delete static_cast<Instance*>(instance); },
                             .error = [] { return last_error.c_str(); },
                             .variant = variant_name,
                             .run = run,
                             .result = result,
                             .load = load};
  return &plugin;
}
