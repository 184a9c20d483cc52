#include "kansetsu/assembly/processes.h"

#include <Eigen/LU>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

/// Where the chain is cut, the joint between link a (end of a stretch) and link b (beginning of the next) has, at its frames,
///   A_b = X⁻¹·A_a + C + S·q̈,   F on b, −X·F on a,   Sᵀ·F = τ − J·q̈,
/// and every stretch answers A = G·F + A_free at its two ends (Assembly's open rows). F and q̈ of all cuts follow from one system.
namespace kansetsu {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix66 = Eigen::Matrix<double, 6, 6>;

Vector6 six_numbers(const Motion<>& V) { return (Vector6() << V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z).finished(); }
Motion<> to_motion(const double* x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
Force<> to_force(const Vector6& x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
/// V_B = X⁻¹·V_A as a matrix.
Matrix66 inverse_motion_matrix(const Transform<>& X) {
  Matrix66 out;
  for (int k = 0; k < 6; ++k) {
    double unit[6] = {};
    unit[k] = 1;
    out.col(k) = six_numbers(inverse_times(X, to_motion(unit)));
  }
  return out;
}

/// What a process tells before the state is known everywhere: the far end of its stretch, and the joint at its beginning.
struct Reach {
  Transform<> X_FS;  ///< far socket in its first frame
  Motion<> V_S;      ///< of the far end relative to the first frame, in socket axes
  Transform<> X_SP;  ///< its own first joint: plug in the socket before it
  Motion<> rate;     ///< S·q̇
};
/// What it tells then.
struct Interface {
  double G[144], a[12];  ///< answers of its two ends, the near one first
  Motion<> C, S;
  double tau, rotor;
};
template <class T>
constexpr std::size_t kNumbers = sizeof(T) / sizeof(double);

}  // namespace

struct ChainProcess::Impl {
  ProcessGroup group;
  Model whole;
  int first_link = 0, last_link = 0;  ///< of the stretch
  std::optional<Model> piece;
  std::optional<Assembly> assembly;
  std::optional<AssemblyResult> result;
  std::optional<LinkMotions> motions;
  std::optional<Workspace> work;
  std::optional<State> local;
  Transform<> X_plug, X_socket;  ///< near joint frame on the first link, far one on the last
  bool near = false, far = false;
  Eigen::VectorXd torque;

  Impl(const Model& model, ProcessGroup g, int threads) : group(std::move(g)), whole(model) {
    if (const auto why = unsupported(model)) throw Error("ChainProcess: model \"" + model.name() + "\": " + *why);
    const int links = model.link_count();
    if (group.size < 1 || group.rank < 0 || group.rank >= group.size || group.size > links)
      throw Error("ChainProcess: process " + std::to_string(group.rank) + " of " + std::to_string(group.size) +
                  " for a chain of " + std::to_string(links) + " links");
    first_link = int(long(links) * group.rank / group.size);
    last_link = int(long(links) * (group.rank + 1) / group.size) - 1;
    near = group.rank > 0;
    far = group.rank + 1 < group.size;
    const ModelDescription& from = model.description();
    ModelDescription part;
    part.name = from.name + ".part";
    part.gravity = from.gravity;
    part.base = near ? Base::kFree : from.base;
    if (!near) part.base_pose = from.base_pose;
    for (int l = first_link; l <= last_link; ++l) {
      part.links.push_back(model.link(LinkId(l)));
      if (l > first_link) part.joints.push_back(model.joint(JointId(l - 1)));
    }
    piece.emplace(value_or_throw(Model::build(std::move(part))));
    assembly.emplace(*piece, AssemblyOptions{.threads = threads, .reactions = false});
    if (near) X_plug = to_transform(model.joint(JointId(first_link - 1)).plug);
    if (far) X_socket = to_transform(model.joint(JointId(last_link)).socket);
    const auto open = [&](int link, const Transform<>& X_LJ) {
      assembly->connect({.b = {.link = LinkId(link), .X_LJ = X_LJ}}, ClosureRole::kOpen);
    };
    if (near) open(0, X_plug);
    if (far) open(piece->link_count() - 1, X_socket);
    result.emplace(*assembly);
    motions.emplace(*piece);
    work.emplace(*piece);
    local.emplace(*piece);
    torque = Eigen::VectorXd::Zero(piece->nv());
  }

  const JointDescription& joint() const { return whole.joint(JointId(first_link - 1)); }
  Vec3<> axis() const { return (1 / norm(joint().axis)) * joint().axis; }
  Motion<> subspace() const {
    return joint().type == JointType::kPrismatic ? Motion<>{{}, axis()} : Motion<>{axis(), {}};
  }
  int base_columns() const { return piece->base() == Base::kFree ? 6 : 0; }
  /// Columns of the whole chain before joint j.
  int column_of(int j) const { return whole.coordinates(JointId(j)).v; }
  int position_of(int j) const { return whole.coordinates(JointId(j)).q; }

  template <class T>
  std::vector<T> exchange(const T& mine) const {
    std::vector<T> all(static_cast<size_t>(group.size));
    if (group.size == 1) {
      all[0] = mine;
      return all;
    }
    group.all_gather({reinterpret_cast<const double*>(&mine), kNumbers<T>},
                     {reinterpret_cast<double*>(all.data()), kNumbers<T> * all.size()});
    return all;
  }

  /// Coordinates of the stretch from those of the chain; its base, if it is not the chain's, at rest at the origin.
  void take(const State& state, const VectorRef& tau) {
    const int skip = base_columns(), joints = last_link - first_link;
    if (!near && skip > 0) {
      local->q.head(7) = state.q.head(7);
      local->v.head(6) = state.v.head(6);
      torque.head(6) = tau.head(6);
    } else if (near) {
      local->q.head(7) << 0, 0, 0, 0, 0, 0, 1;
      local->v.head(6).setZero();
      torque.head(6).setZero();
    }
    if (joints == 0) return;
    local->q.tail(joints) = state.q.segment(position_of(first_link), joints);
    local->v.tail(joints) = state.v.segment(column_of(first_link), joints);
    torque.tail(joints) = tau.segment(column_of(first_link), joints);
  }

  Reach reach(const State& state) {
    link_motions(*piece, *local, Eigen::VectorXd::Zero(piece->nv()), *work, *motions);
    const LinkId last(piece->link_count() - 1);
    const Transform<>& X = motions->poses[last];
    const Motion<> V = motions->V[size_t(last.value())];
    Reach out{};
    out.X_FS = X * X_socket;
    out.V_S = inverse_times(X_socket, Motion<>{transpose_times(X.R, V.w), transpose_times(X.R, V.v)});
    if (!near) return out;
    const double q = state.q[position_of(first_link - 1)], rate = state.v[column_of(first_link - 1)];
    out.X_SP = joint().type == JointType::kPrismatic ? Transform<>{Mat3<>::identity(), q * axis()}
                                                     : Transform<>{exp_rotation(q * axis()), {}};
    out.rate = rate * subspace();
    return out;
  }

  /// Pose and velocity of the first link, from those of all stretches before.
  Motion<> place(const std::vector<Reach>& all) {
    Transform<> X_WS = all[0].X_FS;
    Motion<> V_S = all[0].V_S, V_P{};
    for (int r = 1; r <= group.rank; ++r) {
      const Reach& own = all[size_t(r)];
      const Transform<> X_WP = X_WS * own.X_SP;
      V_P = inverse_times(own.X_SP, V_S) + own.rate;
      if (r < group.rank) {
        // Of the stretches between only where their first frame is matters: X_FS is seen from their first link.
        const Transform<> X_PF = inverse(to_transform(whole.joint(JointId(begin_of(r) - 1)).plug));
        X_WS = X_WP * X_PF * own.X_FS;
        V_S = inverse_times(X_PF * own.X_FS, V_P) + own.V_S;
        continue;
      }
      const Transform<> X_WF = X_WP * inverse(X_plug);
      const Motion<> V_F = X_plug * V_P;
      const Quaternion<> turn = to_quaternion(X_WF.R);
      local->q.head(7) << X_WF.p.x, X_WF.p.y, X_WF.p.z, turn.x, turn.y, turn.z, turn.w;
      local->v.head(6) = six_numbers(V_F);
    }
    return V_P;
  }
  int begin_of(int r) const { return int(long(whole.link_count()) * r / group.size); }

  Interface answers(const Motion<>& V_P, const Reach& own, const VectorRef& tau) {
    const FigureInput input{&*local, &torque, nullptr};
    assembly->assemble({&input, 1});
    Interface out{};
    const int rows = assembly->open_rows(), at = near ? 0 : 6;
    Eigen::MatrixXd G(rows, rows);
    Eigen::VectorXd a(rows);
    if (rows > 0) {
      assembly->delassus(G);
      assembly->free_acceleration(a);
    }
    Eigen::Map<Eigen::Matrix<double, 12, 12>>(out.G).block(at, at, rows, rows) = G;
    Eigen::Map<Eigen::Matrix<double, 12, 1>>(out.a).segment(at, rows) = a;
    if (!near) return out;
    out.S = subspace();
    out.C = cross(V_P, own.rate);
    out.tau = tau[column_of(first_link - 1)];
    out.rotor = joint().dofs.empty() ? 0 : joint().dofs[0].rotor_inertia;
    return out;
  }

  /// F (six numbers) and q̈ of every cut.
  Eigen::VectorXd join(const std::vector<Reach>& reach, const std::vector<Interface>& all) const {
    const int cuts = group.size - 1;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(7 * cuts, 7 * cuts);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(7 * cuts);
    for (int k = 0; k < cuts; ++k) {  // between stretches k and k + 1
      const Interface &left = all[size_t(k)], &right = all[size_t(k + 1)];
      const Matrix66 X = inverse_motion_matrix(reach[size_t(k + 1)].X_SP);
      const Eigen::Map<const Eigen::Matrix<double, 12, 12>> GL(left.G), GR(right.G);
      const Eigen::Map<const Eigen::Matrix<double, 12, 1>> aL(left.a), aR(right.a);
      const Vector6 S = six_numbers(right.S);
      auto row = A.middleRows(7 * k, 6);
      row.middleCols(7 * k, 6) = GR.topLeftCorner(6, 6) + X * GL.bottomRightCorner(6, 6) * X.transpose();
      if (k + 1 < cuts) {  // the far end of the right stretch, pushed back by the next cut
        const Matrix66 next = inverse_motion_matrix(reach[size_t(k + 2)].X_SP);
        row.middleCols(7 * (k + 1), 6) = -GR.topRightCorner(6, 6) * next.transpose();
      }
      if (k > 0) row.middleCols(7 * (k - 1), 6) = -X * GL.bottomLeftCorner(6, 6);
      row.col(7 * k + 6) = -S;
      b.segment(7 * k, 6) = six_numbers(right.C) + X * aL.tail(6) - aR.head(6);
      A.block(7 * k + 6, 7 * k, 1, 6) = S.transpose();
      A(7 * k + 6, 7 * k + 6) = right.rotor;
      b[7 * k + 6] = right.tau;
    }
    return cuts == 0 ? b : Eigen::VectorXd(A.partialPivLu().solve(b));
  }
};

ChainProcess::ChainProcess(const Model& model, ProcessGroup group, int threads)
    : impl_(std::make_unique<Impl>(model, std::move(group), threads)) {}
ChainProcess::ChainProcess(ChainProcess&&) noexcept = default;
ChainProcess& ChainProcess::operator=(ChainProcess&&) noexcept = default;
ChainProcess::~ChainProcess() = default;

std::optional<std::string> ChainProcess::unsupported(const Model& model) {
  if (!model.description().couplings.empty()) return "has gears";
  for (int l = 0; l < model.link_count(); ++l) {
    if (!model.link(LinkId(l)).inertial || !(model.link(LinkId(l)).inertial->mass > 0)) {
      if (l > 0 || model.base() == Base::kFree) return "link \"" + model.link(LinkId(l)).name + "\" has no mass";
    }
    if (l == 0) continue;
    const JointDescription& joint = model.joint(JointId(l - 1));
    if (model.parent_link(JointId(l - 1)).value() != l - 1) return "joint \"" + joint.name + "\" makes a branch";
    if (joint.type != JointType::kRevolute && joint.type != JointType::kPrismatic)
      return "joint \"" + joint.name + "\" is neither revolute nor prismatic";
  }
  return Assembly::unsupported(model);
}

int ChainProcess::first_column() const { return impl_->near ? impl_->column_of(impl_->first_link - 1) : 0; }
int ChainProcess::columns() const {
  return impl_->last_link - impl_->first_link + (impl_->near ? 1 : impl_->base_columns());
}
int ChainProcess::exchanged() const { return impl_->group.size == 1 ? 0 : int(kNumbers<Reach> + kNumbers<Interface>); }

Status ChainProcess::solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot) {
  Impl& w = *impl_;
  check_size("ChainProcess::solve", "q", state.q.size(), w.whole.nq());
  check_size("ChainProcess::solve", "v", state.v.size(), w.whole.nv());
  check_size("ChainProcess::solve", "tau", tau.size(), w.whole.nv());
  check_size("ChainProcess::solve", "vdot", vdot.size(), w.whole.nv());
  w.take(state, tau);
  const Reach own = w.reach(state);
  const std::vector<Reach> reach = w.exchange(own);
  const Motion<> V_P = w.place(reach);
  const Eigen::VectorXd cuts = w.join(reach, w.exchange(w.answers(V_P, own, tau)));
  const int rank = w.group.rank;
  Eigen::VectorXd forces(w.assembly->open_rows());
  if (w.near) forces.head(6) = cuts.segment(7 * (rank - 1), 6);
  if (w.far) {
    const Force<> F = reach[size_t(rank + 1)].X_SP * to_force(cuts.segment(7 * rank, 6));
    forces.tail(6) << -F.t.x, -F.t.y, -F.t.z, -F.f.x, -F.f.y, -F.f.z;
  }
  w.assembly->apply(forces, *w.result);
  const int joints = w.last_link - w.first_link, at = first_column();
  if (w.near)
    vdot[at] = cuts[7 * (rank - 1) + 6];
  else
    vdot.head(w.base_columns()) = w.result->vdot().head(w.base_columns());
  vdot.segment(at + (w.near ? 1 : w.base_columns()), joints) = w.result->vdot().tail(joints);
  return w.result->status;
}

}  // namespace kansetsu
