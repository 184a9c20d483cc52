#include <map>
#include <memory>
#include <string>

#include "kansetsu/base/cpu.h"
#include "kansetsu/base/error.h"
#include "kansetsu/batch/batch.h"
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

/// Calls for many states in one precision. Memory and threads are made in the first call of each kind.
template <class Real>
class Many {
 public:
  Many(const Entry& entry, const StateData& data) : entry_(entry) {
    const Model& model = entry.model;
    const auto copy = [&](const double* from, int n, std::vector<Real>& to) { to.assign(from, from + data.count * n); };
    copy(data.q, model.nq(), q_);
    copy(data.v, model.nv(), v_);
    copy(data.a, model.nv(), a_);
    copy(data.tau, model.nv(), tau_);
  }

  double run(int algorithm, int threads, int first, int count) {
    const Model& model = entry_.model;
    const int nv = model.nv();
    auto& engine = engines_[threads];
    // Long chains, too: the column of errors shows the accuracy of single precision.
    constexpr int kAnyDepth = 1 << 20;
    if (!engine) {
      engine =
          std::make_unique<batch::Batch<Real>>(model, batch::Options{.threads = threads, .single_depth = kAnyDepth});
    }
    row_ = row_size(algorithm);
    count_ = size_t(count);
    if (out_.size() < row_ * count_) out_.resize(row_ * count_);
    const Real* q = q_.data() + first * model.nq();
    const Real* v = v_.data() + first * nv;
    const Real* a = a_.data() + first * nv;
    const Real* tau = tau_.data() + first * nv;
    Real* out = out_.data();
    const size_t block = size_t(nv) * size_t(nv) * count_;  // of one derivative of all states
    switch (algorithm) {
      case kFk:
        engine->fk(count, q, out);
        break;
      case kJacobians:
        engine->joint_axes(count, q, out);
        break;
      case kRnea:
        engine->rnea(count, q, v, a, out);
        break;
      case kCrba:
        engine->crba(count, q, out);
        break;
      case kAba:
        engine->aba(count, q, v, tau, out);
        break;
      case kMinverse:
        engine->mass_matrix_inverse(count, q, out);
        break;
      case kRneaDerivatives:
        engine->rnea_derivatives(count, q, v, a, out, out + block, out + 2 * block);
        break;
      case kAbaDerivatives:
        vdot_.resize(size_t(nv) * count_);
        engine->aba_derivatives(count, q, v, tau, out, out + block, out + 2 * block, vdot_.data());
        break;
    }
    return out_[row_ * count_ - 1];
  }

  void result(int algorithm, int index, double* out) const {
    const Real* row = out_.data() + row_ * size_t(index);
    const Eigen::Index nv = entry_.model.nv();
    if (algorithm == kFk) {
      put_poses(row, out);
    } else if (algorithm == kJacobians) {
      put_matrix(row, 6, nv, out);
    } else if (algorithm == kRneaDerivatives || algorithm == kAbaDerivatives) {
      const size_t size = size_t(nv * nv);
      for (size_t k = 0; k < 3; ++k)
        put_matrix(out_.data() + (k * count_ + size_t(index)) * size, nv, nv, out + k * size);
    } else {
      std::copy(row, row + row_, out);
    }
  }

 private:
  /// Numbers of one state's result.
  size_t row_size(int algorithm) const {
    const size_t nv = size_t(entry_.model.nv());
    switch (algorithm) {
      case kFk:
        return 12 * size_t(entry_.model.link_count());
      case kJacobians:
        return 6 * nv;
      case kRnea:
      case kAba:
        return nv;
      case kCrba:
      case kMinverse:
        return nv * nv;
      default:
        return 3 * nv * nv;
    }
  }
  /// Row by row in, column by column out.
  static void put_matrix(const Real* from, Eigen::Index rows, Eigen::Index columns, double* out) {
    using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Eigen::MatrixXd>(out, rows, columns) =
        Eigen::Map<const RowMajor>(from, rows, columns).template cast<double>();
  }
  void put_poses(const Real* row, double* out) const {
    const ExportedModel& exported = entry_.exported;
    for (size_t b = 0; b < exported.bodies.size(); ++b) {
      const Real* x = row + 12 * exported.links[b].value();
      const Transform<> X_WL{{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {x[6], x[7], x[8]}}, {x[9], x[10], x[11]}};
      const Transform<> X = X_WL * exported.X_LB[b];
      for (const Vec3<>& r : {X.R.x, X.R.y, X.R.z, X.p}) *out++ = r.x, *out++ = r.y, *out++ = r.z;
    }
  }

  const Entry& entry_;
  std::vector<Real> q_, v_, a_, tau_, out_, vdot_;
  size_t row_ = 0, count_ = 0;                                  ///< numbers of one state, and states, of the last call
  std::map<int, std::unique_ptr<batch::Batch<Real>>> engines_;  ///< by number of threads
};

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
  Many<double> fp64;
  Many<float> fp32;

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
        geared(!model.description().couplings.empty()),
        fp64(e, data),
        fp32(e, data) {
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

bool has_batch(void* instance, int algorithm, int) { return variant_name(instance, algorithm, 0) != nullptr; }

double run_batch(void* instance, int algorithm, int precision, int threads, int first, int count) {
  Instance& in = *static_cast<Instance*>(instance);
  return precision == kFp64 ? in.fp64.run(algorithm, threads, first, count)
                            : in.fp32.run(algorithm, threads, first, count);
}

void result_batch(void* instance, int algorithm, int precision, int index, double* out) {
  const Instance& in = *static_cast<const Instance*>(instance);
  precision == kFp64 ? in.fp64.result(algorithm, index, out) : in.fp32.result(algorithm, index, out);
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
                             .has_batch = has_batch,
                             .run_batch = run_batch,
                             .result_batch = result_batch,
                             .load = load};
  return &plugin;
}
