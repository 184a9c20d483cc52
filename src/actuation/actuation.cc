#include "kansetsu/actuation/actuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actuation/hill.h"
#include "actuation/muscle.h"
#include "constraint/mechanics.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"
#include "model/tendon_path.h"

namespace kansetsu {
inline namespace actuation_parts {

/// A row of the Jacobian: a range of `columns` and `values`.
struct RowRange {
  int begin = 0, count = 0;
};
/// A length that is a sum of coordinates.
struct CoordinateSum {
  std::vector<std::pair<int, double>> positions;  ///< entries of q
  double offset = 0;
};

/// A part of a path that depends on a coordinate.
struct MovingPart {
  int part = 0;
  CoordinateSum sum{};
  std::vector<std::pair<int, double>> terms{};  ///< columns of v, how they change the coordinate
  Interval range{};                             ///< where the part is there; of a shift: everywhere
  CoordinateFunction function{};
  Vec3<> direction{};  ///< on the body; zero: no shift
};

struct TendonData {
  RowRange row{};
  CoordinateSum sum{};
  std::vector<PathPart> path{};
  std::vector<MovingPart> moving{};
  std::vector<Vec3<>> at_rest{};  ///< of the parts, before they are shifted; empty if nothing moves
  PathTrace trace{};
  double length = 0, velocity = 0;
  std::vector<int> actuators{};
};

enum class Kind { kSum, kBall, kBase, kTendon, kFrame, kFramePair, kSliderCrank, kNothing };

struct ActuatorData {
  Kind kind = Kind::kNothing;
  RowRange row{};
  CoordinateSum sum{};
  int tendon = -1;
  int q = 0;  ///< of a ball
  int a = -1, b = -1;
  Transform<> X_A{}, X_B{};
  Vec3<> f{}, t{};  ///< per unit of force
  Interval force_range{};
  Interval acting_range{};  ///< and the joint's limit, where it is alone there
  double length = 0, velocity = 0;
};

inline Vec3<> vec3(const double* x) { return {x[0], x[1], x[2]}; }

}  // namespace actuation_parts

struct Actuation::Impl {
  Impl(const Model& m, ActuationDescription d, bool effort_limits)
      : model(m), given{std::move(d.tendons), all_actuators(m.description(), d)} {
    compile(effort_limits);
  }

  Model model;
  ActuationDescription given;
  std::unique_ptr<Mechanics> own;  ///< of place(state)
  std::vector<TendonData> tendons;
  std::vector<ActuatorData> actuators;
  std::vector<int> columns;
  std::vector<double> values;
  std::vector<int> bodies;        ///< whose poses are needed
  std::vector<Transform<>> X_WB;  ///< of all bodies; those not needed are not kept up
  mutable Eigen::VectorXd dense;  ///< scratch
  std::vector<Pull> pulls;        ///< scratch
  std::vector<EffortLimit> limits;

  const ActuationDescription& description() const { return given; }
  const Tree& tree() const { return model.tree(); }

  // --- Compilation

  LinkId link_of(const std::string& name, const char* whose) const {
    if (const auto found = model.find_link(name)) return *found;
    if (const auto frame = model.find_frame(name)) return model.frame_link(*frame);
    throw Error(fmt::format("{}: there is no link or frame '{}'", whose, name));
  }
  std::pair<int, Transform<>> place_of(const std::string& name, const Pose& pose, const char* whose) const {
    Transform<> X = to_transform(pose);
    if (name.empty()) return {-1, X};
    const auto frame = model.find_link(name) ? std::nullopt : model.find_frame(name);
    if (frame) X = to_transform(model.frame(*frame).origin) * X;
    const LinkPlacement& at = tree().links[size_t(link_of(name, whose).value())];
    // What is fixed to the world is placed in it; X_BL is then its pose there.
    return {at.body, at.X_BL * X};
  }

  std::vector<char> moved_by(int body) const {
    std::vector<char> out(size_t(model.nv()), 0);
    for (int i = body; i >= 0; i = tree().bodies[size_t(i)].parent) {
      const Body& b = tree().bodies[size_t(i)];
      for (int k = b.u; k < b.u + b.nu; ++k) {
        const CoordinateRow& r = tree().rows[size_t(k)];
        for (int t = r.begin; t < r.end; ++t) out[size_t(tree().terms[size_t(t)].column)] = 1;
      }
    }
    return out;
  }
  RowRange add_row(const std::vector<char>& used) {
    RowRange row{int(columns.size()), 0};
    for (size_t k = 0; k < used.size(); ++k) {
      if (used[k]) columns.push_back(int(k)), values.push_back(0);
    }
    row.count = int(columns.size()) - row.begin;
    return row;
  }
  RowRange add_row(const std::vector<std::pair<int, double>>& terms) {
    std::vector<char> used(size_t(model.nv()), 0);
    for (const auto& [column, ratio] : terms) used[size_t(column)] = 1;
    const RowRange row = add_row(used);
    for (const auto& [column, ratio] : terms) {
      for (int k = row.begin; k < row.begin + row.count; ++k) {
        if (columns[size_t(k)] == column) values[size_t(k)] += ratio;
      }
    }
    return row;
  }
  void need(int body) {
    if (body >= 0 && std::find(bodies.begin(), bodies.end(), body) == bodies.end()) bodies.push_back(body);
  }

  /// Entry of q of each column of v; −1 inside quaternions.
  std::vector<int> positions() const {
    std::vector<int> out(size_t(model.nv()), -1);
    for (int j = 0; j < model.joint_count(); ++j) {
      const CoordinateRange r = model.coordinates(JointId(j));
      for (int k = 0; r.nq == r.nv && k < r.nv; ++k) out[size_t(r.v + k)] = r.q + k;
    }
    return out;
  }
  void add_coordinate(const DofRef& dof, double scale, const std::vector<int>& position, CoordinateSum& sum,
                      std::vector<std::pair<int, double>>& terms) const {
    const Model::Row& row = model.row(model.joint_id(dof.joint), dof.index);
    for (const auto& [column, ratio] : row.terms) {
      terms.emplace_back(column, scale * ratio);
      if (position[size_t(column)] >= 0) sum.positions.emplace_back(position[size_t(column)], scale * ratio);
    }
    sum.offset += scale * row.offset;
  }

  void compile(bool effort_limits) {
    dense = Eigen::VectorXd::Zero(model.nv());
    X_WB.resize(size_t(tree().body_count()));
    const std::vector<int> position = positions();
    for (const TendonDescription& t : description().tendons) compile(t, position);
    for (const ActuatorDescription& a : description().actuators) compile(a, position);
    for (ActuatorData& a : actuators) a.acting_range = a.force_range;
    if (effort_limits) limit_efforts();
    pulls.reserve(8);
  }

  void compile(const TendonDescription& t, const std::vector<int>& position) {
    TendonData& out = tendons.emplace_back();
    if (t.path.empty()) {
      std::vector<std::pair<int, double>> terms;
      for (const TendonTerm& term : t.terms) add_coordinate(term.dof, term.ratio, position, out.sum, terms);
      out.row = add_row(terms);
      return;
    }
    const std::string whose = "tendon '" + t.name + "'";
    std::vector<char> used(size_t(model.nv()), 0);
    const auto use = [&](int body) {
      need(body);
      const std::vector<char> moved = moved_by(body);
      for (size_t k = 0; k < used.size(); ++k) used[k] |= moved[k];
    };
    for (const TendonPart& part : t.path) {
      PathPart& p = out.path.emplace_back();
      p.kind = part.kind, p.divisor = part.divisor, p.radius = part.radius, p.length = part.length;
      p.index = int(out.path.size()) - 1;
      if (part.kind == TendonPartKind::kPulley) continue;
      std::tie(p.body, p.X_BP) = place_of(part.at.link, part.at.pose, whose.c_str());
      if (!part.at.link.empty()) p.link = link_of(part.at.link, whose.c_str()).value();
      use(p.body);
      add_moving(part, p, position, out.moving);
      if (!part.side) continue;
      const auto [body, X] = place_of(part.side->link, part.side->pose, whose.c_str());
      p.has_side = true, p.side_body = body, p.side = X.p;
      need(body);
    }
    for (const MovingPart& m : out.moving)
      for (const auto& [column, ratio] : m.terms) used[size_t(column)] = 1;
    if (!out.moving.empty())
      for (const PathPart& p : out.path) out.at_rest.push_back(p.X_BP.p);
    out.row = add_row(used);
    reserve_trace(out.path, out.trace);
  }

  /// What of a part depends on coordinates.
  void add_moving(const TendonPart& part, const PathPart& placed, const std::vector<int>& position,
                  std::vector<MovingPart>& out) const {
    if (part.when) {
      MovingPart& m = out.emplace_back();
      m.part = placed.index, m.range = part.when->range;
      std::vector<std::pair<int, double>> none;
      add_coordinate(part.when->dof, 1, position, m.sum, none);
    }
    for (const TendonShift& shift : part.shifts) {
      MovingPart& m = out.emplace_back();
      m.part = placed.index, m.function = shift.function;
      if (const auto problem = m.function.prepare()) throw Error("a shift of a tendon: " + *problem);
      m.direction = shift.direction;
      if (placed.link >= 0) m.direction = tree().links[size_t(placed.link)].X_BL.R * shift.direction;
      add_coordinate(shift.dof, 1, position, m.sum, m.terms);
    }
  }

  void compile(const ActuatorDescription& a, const std::vector<int>& position) {
    ActuatorData& out = actuators.emplace_back();
    out.force_range = a.force_range;
    out.f = vec3(a.wrench.data()), out.t = vec3(a.wrench.data() + 3);
    const std::string whose = "actuator '" + a.name + "'";
    switch (a.transmission) {
      case Transmission::kJoint:
      case Transmission::kJointInParent:
        return compile_joint(a, position, out);
      case Transmission::kTendon: {
        out.kind = Kind::kTendon;
        const auto& all = description().tendons;
        const auto found = std::ranges::find(all, a.target, &TendonDescription::name);
        if (found == all.end()) throw Error(fmt::format("{}: there is no tendon '{}'", whose, a.target));
        out.tendon = int(found - all.begin());
        TendonData& t = tendons[size_t(out.tendon)];
        t.actuators.push_back(int(actuators.size()) - 1);
        std::vector<char> used(size_t(model.nv()), 0);
        for (int k = t.row.begin; k < t.row.begin + t.row.count; ++k) used[size_t(columns[size_t(k)])] = 1;
        out.row = add_row(used);
        return;
      }
      case Transmission::kSite:
      case Transmission::kSliderCrank: {
        const bool crank = a.transmission == Transmission::kSliderCrank;
        std::tie(out.a, out.X_A) = place_of(a.target, {}, whose.c_str());
        need(out.a);
        out.kind = crank ? Kind::kSliderCrank : Kind::kFrame;
        std::vector<char> used = moved_by(out.a);
        if (crank || !a.reference.empty()) {
          std::tie(out.b, out.X_B) = place_of(a.reference, {}, whose.c_str());
          need(out.b);
          const std::vector<char> other = moved_by(out.b);
          if (!crank) out.kind = Kind::kFramePair;
          // What moves both frames moves neither against the other.
          for (size_t k = 0; k < used.size(); ++k) used[k] = crank ? used[k] | other[k] : used[k] != other[k];
        }
        out.row = add_row(used);
        return;
      }
      case Transmission::kBody:
        return;
    }
  }

  void compile_joint(const ActuatorDescription& a, const std::vector<int>& position, ActuatorData& out) {
    if (a.dof.joint.empty()) {
      out.kind = Kind::kBase;
      if (model.base() != Base::kFree) throw Error("actuator '" + a.name + "': the figure has no free base");
      std::vector<char> used(size_t(model.nv()), 0);
      std::fill_n(used.begin(), 6, 1);
      out.row = add_row(used);
      return;
    }
    const JointId joint = model.joint_id(a.dof.joint);
    const CoordinateRange r = model.coordinates(joint);
    if (r.nq == 4 && a.wrench != std::array<double, 6>{}) {
      out.kind = Kind::kBall;
      out.q = r.q;
      std::vector<char> used(size_t(model.nv()), 0);
      std::fill_n(used.begin() + r.v, 3, 1);
      out.row = add_row(used);
      return;
    }
    out.kind = Kind::kSum;
    std::vector<std::pair<int, double>> terms;
    add_coordinate(a.dof, a.gear, position, out.sum, terms);
    out.row = add_row(terms);
    if (a.effort < kInfinity && a.gear != 0) {
      const double most = a.effort / std::abs(a.gear);
      out.force_range = {std::max(out.force_range.lower, -most), std::min(out.force_range.upper, most)};
    }
  }

  /// Limits of joints cut what all actuators together exert there.
  void limit_efforts() {
    std::vector<std::vector<int>> users(size_t(model.nv()));
    for (size_t i = 0; i < actuators.size(); ++i) {
      const RowRange& r = actuators[i].row;
      for (int k = r.begin; k < r.begin + r.count; ++k) users[size_t(columns[size_t(k)])].push_back(int(i));
    }
    for (int j = 0; j < model.joint_count(); ++j) {
      for (int k = 0; k < info(model.joint(JointId(j)).type).nv; ++k) {
        const Model::Row& row = model.row(JointId(j), k);
        const double effort = model.dof(JointId(j), k).effort;
        if (effort == kInfinity || row.terms.size() != 1 || row.terms[0].second == 0) continue;
        const auto [column, ratio] = row.terms[0];
        const std::vector<int>& by = users[size_t(column)];
        const double most = effort * std::abs(ratio);
        if (by.empty()) continue;
        ActuatorData& first = actuators[size_t(by[0])];
        const double arm = first.kind == Kind::kSum && first.row.count == 1 ? values[size_t(first.row.begin)] : 0;
        const bool shared = by.size() > 1 || arm == 0;
        limits.push_back({column, most, shared});
        if (shared) continue;
        const double force = most / std::abs(arm);
        Interval& range = first.acting_range;
        range = {std::max(range.lower, -force), std::min(range.upper, force)};
      }
    }
  }

  // --- At a state

  static double sum_of(const CoordinateSum& s, const Eigen::VectorXd& q) {
    double out = s.offset;
    for (const auto& [at, ratio] : s.positions) out += ratio * q[at];
    return out;
  }
  double rate_of(const RowRange& r, const Eigen::VectorXd& v) const {
    double out = 0;
    for (int k = r.begin; k < r.begin + r.count; ++k) out += values[size_t(k)] * v[columns[size_t(k)]];
    return out;
  }
  /// Values of a row from pulls at bodies.
  void gather(const Mechanics& m, std::span<const Pull> all, const RowRange& row) {
    for (const Pull& pull : all) {
      const Vec3<> r = pull.p - m.origin();
      if (pull.body >= 0) m.add_generalised(pull.body, {pull.t + cross(r, pull.f), pull.f}, dense.data());
    }
    for (int k = row.begin; k < row.begin + row.count; ++k) values[size_t(k)] = dense[columns[size_t(k)]];
    for (const Pull& pull : all) clear(pull.body);
  }
  void clear(int body) {
    for (int i = body; i >= 0; i = tree().bodies[size_t(i)].parent) {
      const Body& b = tree().bodies[size_t(i)];
      for (int k = b.u; k < b.u + b.nu; ++k) {
        const CoordinateRow& r = tree().rows[size_t(k)];
        for (int t = r.begin; t < r.end; ++t) dense[tree().terms[size_t(t)].column] = 0;
      }
    }
  }
  /// Points go where the coordinates put them, or are not there.
  static void move_parts(const Eigen::VectorXd& q, TendonData& t) {
    for (size_t i = 0; i < t.at_rest.size(); ++i) t.path[i].X_BP.p = t.at_rest[i], t.path[i].absent = false;
    for (const MovingPart& m : t.moving) {
      PathPart& part = t.path[size_t(m.part)];
      const double at = sum_of(m.sum, q);
      part.absent = part.absent || at < m.range.lower || at > m.range.upper;
      if (!m.terms.empty()) part.X_BP.p += m.function(at) * m.direction;
    }
  }
  /// ∂l/∂q by what moves on its link.
  void add_moved(const Eigen::VectorXd& q, const TendonData& t) {
    for (const MovingPart& m : t.moving) {
      if (m.terms.empty()) continue;
      const int body = t.path[size_t(m.part)].body;
      const Vec3<> direction = body < 0 ? m.direction : X_WB[size_t(body)].R * m.direction;
      double slope = 0;
      for (const Pull& pull : t.trace.pulls) slope += pull.part == m.part ? dot(pull.f, direction) : 0;
      slope *= m.function.derivative(sum_of(m.sum, q));
      for (const auto& [column, ratio] : m.terms)
        for (int k = t.row.begin; k < t.row.begin + t.row.count; ++k)
          if (columns[size_t(k)] == column) values[size_t(k)] += ratio * slope;
    }
  }
  Transform<> pose(int body, const Transform<>& X) const { return body < 0 ? X : X_WB[size_t(body)] * X; }

  void place(const Mechanics& m, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    for (const int body : bodies) X_WB[size_t(body)] = m.body_pose(body);
    for (TendonData& t : tendons) {
      if (t.path.empty()) {
        t.length = sum_of(t.sum, q);
      } else {
        move_parts(q, t);
        trace_path(t.path, X_WB, t.trace);
        t.length = t.trace.length;
        gather(m, t.trace.pulls, t.row);
        add_moved(q, t);
      }
      t.velocity = rate_of(t.row, v);
    }
    for (size_t i = 0; i < actuators.size(); ++i) place(m, q, description().actuators[i], actuators[i]);
    for (ActuatorData& a : actuators) a.velocity = rate_of(a.row, v);
  }

  void place(const Mechanics& m, const Eigen::VectorXd& q, const ActuatorDescription& d, ActuatorData& a) {
    pulls.clear();
    const auto put = [&](int k, const Vec3<>& x) {
      for (int i = 0; i < 3; ++i) values[size_t(a.row.begin + k + i)] = i == 0 ? x.x : i == 1 ? x.y : x.z;
    };
    const bool in_parent = d.transmission == Transmission::kJointInParent;
    switch (a.kind) {
      case Kind::kSum:
        a.length = sum_of(a.sum, q);
        return;
      case Kind::kBall: {
        const Quaternion<> r{q[a.q], q[a.q + 1], q[a.q + 2], q[a.q + 3]};
        const Mat3<> R = to_mat3(r);
        a.length = dot(log_rotation(R), a.t);
        return put(0, in_parent ? transpose_times(R, a.t) : a.t);
      }
      case Kind::kBase: {
        const Mat3<> R = to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]});
        put(0, in_parent ? transpose_times(R, a.t) : a.t);
        return put(3, transpose_times(R, a.f));
      }
      case Kind::kTendon: {
        const TendonData& t = tendons[size_t(a.tendon)];
        a.length = d.gear * t.length;
        for (int k = 0; k < a.row.count; ++k)
          values[size_t(a.row.begin + k)] = d.gear * values[size_t(t.row.begin + k)];
        return;
      }
      case Kind::kFrame: {
        const Transform<> X = pose(a.a, a.X_A);
        pulls.push_back({.body = a.a, .p = X.p, .f = X.R * a.f, .t = X.R * a.t});
        break;
      }
      case Kind::kFramePair: {
        const Transform<> X = pose(a.a, a.X_A), Y = pose(a.b, a.X_B);
        const Vec3<> f = Y.R * a.f, t = Y.R * a.t;
        a.length = dot(X.p - Y.p, f) + dot(log_rotation(transpose(Y.R) * X.R), a.t);
        pulls.push_back({.body = a.a, .p = X.p, .f = f, .t = t});
        pulls.push_back({.body = a.b, .p = Y.p, .f = -f, .t = -t});
        break;
      }
      case Kind::kSliderCrank: {
        const Transform<> X = pose(a.a, a.X_A), Y = pose(a.b, a.X_B);
        a.length = d.gear * trace_slider_crank(Y, a.b, X.p, a.a, d.crank_length, pulls);
        for (Pull& p : pulls) p.f = d.gear * p.f, p.t = d.gear * p.t;
        break;
      }
      case Kind::kNothing:
        return;
    }
    gather(m, pulls, a.row);
  }

  MomentRow moment(const RowRange& r) const {
    return {{columns.data() + r.begin, size_t(r.count)}, {values.data() + r.begin, size_t(r.count)}};
  }
};

Actuation::Actuation(const Model& model, ActuationDescription description, bool effort_limits)
    : impl_(std::make_unique<Impl>(model, std::move(description), effort_limits)) {}
Actuation::Actuation(Actuation&&) noexcept = default;
Actuation& Actuation::operator=(Actuation&&) noexcept = default;
Actuation::~Actuation() = default;

int Actuation::tendon_count() const { return int(impl_->tendons.size()); }
int Actuation::actuator_count() const { return int(impl_->actuators.size()); }
const ActuatorDescription& Actuation::actuator(int i) const { return impl_->description().actuators.at(size_t(i)); }
const TendonDescription& Actuation::tendon(int i) const { return impl_->description().tendons.at(size_t(i)); }
int Actuation::find_actuator(std::string_view name) const {
  const auto& all = impl_->description().actuators;
  const auto found = std::ranges::find(all, name, &ActuatorDescription::name);
  return found == all.end() ? -1 : int(found - all.begin());
}
int Actuation::find_tendon(std::string_view name) const {
  const auto& all = impl_->description().tendons;
  const auto found = std::ranges::find(all, name, &TendonDescription::name);
  return found == all.end() ? -1 : int(found - all.begin());
}

void Actuation::place(const State& state) {
  check_size("Actuation::place", "q", state.q.size(), impl_->model.nq());
  check_size("Actuation::place", "v", state.v.size(), impl_->model.nv());
  if (!impl_->own) impl_->own = std::make_unique<Mechanics>(impl_->model);
  impl_->own->set_pose(state.q.data());
  impl_->own->set_motion(state.v.data());
  impl_->place(*impl_->own, state.q, state.v);
}
void Actuation::place(const Mechanics& mechanics, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  impl_->place(mechanics, q, v);
}

double Actuation::tendon_length(int i) const { return impl_->tendons.at(size_t(i)).length; }
double Actuation::tendon_velocity(int i) const { return impl_->tendons.at(size_t(i)).velocity; }
MomentRow Actuation::tendon_moment(int i) const { return impl_->moment(impl_->tendons.at(size_t(i)).row); }
std::span<const Vec3<>> Actuation::tendon_points(int i) const { return impl_->tendons.at(size_t(i)).trace.points; }
std::span<const Pull> Actuation::tendon_pulls(int i) const { return impl_->tendons.at(size_t(i)).trace.pulls; }
double Actuation::actuator_length(int i) const { return impl_->actuators.at(size_t(i)).length; }
double Actuation::actuator_velocity(int i) const { return impl_->actuators.at(size_t(i)).velocity; }
MomentRow Actuation::actuator_moment(int i) const { return impl_->moment(impl_->actuators.at(size_t(i)).row); }

ActuatorForce Actuation::force(int i, double u, double x) const {
  const ActuatorDescription& d = impl_->description().actuators[size_t(i)];
  const ActuatorData& a = impl_->actuators[size_t(i)];
  const double control = d.control_range.clamp(u);
  const double input = d.activation == ActivationLaw::kNone ? control : x;
  ActuatorForce out;
  const LawNumbers &g = d.gain_numbers, &b = d.bias_numbers;
  switch (d.gain) {
    case GainLaw::kFixed:
      out.force = g[0] * input;
      break;
    case GainLaw::kAffine:
      out.force = (g[0] + g[1] * a.length + g[2] * a.velocity) * input;
      out.d_length = g[1] * input, out.d_velocity = g[2] * input;
      break;
    case GainLaw::kMuscle: {
      const MuscleValue m = muscle_gain(a.length, a.velocity, d.length_range, g);
      out.force = m.value * input, out.d_length = m.d_length * input, out.d_velocity = m.d_velocity * input;
      break;
    }
    case GainLaw::kHill: {
      const MuscleValue m = hill_gain(a.length, a.velocity, d.hill);
      out.force = m.value * input, out.d_length = m.d_length * input, out.d_velocity = m.d_velocity * input;
      break;
    }
  }
  if (d.bias == BiasLaw::kAffine) {
    out.force += b[0] + b[1] * a.length + b[2] * a.velocity;
    out.d_length += b[1], out.d_velocity += b[2];
  } else if (d.bias == BiasLaw::kMuscle) {
    const MuscleValue m = muscle_bias(a.length, d.length_range, b);
    out.force += m.value, out.d_length += m.d_length;
  } else if (d.bias == BiasLaw::kHill) {
    const MuscleValue m = hill_bias(a.length, d.hill);
    out.force += m.value, out.d_length += m.d_length;
  }
  out.clamped = control != u;
  const double force = a.force_range.clamp(out.force);
  if (force != out.force) out = {force, 0, 0, true};
  return out;
}

bool Actuation::is_idle(int i, double u, double x) const {
  const ActuatorDescription& d = impl_->description().actuators[size_t(i)];
  return d.bias == BiasLaw::kNone && u == 0 && x == 0 && d.control_range.clamp(0) == 0;
}

double Actuation::activation_rate(int i, double u, double x) const {
  const ActuatorDescription& d = impl_->description().actuators[size_t(i)];
  const double control = d.control_range.clamp(u);
  switch (d.activation) {
    case ActivationLaw::kNone:
      return 0;
    case ActivationLaw::kIntegrator:
      return control;
    case ActivationLaw::kFilter:
      return (control - x) / std::max(d.activation_numbers[0], 1e-15);
    case ActivationLaw::kMuscle:
      return muscle_activation_rate(control, x, d.activation_numbers);
  }
  return 0;
}

double Actuation::next_activation(int i, double u, double x, double h) const {
  const ActuatorDescription& d = impl_->description().actuators[size_t(i)];
  if (d.activation == ActivationLaw::kNone) return 0;
  if (d.activation == ActivationLaw::kFilter) {  // exact, however short its time constant
    const double control = d.control_range.clamp(u), tau = std::max(d.activation_numbers[0], 1e-15);
    return d.activation_range.clamp(control + (x - control) * std::exp(-h / tau));
  }
  return d.activation_range.clamp(x + h * activation_rate(i, u, x));
}

void Actuation::forces(const Eigen::Ref<const Eigen::VectorXd>& u, const Eigen::Ref<const Eigen::VectorXd>& x,
                       std::span<ActuatorForce> out) const {
  for (size_t i = 0; i < out.size(); ++i) out[i] = force(int(i), u[long(i)], x[long(i)]);
  const auto& tendons = impl_->description().tendons;
  for (size_t t = 0; t < tendons.size(); ++t) {  // actuators on one tendon are cut together
    const std::vector<int>& on = impl_->tendons[t].actuators;
    if (on.empty() || !tendons[t].effort.is_bounded()) continue;
    double sum = 0;
    for (const int i : on) sum += out[size_t(i)].force;
    const double allowed = tendons[t].effort.clamp(sum);
    if (allowed == sum) continue;
    for (const int i : on) out[size_t(i)] = {out[size_t(i)].force * allowed / sum, 0, 0, true};
  }
}

void Actuation::add_torques(std::span<const ActuatorForce> forces, double* tau) const {
  Impl& w = *impl_;
  for (size_t i = 0; i < forces.size(); ++i) {
    const RowRange& r = w.actuators[i].row;
    for (int k = r.begin; k < r.begin + r.count; ++k)
      tau[w.columns[size_t(k)]] += w.values[size_t(k)] * forces[i].force;
  }
}
std::span<const Actuation::EffortLimit> Actuation::effort_limits() const { return impl_->limits; }
const Interval& Actuation::acting_range(int i) const { return impl_->actuators[size_t(i)].acting_range; }

Eigen::VectorXd Actuation::torques(const Eigen::Ref<const Eigen::VectorXd>& u,
                                   const Eigen::Ref<const Eigen::VectorXd>& x) const {
  check_size("Actuation::torques", "u", u.size(), actuator_count());
  check_size("Actuation::torques", "x", x.size(), actuator_count());
  std::vector<ActuatorForce> all(impl_->actuators.size());
  forces(u, x, all);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(impl_->model.nv());
  add_torques(all, tau.data());
  for (const EffortLimit& l : effort_limits()) tau[l.column] = std::clamp(tau[l.column], -l.effort, l.effort);
  return tau;
}

}  // namespace kansetsu
