#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/recorded_numbers.h"
#include "kansetsu/sim/world.h"
#include "serve/live_source.h"

namespace kansetsu::cli {

/// A running world that viewers can watch and change.
class LiveWorld final : public serve::LiveSource {
 public:
  LiveWorld(SceneDescription scene, int threads);

  const io::RecordingHeader& header() const override { return header_; }
  /// A world slower than real time falls behind instead of keeping viewers waiting.
  io::RecordedFrame advance(double seconds) override;
  void reset() override;              ///< gravity and controls keep their values
  void rewind(double time) override;  ///< within the last minute, in steps of a tenth of a second
  std::string failure() const override;

  void drag(const io::BodyRef& body, const Vec3<>& point, const Vec3<>& target) override;
  void drop() override { drag_.reset(); }
  void grab(const io::BodyRef& body, const Vec3<>& point) override;
  void release(const io::BodyRef& body) override;

  Vec3<> gravity() const override { return world_.gravity(); }
  void set_gravity(const Vec3<>& gravity) override { world_.set_gravity(gravity); }
  /// The strength of each controller: a factor of the torques and gains of the scene, 0 for off. Prescribed motions are on or
  /// off. Then the targets of position controllers by joint, and the controls of actuators.
  std::vector<serve::LiveControl> controls() const override;
  void set_control(const std::string& name, double value) override;

 private:
  struct Drag {
    BodyRef body;
    Vec3<> point, target;
    double stiffness = 0, damping = 0, strongest = 0;
    Vec3<> force{};
  };

  using Grips = std::map<std::pair<int, int>, ConnectionId>;  ///< by figure and link
  struct Moment {
    double time = 0;
    Snapshot state;
    Grips grips;
  };

  void pull();
  void remember();
  void set_controller(const ControllerDescription& original);
  void add_targets(std::vector<serve::LiveControl>& controls) const;
  double mass_of(FigureId figure, std::optional<LinkId> link = {}) const;

  SceneDescription scene_;
  int threads_ = 1;
  World world_;
  std::vector<NumberGroup> numbers_;
  io::RecordingHeader header_;
  std::size_t told_ = 0;     ///< events
  double due_ = 0;           ///< [s] of simulated time
  std::deque<Moment> past_;  ///< oldest first
  std::optional<Drag> drag_;
  Grips grips_;
  std::map<std::string, double> strength_;  ///< by controller
  std::map<std::string, double> targets_;   ///< by the name of the control

  struct Input {
    FigureId figure;
    std::string actuator;
    serve::LiveControl control;  ///< with the slider's value
    bool set = false;            ///< by a viewer
  };
  std::vector<Input> inputs_;
  void find_inputs();
};

}  // namespace kansetsu::cli
