#include "kansetsu/assembly/processes.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "assembly/process_pieces.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

/// Where a figure is cut, the joint between link a of the carrier's piece and link b of the next has, at its frames,
///   A_b = X⁻¹·A_a + C + S·q̈,   F on b, −X·F on a,   Sᵀ·F = τ − J·q̈,
/// and every piece has A = G·F + A_free at all its ports (Assembly's open rows). A closure between pieces, or to the world, which is
/// at rest, has the rows of
///   A_b − X⁻¹·A_a = V_b × (V_b − X⁻¹·V_a)
/// that it holds. The forces x of all cuts and closures give the accelerations Bᵀ·(G·B·x + A_free): one system, the same in every process.
namespace kansetsu {
namespace {

/// Rows of closures that leave a piece may depend on each other; a pivot below this share of the largest one counts as zero.
/// Assembly uses the same number.
constexpr double kDependent = 1e-11;

template <class T>
constexpr std::size_t kNumbers = sizeof(T) / sizeof(double);

}  // namespace

struct AssemblyProcess::Impl {
  ProcessGroup group;
  Model whole;
  ProcessPieces pieces;
  std::size_t most_ports = 0;
  std::vector<JointId> joints;  ///< of the whole figure, within the piece
  struct Coordinates {
    CoordinateRange whole, own;
  };
  std::vector<Coordinates> coordinates;  ///< of these joints
  std::optional<Model> piece;
  std::optional<Assembly> assembly;
  std::optional<AssemblyResult> result;
  std::optional<LinkMotions> motions;
  std::optional<Workspace> work;
  std::optional<State> local;
  std::vector<LinkId> port_links;  ///< in the piece
  std::vector<int> columns;
  Eigen::VectorXd torque;

  Impl(const Model& model, ProcessGroup g, const ProcessOptions& options) : group(std::move(g)), whole(model) {
    if (const auto why = unsupported(model)) throw Error("AssemblyProcess: model \"" + model.name() + "\": " + *why);
    if (group.size < 1 || group.rank < 0 || group.rank >= group.size)
      throw Error("AssemblyProcess: process " + std::to_string(group.rank) + " of " + std::to_string(group.size));
    pieces = cut_into_pieces(model, group.size, options.closures);
    most_ports = pieces.most_ports();
    piece.emplace(value_or_throw(Model::build(describe_piece())));
    assembly.emplace(*piece, AssemblyOptions{.threads = options.threads, .reactions = false});
    for (const PiecePort& port : ports()) {
      port_links.push_back(own_link(port.link));
      assembly->connect({.b = {.link = port_links.back(), .X_LJ = port.X_LJ}}, ClosureRole::kOpen);
    }
    for (Closure closure : pieces.closures[size_t(group.rank)]) {
      for (ClosureAnchor* side : {&closure.a, &closure.b}) {
        if (side->link) side->link = own_link(*side->link);
      }
      assembly->connect(closure);
    }
    result.emplace(*assembly);
    motions.emplace(*piece);
    work.emplace(*piece);
    local.emplace(*piece);
    torque = Eigen::VectorXd::Zero(piece->nv());
    find_columns();
  }

  bool near() const { return group.rank > 0; }
  const PieceCut& cut() const { return pieces.cuts[size_t(group.rank - 1)]; }
  const std::vector<PiecePort>& ports() const { return pieces.ports[size_t(group.rank)]; }
  LinkId own_link(LinkId link) const { return piece->link_id(whole.link(link).name); }

  ModelDescription describe_piece() {
    const ModelDescription& from = whole.description();
    ModelDescription out;
    out.name = from.name + ".piece";
    out.gravity = from.gravity;
    out.base = near() ? Base::kFree : from.base;
    if (!near()) out.base_pose = from.base_pose;
    for (int l = 0; l < whole.link_count(); ++l) {
      if (pieces.piece_of_link[size_t(l)] != group.rank) continue;
      if (!out.links.empty()) joints.push_back(JointId(l - 1));
      out.links.push_back(whole.link(LinkId(l)));
    }
    std::vector<std::string> names;
    for (const JointId j : joints) {
      out.joints.push_back(whole.joint(j));
      names.push_back(whole.joint(j).name);
    }
    std::sort(names.begin(), names.end());
    for (const Coupling& gear : from.couplings) {  // gears are in one piece as a whole
      if (std::binary_search(names.begin(), names.end(), gear.dependent.joint)) out.couplings.push_back(gear);
    }
    return out;
  }

  void find_columns() {
    const auto add = [&](const CoordinateRange& range) {
      for (int k = 0; k < range.nv; ++k) columns.push_back(range.v + k);
    };
    add(near() ? whole.coordinates(cut().joint) : whole.base_coordinates());
    for (const JointId j : joints) {
      coordinates.push_back({whole.coordinates(j), piece->coordinates(piece->joint_id(whole.joint(j).name))});
      add(coordinates.back().whole);
    }
    std::sort(columns.begin(), columns.end());
  }

  /// Each process's numbers in turn. @param mine  equally many in all
  std::vector<double> exchange(const std::vector<double>& mine) const {
    if (group.size == 1) return mine;
    std::vector<double> all(mine.size() * size_t(group.size));
    group.all_gather(mine, all);
    return all;
  }
  std::size_t reach_numbers() const { return kNumbers<PieceJoint> + most_ports * kNumbers<PiecePlace>; }
  std::size_t answer_numbers() const { return 6 * most_ports * (6 * most_ports + 1); }

  /// Coordinates of the piece from those of the figure; its base, if it is not the figure's, at rest at the origin.
  void take(const State& state, const VectorRef& tau) {
    if (near()) {
      local->q.head(7) << 0, 0, 0, 0, 0, 0, 1;
      local->v.head(6).setZero();
      torque.head(6).setZero();
    } else {
      const CoordinateRange base = whole.base_coordinates();
      local->q.head(base.nq) = state.q.head(base.nq);
      local->v.head(base.nv) = state.v.head(base.nv);
      torque.head(base.nv) = tau.head(base.nv);
    }
    for (const auto& [from, to] : coordinates) {
      local->q.segment(to.q, to.nq) = state.q.segment(from.q, from.nq);
      local->v.segment(to.v, to.nv) = state.v.segment(from.v, from.nv);
      torque.segment(to.v, to.nv) = tau.segment(from.v, from.nv);
    }
  }

  PieceJoint carrying_joint(const State& state, const VectorRef& tau) const {
    PieceJoint out{};
    if (!near()) return out;
    const JointDescription& joint = whole.joint(cut().joint);
    const CoordinateRange at = whole.coordinates(cut().joint);
    const Vec3<> axis = (1 / norm(joint.axis)) * joint.axis;
    const bool slides = joint.type == JointType::kPrismatic;
    out.X_SP = slides ? Transform<>{Mat3<>::identity(), state.q[at.q] * axis}
                      : Transform<>{exp_rotation(state.q[at.q] * axis), {}};
    out.S = slides ? Motion<>{{}, axis} : Motion<>{axis, {}};
    out.rate = state.v[at.v] * out.S;
    out.tau = tau[at.v];
    out.rotor = joint.dofs.empty() ? 0 : joint.dofs[0].rotor_inertia;
    return out;
  }

  /// Poses of the ports of all pieces: first each piece relative to its first link, then composed along the cuts.
  struct Places {
    std::vector<PieceJoint> joints;              ///< per piece
    std::vector<std::vector<PiecePlace>> ports;  ///< per piece and port, in the world
    PiecePlace own;                              ///< first link of this process's piece, in the world
  };
  Places place(const PieceJoint& joint) {
    link_motions(*piece, *local, Eigen::VectorXd::Zero(piece->nv()), *work, *motions);
    std::vector<double> mine(reach_numbers(), 0.0);
    *reinterpret_cast<PieceJoint*>(mine.data()) = joint;
    auto* reached = reinterpret_cast<PiecePlace*>(mine.data() + kNumbers<PieceJoint>);
    for (size_t p = 0; p < ports().size(); ++p) {
      const Transform<>& X = motions->poses[port_links[p]];
      const Motion<> V = motions->V[size_t(port_links[p].value())];
      reached[p] = {X * ports()[p].X_LJ,
                    inverse_times(ports()[p].X_LJ, Motion<>{transpose_times(X.R, V.w), transpose_times(X.R, V.v)})};
    }
    const std::vector<double> all = exchange(mine);
    Places out;
    for (int r = 0; r < group.size; ++r) {
      const double* from = all.data() + size_t(r) * reach_numbers();
      const auto* far = reinterpret_cast<const PiecePlace*>(from + kNumbers<PieceJoint>);
      out.joints.push_back(*reinterpret_cast<const PieceJoint*>(from));
      PiecePlace first{};  // link of the piece
      if (r > 0) {
        const PieceCut& before = pieces.cuts[size_t(r - 1)];
        const PiecePlace& socket = out.ports[size_t(before.carrier)][size_t(before.carrier_port)];
        const PieceJoint& by = out.joints.back();
        first.X = socket.X * by.X_SP * inverse(far[0].X);
        first.V = far[0].X * (inverse_times(by.X_SP, socket.V) + by.rate);
      }
      if (r == group.rank) out.own = first;
      std::vector<PiecePlace>& placed = out.ports.emplace_back();
      for (size_t p = 0; p < pieces.ports[size_t(r)].size(); ++p)
        placed.push_back({first.X * far[p].X, inverse_times(far[p].X, first.V) + far[p].V});
    }
    return out;
  }

  /// G and A_free of all pieces, [G, A_free] of each row by row.
  std::vector<double> answers(const PiecePlace& first) {
    if (near()) {
      const Quaternion<> turn = to_quaternion(first.X.R);
      local->q.head(7) << first.X.p.x, first.X.p.y, first.X.p.z, turn.x, turn.y, turn.z, turn.w;
      local->v.head(6) = to_eigen(first.V);
    }
    const FigureInput input{&*local, &torque, nullptr};
    assembly->assemble({&input, 1});
    const int rows = assembly->open_rows();
    std::vector<double> mine(answer_numbers(), 0.0);
    if (rows > 0) {
      Eigen::MatrixXd G(rows, rows);
      Eigen::VectorXd a(rows);
      assembly->delassus(G);
      assembly->free_acceleration(a);
      Eigen::Map<Eigen::MatrixXd>(mine.data(), rows, rows) = G;
      Eigen::Map<Eigen::VectorXd>(mine.data() + rows * rows, rows) = a;
    }
    return exchange(mine);
  }

  /// K·(forces, rates) = right.
  struct System {
    std::vector<Eigen::MatrixXd> B;  ///< per piece: forces at its ports from the unknown ones
    Eigen::MatrixXd K;
    Eigen::VectorXd right;
    int rates = 0;  ///< first unknown rate: forces are before them
  };
  /// The wrenches of each unknown force at the ports, and the right sides without A_free.
  System set_up(const Places& at) const {
    int forces = 6 * int(pieces.cuts.size());
    for (const PieceClosure& c : pieces.between) forces += int(c.rows.size());
    System out;
    out.rates = forces;
    const int all = forces + int(pieces.cuts.size());
    out.K = Eigen::MatrixXd::Zero(all, all);
    out.right = Eigen::VectorXd::Zero(all);
    for (const auto& own : pieces.ports) out.B.push_back(Eigen::MatrixXd::Zero(6 * long(own.size()), forces));
    int row = 0;
    for (size_t k = 0; k < pieces.cuts.size(); ++k, row += 6) {
      const PieceCut& c = pieces.cuts[k];
      const PieceJoint& joint = at.joints[k + 1];
      const Vector6d S = to_eigen(joint.S);
      const int rate = forces + int(k);
      out.B[k + 1].block(0, row, 6, 6).setIdentity();
      out.B[size_t(c.carrier)].block(6 * c.carrier_port, row, 6, 6) = -motion_matrix(inverse(joint.X_SP)).transpose();
      out.right.segment(row, 6) = to_eigen(cross(at.ports[k + 1][0].V, joint.rate));
      out.K.block(row, rate, 6, 1) = -S;
      out.K.block(rate, row, 1, 6) = S.transpose();
      out.K(rate, rate) = joint.rotor;
      out.right[rate] = joint.tau;
    }
    for (const PieceClosure& c : pieces.between) {
      const PiecePlace world{c.X_world, {}};
      const PiecePlace& a = c.piece_a < 0 ? world : at.ports[size_t(c.piece_a)][size_t(c.port_a)];
      const PiecePlace& b = c.piece_b < 0 ? world : at.ports[size_t(c.piece_b)][size_t(c.port_b)];
      const Transform<> X_ab = inverse(a.X) * b.X;
      const Matrix6d X = motion_matrix(inverse(X_ab));
      const Vector6d bias = to_eigen(cross(b.V, b.V - inverse_times(X_ab, a.V)));
      for (const int direction : c.rows) {
        if (c.piece_b >= 0) out.B[size_t(c.piece_b)](6 * c.port_b + direction, row) = 1;
        if (c.piece_a >= 0) out.B[size_t(c.piece_a)].block(6 * c.port_a, row, 6, 1) -= X.row(direction).transpose();
        out.right[row++] = bias[direction];
      }
    }
    return out;
  }
  /// Forces and rates of all cuts and closures.
  Eigen::VectorXd join(System& s, const std::vector<double>& answered) const {
    for (size_t r = 0; r < s.B.size(); ++r) {
      const long rows = s.B[r].rows();
      const double* from = answered.data() + r * answer_numbers();
      const Eigen::Map<const Eigen::MatrixXd> G(from, rows, rows);
      const Eigen::Map<const Eigen::VectorXd> a(from + rows * rows, rows);
      s.K.topLeftCorner(s.rates, s.rates) += s.B[r].transpose() * G * s.B[r];
      s.right.head(s.rates) -= s.B[r].transpose() * a;
    }
    if (s.right.size() == 0) return s.right;
    // each row is scaled by its own mobility: masses may differ by a factor of a million
    Eigen::VectorXd scale(s.right.size());
    for (int i = 0; i < s.rates; ++i) scale[i] = 1 / std::sqrt(s.K(i, i));
    for (long i = s.rates; i < scale.size(); ++i)
      scale[i] = 1 / s.K.row(i).head(s.rates).transpose().cwiseProduct(scale.head(s.rates)).norm();
    const Eigen::MatrixXd K = scale.asDiagonal() * s.K * scale.asDiagonal();
    const Eigen::VectorXd right = scale.cwiseProduct(s.right);
    if (pieces.between.empty()) return scale.cwiseProduct(K.partialPivLu().solve(right));
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factor;
    factor.setThreshold(kDependent);
    return scale.cwiseProduct(factor.compute(K).solve(right));
  }
};

AssemblyProcess::AssemblyProcess(const Model& model, ProcessGroup group, const ProcessOptions& options)
    : impl_(std::make_unique<Impl>(model, std::move(group), options)) {}

std::optional<std::string> AssemblyProcess::unsupported(const Model& model) { return Assembly::unsupported(model); }
int AssemblyProcess::most_processes(const Model& model) {
  const std::vector<char> cuttable = cuttable_links(model);
  return 1 + int(std::count(cuttable.begin(), cuttable.end(), 1));
}
int AssemblyProcess::links() const { return impl_->piece->link_count(); }
const std::vector<int>& AssemblyProcess::columns() const { return impl_->columns; }
int AssemblyProcess::exchanged() const {
  return impl_->group.size == 1 ? 0 : int(impl_->reach_numbers() + impl_->answer_numbers());
}

Status AssemblyProcess::solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot) {
  Impl& w = *impl_;
  check_size("AssemblyProcess::solve", "q", state.q.size(), w.whole.nq());
  check_size("AssemblyProcess::solve", "v", state.v.size(), w.whole.nv());
  check_size("AssemblyProcess::solve", "tau", tau.size(), w.whole.nv());
  check_size("AssemblyProcess::solve", "vdot", vdot.size(), w.whole.nv());
  w.take(state, tau);
  const Impl::Places places = w.place(w.carrying_joint(state, tau));
  Impl::System system = w.set_up(places);
  const Eigen::VectorXd x = w.join(system, w.answers(places.own));
  w.assembly->apply(system.B[size_t(w.group.rank)] * x.head(system.rates), *w.result);
  const Eigen::VectorXd& own = w.result->vdot();
  if (w.near()) {
    vdot[w.whole.coordinates(w.cut().joint).v] = x[system.rates + w.group.rank - 1];
  } else {
    const int base = w.whole.base_coordinates().nv;
    vdot.head(base) = own.head(base);
  }
  for (const auto& [to, from] : w.coordinates) vdot.segment(to.v, to.nv) = own.segment(from.v, from.nv);
  return w.result->status;
}

}  // namespace kansetsu
