#include "world_handle.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "errors.h"
#include "inputs.h"
#include "kansetsu/ik/task.h"
#include "progress.h"

namespace kansetsu::python {
namespace {

bool differs(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() > 0 && std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(double)) != 0;
}

constexpr std::int64_t kStepsBetweenSignals = 64;

}  // namespace

WorldHandle::WorldHandle(World w, SceneDescription s) : world(std::move(w)), scene(std::move(s)) {}

WorldHandle::~WorldHandle() {
  // Threads of the parent cannot be joined after a fork: the child never destroys their world.
  if (forks_ != fork_count()) (void)new World(std::move(world));
}

FigureMirror& WorldHandle::mirror(FigureId id) {
  const auto i = size_t(id.value());
  if (mirrors_.size() <= i) mirrors_.resize(i + 1);
  if (!mirrors_[i]) {
    mirrors_[i] = std::make_unique<FigureMirror>();
    pull(id);
  }
  return *mirrors_[i];
}

ModelObject WorldHandle::model(FigureId id) {
  const auto i = size_t(id.value());
  if (models_.size() <= i) models_.resize(i + 1);
  if (!models_[i].is_valid()) models_[i] = nb::cast(handle_of(world.model(id)), nb::rv_policy::take_ownership);
  return models_[i];
}

void WorldHandle::set_model(FigureId id, nb::object model) {
  const auto i = size_t(id.value());
  if (models_.size() <= i) models_.resize(i + 1);
  models_[i] = std::move(model);
}

void WorldHandle::forget_model(FigureId id) {
  if (const auto i = size_t(id.value()); i < models_.size()) models_[i].reset();
}

void WorldHandle::push() {
  for (size_t i = 0; i < mirrors_.size(); ++i) {
    if (!mirrors_[i]) continue;
    FigureMirror& m = *mirrors_[i];
    const FigureId id{int(i)};
    if (differs(m.tau, m.tau_known)) {
      const std::string what = fmt::format("tau of figure '{}'", world.name(id));
      require_finite({"World", what.c_str(), dof_name, &world.model(id)}, m.tau.data(), m.tau.size());
      world.set_torque(id, m.tau);
      m.tau_known = m.tau;
    }
    if (differs(m.control, m.control_known)) {
      world.set_control(id, m.control);
      m.control_known = m.control;
    }
    if (differs(m.activation, m.activation_known)) {
      world.set_activation(id, m.activation);
      m.activation_known = m.activation;
    }
    if (!differs(m.q, m.q_known) && !differs(m.v, m.v_known)) continue;
    State state;
    state.q = m.q, state.v = m.v;
    world.set_state(id, state);
    m.q_known = m.q, m.v_known = m.v;
  }
}

void WorldHandle::pull(FigureId id) {
  FigureMirror& m = *mirrors_[size_t(id.value())];
  m.q = world.q(id), m.v = world.v(id), m.tau = world.torque(id), m.vdot = world.vdot(id), m.effort = world.effort(id);
  m.control = world.control(id), m.activation = world.activation(id);
  m.q_known = m.q, m.v_known = m.v, m.tau_known = m.tau;
  m.control_known = m.control, m.activation_known = m.activation;
}

void WorldHandle::pull() {
  for (size_t i = 0; i < mirrors_.size(); ++i) {
    if (mirrors_[i]) pull(FigureId(int(i)));
  }
}

WorldHandle::Call::Call(WorldHandle& w, const char* function, Kind kind) : w_(w) {
  if (w.forks_ != fork_count())
    raise_error("BusyError", fmt::format("{}: this process was forked from the one that made the world; create it in "
                                         "this process, or start processes with 'spawn'",
                                         function));
  Use expected = Use::kFree;
  if (w.use_.compare_exchange_strong(expected, Use::kBusy, std::memory_order_acquire)) {
    w.owner_ = std::this_thread::get_id();
  } else if (expected == Use::kCallback && kind == Kind::kAny && w.owner_ == std::this_thread::get_id()) {
    nested_ = true;
  } else if (expected == Use::kCallback && w.owner_ == std::this_thread::get_id()) {
    raise_error("BusyError", fmt::format("{}: not from a callback of a step", function));
  } else {
    raise_error("BusyError", fmt::format("{}: the world is in use by another thread", function));
  }
  try {
    w.push();
  } catch (...) {
    w.pull();  // refused values are discarded
    if (!nested_) w.use_.store(Use::kFree, std::memory_order_release);
    throw;
  }
}

WorldHandle::Call::~Call() {
  w_.pull();
  if (!nested_) w_.use_.store(Use::kFree, std::memory_order_release);
}

std::int64_t WorldHandle::step(std::int64_t count, const char* function, nb::handle progress) {
  const Teller teller(progress);
  const Call call(*this, function, Call::Kind::kStep);
  std::int64_t done = 0;
  while (done < count && world.status() == WorldStatus::kRunning) {
    {
      nb::gil_scoped_release release;
      for (std::int64_t i = 0;
           i < kStepsBetweenSignals && done < count && !raised_ && world.status() == WorldStatus::kRunning; ++i) {
        world.step();
        ++done;
        for (const auto& r : recordings) r->recorder.add(world);
      }
    }
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    if (count > 1) teller.look(double(done), double(count));
  }
  if (world.status() == WorldStatus::kFailed)
    raise_error("WorldError", fmt::format("{}: the world stopped {}", function, world.failure()));
  return done;
}

void WorldHandle::on_step(nb::object callback, nb::handle self) {
  const Call call(*this, "World.on_step");
  if (!PyCallable_Check(callback.ptr())) raise_type("World.on_step: the callback is not callable");
  const size_t index = callbacks_.size();
  callbacks_.push_back(std::move(callback));
  // Callbacks do not own the world, which outlives them: a reference would be a cycle.
  world.on_step([this, index, self](World&, double time) {
    if (raised_) return;
    nb::gil_scoped_acquire acquire;
    pull();
    use_.store(Use::kCallback, std::memory_order_release);
    try {
      if (index < callbacks_.size()) callbacks_[index](nb::borrow(self), time);
      push();
    } catch (...) {
      raised_ = std::current_exception();
    }
    use_.store(Use::kBusy, std::memory_order_release);
  });
}

int WorldHandle::traverse(visitproc visit, void* arg) {
  for (const nb::object& callback : callbacks_) Py_VISIT(callback.ptr());
  return 0;
}

void WorldHandle::clear() { callbacks_.clear(); }

FigureId read_figure(WorldHandle& w, const char* function, nb::handle value) {
  if (nb::isinstance<FigureHandle>(value)) {
    const auto& f = nb::cast<const FigureHandle&>(value);
    if (&f.get() != &w) raise_value(fmt::format("{}: the figure is in another world", function));
    return f.id;
  }
  std::string name;
  if (!nb::try_cast(value, name)) {
    raise_type(fmt::format("{}: '{}' is not a figure, expected a Figure or its name", function,
                           nb::type_name(value.type()).c_str()));
  }
  return w.world.figure(name);
}

BodyArgument read_body(WorldHandle& w, const char* function, nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<BodyHandle>(value)) {
    const auto& b = nb::cast<const BodyHandle&>(value);
    if (&b.get() != &w) raise_value(fmt::format("{}: the body is in another world", function));
    return {b.body, b.X_LF};
  }
  if (nb::isinstance<FigureHandle>(value)) return {{read_figure(w, function, value), LinkId(0)}};
  std::string figure, link;
  std::pair<std::string, std::string> both;
  if (nb::try_cast(value, figure)) {
    const size_t at = figure.rfind('/');
    // Names of figures may contain slashes: the part after the last one is a link, unless the whole name is that of a figure.
    for (int i = 0; i < w.world.figure_count(); ++i) {
      if (w.world.name(FigureId(i)) == figure) return {{FigureId(i), LinkId(0)}};
    }
    if (at != std::string::npos) link = figure.substr(at + 1), figure.resize(at);
  } else if (nb::try_cast(value, both)) {
    std::tie(figure, link) = both;
  } else {
    raise_type(fmt::format(
        "{}: '{}' is not a body, expected a Body, a Figure, 'figure/link', ('figure', 'link') or None for the world",
        function, nb::type_name(value.type()).c_str()));
  }
  const FigureId id = w.world.figure(figure);
  if (link.empty()) return {{id, LinkId(0)}};
  const ik::FrameOn on = ik::frame_on(w.world.model(id), link);
  return {{id, on.link}, on.X_LF};
}

}  // namespace kansetsu::python
