#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "arrays.h"
#include "cli/recording.h"
#include "kansetsu/sim/world.h"
#include "model_handle.h"

namespace kansetsu::python {

/// Arrays of one figure for Python. Before each use of the world they are compared with the values last exchanged, and changes are
/// passed on; afterwards they are filled again. So they are live without exposing the memory of the world.
struct FigureMirror {
  Eigen::VectorXd q, v, tau, vdot, effort, control, activation;
  Eigen::VectorXd q_known, v_known, tau_known, control_known, activation_known;
};

/// A recording in progress.
struct OpenRecording {
  cli::WorldRecorder recorder;
  bool open = true;
};

/// Python's World: one caller at a time, live arrays, recordings.
class WorldHandle {
 public:
  WorldHandle(World w, SceneDescription s);
  ~WorldHandle();
  WorldHandle(const WorldHandle&) = delete;
  WorldHandle& operator=(const WorldHandle&) = delete;

  World world;
  SceneDescription scene;  ///< environment, name and seed, for recordings

  /// The live arrays of a figure, made on first use.
  FigureMirror& mirror(FigureId id);
  /// The Python object of a figure's model.
  ModelObject model(FigureId id);
  void set_model(FigureId id, nb::object model);
  void forget_model(FigureId id);  ///< after it has been rebuilt

  std::vector<std::shared_ptr<OpenRecording>> recordings;

  /// `count` steps, without the GIL; interrupted by Ctrl-C and by exceptions of callbacks. `progress`: see Teller. @return steps taken
  std::int64_t step(std::int64_t count, const char* function, nb::handle progress);
  void on_step(nb::object callback, nb::handle self);
  bool has_callbacks() const { return !callbacks_.empty(); }

  // For Python's garbage collector: callbacks may refer to the world.
  int traverse(visitproc visit, void* arg);
  void clear();

  /// Exclusive use of the world during a call: other threads get BusyError. A callback may use the world that is being stepped.
  class Call {
   public:
    enum class Kind { kAny, kStep };
    Call(WorldHandle& w, const char* function, Kind kind = Kind::kAny);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    WorldHandle& w_;
    bool nested_ = false;
  };

  /// Passes changed arrays to the world; fills the arrays from the world.
  void push();
  void pull();
  void pull(FigureId id);

 private:
  enum class Use { kFree, kBusy, kCallback };

  std::vector<std::unique_ptr<FigureMirror>> mirrors_;  ///< null for figures whose arrays are not in use
  std::vector<nb::object> models_;
  std::atomic<Use> use_ = Use::kFree;
  std::thread::id owner_;
  std::exception_ptr raised_;  ///< by a callback in this step
  std::vector<nb::object> callbacks_;
  unsigned forks_ = fork_count();
};

/// A link or frame of a figure in a world, or the world itself; from a Body, a Figure, "figure/link", ("figure", "link") or None.
struct BodyArgument {
  BodyRef body{};
  Transform<> X_LF{};
};
BodyArgument read_body(WorldHandle& w, const char* function, nb::handle value);
FigureId read_figure(WorldHandle& w, const char* function, nb::handle value);

/// Python's Figure and Body: references into a world, which they keep alive.
struct FigureHandle {
  nb::object world;
  FigureId id;
  WorldHandle& get() const { return *nb::inst_ptr<WorldHandle>(world); }
};
struct BodyHandle {
  nb::object world;
  BodyRef body;
  Transform<> X_LF{};  ///< of a frame; the identity of a link
  WorldHandle& get() const { return *nb::inst_ptr<WorldHandle>(world); }
};
struct ConnectionHandle {
  nb::object world;
  ConnectionId id;
  WorldHandle& get() const { return *nb::inst_ptr<WorldHandle>(world); }
};

/// For Python's garbage collector they refer to their world: callbacks of a world often refer to its figures.
template <class Handle>
PyType_Slot* slots_with_world() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(Py_TYPE(self));
         if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Handle>(self)->world.ptr());
         return 0;
       })},
      {Py_tp_clear,
       reinterpret_cast<void*>(+[](PyObject*) -> int { return 0; })},  // the world itself releases its callbacks
      {0, nullptr}};
  return slots;
}

// The parts of bind_world.
void bind_figure(nb::module_& module);
void bind_world_state(nb::class_<WorldHandle>& c);
void bind_world_joining(nb::module_& module, nb::class_<WorldHandle>& c);
void bind_world_reports(nb::module_& module, nb::class_<WorldHandle>& c);
void bind_world_control(nb::class_<WorldHandle>& c);
void bind_world_recording(nb::module_& module, nb::class_<WorldHandle>& c);

Records contact_array(std::span<const ContactReport> contacts);
Records connection_array(std::span<const ConnectionReport> connections);
Records actuator_array(std::span<const ActuatorReport> actuators);
std::vector<std::string> actuator_names(const World& world, FigureId id);

}  // namespace kansetsu::python
