#include "kansetsu/sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actuation/plan.h"
#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "sim/actuators.h"
#include "sim/assembly.h"
#include "sim/collisions.h"
#include "sim/impl.h"
#include "sim/medium.h"
#include "sim/require.h"
#include "sim/standing.h"

namespace kansetsu {
namespace {

constexpr int kMostThreads = 256;

void check_state(const Model& model, const State& state, const std::string& figure, const char* function) {
  check_size(function, "q", state.q.size(), model.nq());
  check_size(function, "v", state.v.size(), model.nv());
  if (const auto problem = configuration_problem(model, state.q))
    throw Error(fmt::format("{}: figure '{}': {}", function, figure, *problem));
  if (!state.v.allFinite()) throw Error(fmt::format("{}: figure '{}': v is not finite", function, figure));
}

void check_control(const FigureData& f, const char* function, const Eigen::Ref<const Eigen::VectorXd>& u) {
  for (long i = 0; i < u.size(); ++i) {
    if (!std::isfinite(u[i]))
      throw Error(fmt::format("{}: figure '{}', actuator '{}': {}", function, f.options.name,
                              f.actuators.actuation.actuator(int(i)).name, u[i]));
  }
}

}  // namespace

World::Impl::Impl(const WorldOptions& o) : WorldState(o), standing(std::make_unique<StandingStep>()) {
  const auto require = [](bool fine, const char* what, double value, const char* wanted) {
    if (!fine) throw Error(fmt::format("World: {} is {}, it must be {}", what, value, wanted));
  };
  require(o.time_step > 0 && std::isfinite(o.time_step), "the time step", o.time_step, "above zero");
  require(o.tolerance > 0 && o.tolerance < 1, "the tolerance", o.tolerance, "between 0 and 1");
  require(o.contact_margin >= 0 && std::isfinite(o.contact_margin), "the contact margin", o.contact_margin,
          "zero or more");
  require_finite(o.gravity, "World", "gravity");
  require(o.threads >= 1 && o.threads <= kMostThreads, "the number of threads", o.threads, "1 to 256");
  if (o.threads > 1) pool = std::make_unique<ThreadPool>(o.threads);
  contacts.pool = pool.get();
}

FigureData& World::Impl::data(FigureId id, const char* function) const {
  if (id.value() < 0 || id.value() >= int(figures.size()))
    throw Error(fmt::format("{}: there is no figure {}, the world has {}", function, id.value(), figures.size()));
  return *figures[size_t(id.value())];
}

void World::Impl::require_body(const BodyRef& body, const char* function) const {
  if (body.is_world()) return;
  const FigureData& f = data(body.figure, function);
  if (body.link.value() < 0 || body.link.value() >= f.model.link_count())
    throw Error(fmt::format("{}: figure '{}' has no link {}", function, f.options.name, body.link.value()));
}

World::World(const WorldOptions& options) : impl_(std::make_unique<Impl>(options)) {}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

FigureId World::add(const Model& model, const FigureOptions& options) { return add(model, State(model), options); }

FigureId World::add(const Model& model, const State& state, const FigureOptions& options) {
  impl_->changed();
  impl_->ledger.reset();
  impl_->sleeping.wake_all();
  const FigureId id(int(impl_->figures.size()));
  FigureOptions named = options;
  if (named.name.empty()) named.name = model.name();
  for (const auto& f : impl_->figures) {
    if (f->options.name == named.name) throw Error("World::add: there is already a figure '" + named.name + "'");
  }
  check_state(model, state, named.name, "World::add");
  MaterialTable().add(named.material);  // throws for invalid numbers, before anything has changed
  impl_->figures.push_back(std::make_unique<FigureData>(with_gravity(model, impl_->options.gravity), named));
  FigureData& f = *impl_->figures.back();
  if (!f.options.switches.rotor_inertia) {
    ModelDescription description = f.model.description();
    for (JointDescription& joint : description.joints) {
      for (DofDescription& dof : joint.dofs) dof.rotor_inertia = 0;
    }
    impl_->figures.back() = std::make_unique<FigureData>(value_or_throw(Model::build(std::move(description))), named);
  }
  list_medium_parts(*impl_->figures.back(), impl_->options.medium);
  const MaterialId material = named.material == ContactMaterial{} || !named.collides
                                  ? MaterialId(0)
                                  : impl_->contacts.materials().add(named.material);
  add_shapes(*impl_, id.value(), [&](LinkId, const LinkShape& s) -> std::optional<ShapeTraits> {
    if (!named.collides || std::holds_alternative<Mesh>(s.shape)) return std::nullopt;  // a mesh by reference only
    return ShapeTraits{material};
  });
  filter_self_collisions(*impl_, id.value());
  set_state(id, state);
  return id;
}

ShapeId World::add_fixed(const Shape& shape, const Transform<>& X_WS, const ContactMaterial& material,
                         std::string name) {
  return add_moving(shape, X_WS, std::nullopt, {}, material, std::move(name));
}

ShapeId World::add_moving(const Shape& shape, const Transform<>& X_WS, const std::optional<PrescribedMotion>& motion,
                          const Vec3<>& surface_velocity, const ContactMaterial& material, std::string name) {
  impl_->changed();
  impl_->sleeping.wake_all();
  require_pose(X_WS, "World::add_fixed, add_moving", "X_WS");
  require_finite(surface_velocity, "World::add_moving", "the surface velocity");
  if (motion) require_motion(*motion, "World::add_moving");
  const MaterialId id = material == ContactMaterial{} ? MaterialId(0) : impl_->contacts.materials().add(material);
  const bool moves = motion.has_value() || surface_velocity != Vec3<>{};
  return ShapeId(impl_->contacts.add({.geometry = Geometry(shape),
                                      .X_BS = X_WS,
                                      .material = id,
                                      .name = std::move(name),
                                      .moves = moves,
                                      .motion = motion,
                                      .surface_velocity = surface_velocity},
                                     0, {}));
}

int World::figure_count() const { return int(impl_->figures.size()); }
const Model& World::model(FigureId id) const { return impl_->data(id, "World::model").model; }
const std::string& World::name(FigureId id) const { return impl_->data(id, "World::name").options.name; }

FigureId World::figure(std::string_view name) const {
  for (size_t i = 0; i < impl_->figures.size(); ++i) {
    if (impl_->figures[i]->options.name == name) return FigureId(int(i));
  }
  std::string known;
  for (const auto& f : impl_->figures) known += (known.empty() ? "" : ", ") + f->options.name;
  throw Error(fmt::format("World::figure: unknown figure '{}'; known: {}", name, known));
}
BodyRef World::body(std::string_view figure_name, std::string_view link) const {
  if (figure_name.empty() && link.empty()) return kWorldBody;
  const FigureId id = figure(figure_name);
  return {id, model(id).link_id(link)};
}

double World::time() const { return impl_->time; }
double World::time_step() const { return impl_->options.time_step; }
State World::state(FigureId id) const { return {q(id), v(id)}; }
const Eigen::VectorXd& World::q(FigureId id) const { return impl_->data(id, "World::q").q; }
const Eigen::VectorXd& World::v(FigureId id) const { return impl_->data(id, "World::v").v; }
const Eigen::VectorXd& World::vdot(FigureId id) const { return impl_->data(id, "World::vdot").vdot; }
const Eigen::VectorXd& World::effort(FigureId id) const { return impl_->data(id, "World::effort").effort; }

void World::set_state(FigureId id, const State& state) {
  FigureData& f = impl_->data(id, "World::set_state");
  check_state(f.model, state, f.options.name, "World::set_state");
  impl_->changed();
  impl_->ledger.reset();
  impl_->sleeping.wake(id.value());
  f.q = state.q;
  normalise(f.model, f.q);
  f.v = state.v;
  f.vdot.setZero();
  f.mechanics.set_pose(f.q.data());
  f.mechanics.set_motion(f.v.data());
  if (f.actuators.any()) place_actuators(f);
}
void World::set_control(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& u) {
  FigureData& f = impl_->data(id, "World::set_control");
  check_size("World::set_control", "u", u.size(), f.actuators.control.size());
  check_control(f, "World::set_control", u);
  if (f.actuators.control == u) return;
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.control = u;
}
void World::set_control(FigureId id, std::string_view actuator, double u) {
  FigureData& f = impl_->data(id, "World::set_control");
  const int i = f.actuators.actuation.find_actuator(actuator);
  if (i < 0) {
    std::string known;
    for (const ActuatorReport& a : f.actuators.reports) known += (known.empty() ? "" : ", ") + std::string(a.name);
    throw Error(fmt::format("World::set_control: figure '{}' has no actuator '{}'; known: {}", f.options.name, actuator,
                            known.empty() ? "none" : known));
  }
  if (!std::isfinite(u)) throw Error(fmt::format("World::set_control: actuator '{}': {}", actuator, u));
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.control[i] = u;
}
const Eigen::VectorXd& World::control(FigureId id) const { return impl_->data(id, "World::control").actuators.control; }
const Eigen::VectorXd& World::activation(FigureId id) const {
  return impl_->data(id, "World::activation").actuators.activation;
}
void World::set_activation(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& activation) {
  FigureData& f = impl_->data(id, "World::set_activation");
  check_size("World::set_activation", "activation", activation.size(), f.actuators.activation.size());
  check_control(f, "World::set_activation", activation);
  impl_->changed();
  impl_->sleeping.wake(id.value());
  f.actuators.activation.setZero();  // of those that have none
  for (const int i : f.actuators.actuation.plan().activated) f.actuators.activation[i] = activation[i];
}
std::span<const ActuatorReport> World::actuators(FigureId id) const {
  FigureData& f = impl_->data(id, "World::actuators");
  report_actuators(f);
  return f.actuators.reports;
}
const Eigen::VectorXd& World::torque(FigureId id) const { return impl_->data(id, "World::torque").torque; }
void World::set_torque(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& tau) {
  FigureData& f = impl_->data(id, "World::set_torque");
  check_size("World::set_torque", "tau", tau.size(), f.model.nv());
  if (f.nap >= 0 && tau != f.torque) impl_->sleeping.wake(id.value());
  std::copy_n(tau.data(), tau.size(), f.torque.data());
}
void World::apply_wrench(BodyRef body, const Force<>& F, const Vec3<>& p_W) {
  if (body.is_world()) return;
  impl_->require_body(body, "World::apply_wrench");
  FigureData& f = impl_->data(body.figure, "World::apply_wrench");
  impl_->refresh();
  impl_->sleeping.wake(body);
  const Vec3<> r = p_W - f.mechanics.origin();
  f.mechanics.add_generalised(f.mechanics.body_of(body.link), {F.t + cross(r, F.f), F.f}, f.external.data());
  f.has_external = true;
  impl_->wrenches.emplace_back(body, Force<>{F.t + cross(p_W, F.f), F.f});
}
Transform<> World::pose(BodyRef body) const {
  if (body.is_world()) return {};
  impl_->require_body(body, "World::pose");
  impl_->refresh();
  return impl_->data(body.figure, "World::pose").mechanics.link_pose(body.link);
}
Motion<> World::velocity(BodyRef body) const {
  if (body.is_world()) return {};
  impl_->require_body(body, "World::velocity");
  impl_->refresh();
  const Mechanics& m = impl_->data(body.figure, "World::velocity").mechanics;
  const Motion<> V = m.velocity(m.body_of(body.link));
  return {V.w, V.v + cross(V.w, m.link_pose(body.link).p - m.origin())};
}

double World::kinetic_energy() const { return kansetsu::kinetic_energy(*impl_); }
double World::potential_energy() const { return kansetsu::potential_energy(*impl_); }
Vec3<> World::momentum() const {
  Vec3<> sum{};
  for (const auto& f : impl_->figures) {
    State s;
    s.q = f->q, s.v = f->v;
    sum += centroidal(f->model, s).h.f;
  }
  return sum;
}
Vec3<> World::angular_momentum(const Vec3<>& about_W) const {
  Vec3<> sum{};
  for (const auto& f : impl_->figures) {
    State s;
    s.q = f->q, s.v = f->v;
    const Centroidal c = centroidal(f->model, s);
    sum += c.h.t + cross(c.com - about_W, c.h.f);
  }
  return sum;
}

void World::on_step(Callback callback) {
  impl_->changed();
  impl_->callbacks.push_back(std::move(callback));
}
void World::on_contact(ContactCallback callback) {
  impl_->changed();
  impl_->contact_callbacks.push_back(std::move(callback));
}
void World::add_controller(const ControllerDescription& controller) {
  const FigureId id = figure(controller.figure);
  for (const Controller& c : impl_->controllers) {
    if (c.description.name == controller.name && !controller.name.empty())
      throw Error("World::add_controller: there is already a controller '" + controller.name + "'");
  }
  impl_->changed();
  impl_->sleeping.wake(id.value());
  impl_->controllers.push_back(
      make_controller(controller, id.value(), impl_->data(id, "World::add_controller"), impl_->options.seed));
}
std::vector<std::string> World::controller_names() const {
  std::vector<std::string> names;
  for (const Controller& c : impl_->controllers) names.push_back(c.description.name);
  return names;
}
Controller& World::Impl::controller(std::string_view name, const char* function) {
  std::string known;
  for (Controller& c : controllers) {
    if (c.description.name == name) return c;
    known += (known.empty() ? "" : ", ") + c.description.name;
  }
  throw Error(fmt::format("{}: unknown controller '{}'; known: {}", function, name, known.empty() ? "none" : known));
}
ControllerDescription World::controller(std::string_view name) const {
  const Controller& c = impl_->controller(name, "World::controller");
  ControllerDescription description = c.description;
  description.active = c.state.active;
  return description;
}
void World::set_controller(const ControllerDescription& controller) {
  impl_->changed();
  Controller& c = impl_->controller(controller.name, "World::set_controller");
  const auto same_dof = [](const JointControl& a, const JointControl& b) { return a.dof == b.dof; };
  const bool fits = controller.figure == c.description.figure && controller.kind == c.description.kind &&
                    std::ranges::equal(controller.joints, c.description.joints, same_dof);
  if (!fits)
    throw Error("World::set_controller: '" + controller.name + "' drives another figure, or its joints otherwise");
  if (controller.active != c.state.active) {
    c.state.active = controller.active;
    impl_->reports.note(impl_->time, c.state.active ? EventKind::kControllerStarted : EventKind::kControllerStopped,
                        controller.name);
  }
  impl_->sleeping.wake(c.figure);
  ControllerState state = std::move(c.state);
  c = make_controller(controller, c.figure, *impl_->figures[size_t(c.figure)], impl_->options.seed);
  c.state = std::move(state);
}

Vec3<> World::gravity() const { return impl_->options.gravity; }
void World::set_gravity(const Vec3<>& gravity) {
  impl_->changed();
  impl_->ledger.reset();
  require_finite(gravity, "World::set_gravity", "gravity");
  impl_->options.gravity = gravity;
  impl_->sleeping.wake_all();
  for (const auto& f : impl_->figures) {
    f->model = with_gravity(f->model, gravity);
    f->mechanics = Mechanics(f->model);
    f->mechanics.set_pose(f->q.data());
    f->mechanics.set_motion(f->v.data());
  }
}

void World::add_spring(BodyRef a, const Vec3<>& p_A, BodyRef b, const Vec3<>& p_B, const SpringDescription& spring) {
  for (const BodyRef& body : {a, b}) impl_->require_body(body, "World::add_spring");
  if (a.is_world() && b.is_world()) throw Error("World::add_spring: one end must be a link of a figure");
  for (const Vec3<>& p : {p_A, p_B}) require_finite(p, "World::add_spring", "an end");
  require_finite({spring.stiffness, spring.damping, spring.rest_length.value_or(0)}, "World::add_spring",
                 "(stiffness, damping, rest length)");
  require_not_negative(spring.stiffness, "World::add_spring", "the stiffness");
  require_not_negative(spring.damping, "World::add_spring", "the damping");
  require_not_negative(spring.rest_length.value_or(0), "World::add_spring", "the rest length");
  impl_->changed();
  impl_->ledger.reset();
  impl_->sleeping.wake(a), impl_->sleeping.wake(b);
  const double length = norm(pose(b) * p_B - pose(a) * p_A);
  impl_->springs.push_back({a, b, p_A, p_B, spring, spring.rest_length.value_or(length)});
}

int World::advance(double seconds) {
  const double end = impl_->time + seconds - 0.5 * impl_->options.time_step;
  int steps = 0;
  while (impl_->status == WorldStatus::kRunning && impl_->time < end) step(), ++steps;
  return steps;
}
WorldStatus World::status() const { return impl_->status; }
const std::string& World::failure() const { return impl_->failure; }
const StepReport& World::report() const { return impl_->reports.step; }
const WorldTotals& World::totals() const { return impl_->reports.totals; }
const std::vector<Event>& World::events() const { return impl_->reports.events; }

const std::vector<double>& World::sensor(std::string_view name) const {
  for (const SensorData& s : impl_->sensors.list) {
    if (s.description.name == name) return s.value;
  }
  throw Error(fmt::format("World::sensor: unknown sensor '{}'", name));
}
std::vector<std::string> World::sensor_names() const {
  std::vector<std::string> out;
  for (const SensorData& s : impl_->sensors.list) out.push_back(s.description.name);
  return out;
}
std::vector<double> World::sensor_values() const {
  std::vector<double> out;
  for (const SensorData& s : impl_->sensors.list) out.insert(out.end(), s.value.begin(), s.value.end());
  return out;
}
void World::sense() {
  Impl& w = *impl_;
  w.changed();
  w.contacts.touches().clear();
  w.reports.contacts.clear();
  w.islands.find(w.figures, w.connections, w.contacts);
  w.smooth.evaluate(w.time, w.options.time_step);
  w.forces.finish(0);
  w.sensors.read();
  w.is_current = false;
}

bool World::asleep(FigureId id) const { return impl_->data(id, "World::asleep").nap >= 0; }
void World::wake(FigureId id) {
  impl_->data(id, "World::wake");
  impl_->sleeping.wake(id.value());
}

World::AssemblyReport World::assemble(double tolerance, int max_iterations) {
  if (!(tolerance >= 0) || max_iterations < 0) {
    throw Error(fmt::format("World::assemble: the tolerance is {} and max_iterations {}, expected 0 or more", tolerance,
                            max_iterations));
  }
  Impl& w = *impl_;
  w.ledger.reset();
  w.sleeping.wake_all();
  return Assembler(w, w.islands, w.bilateral).assemble(tolerance, max_iterations);
}

}  // namespace kansetsu
