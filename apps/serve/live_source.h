#pragma once

#include <string>
#include <vector>

#include "kansetsu/io/recording.h"

namespace kansetsu::serve {

/// A number that a viewer may change while a simulation runs: a gain, a speed to walk at.
struct LiveControl {
  std::string name{};
  double min = 0, max = 1, value = 0;
  std::string unit{};
};

/// A simulation that can be watched and touched. The server calls it from one thread; what viewers send arrives between
/// steps. Bodies are checked against the header before they get here. docs/formats/live.md is the protocol.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  virtual const io::RecordingHeader& header() const = 0;
  /// Advances by about `seconds` of simulated time (a whole number of steps; 0: none) and says where things are.
  virtual io::RecordedFrame advance(double seconds) = 0;
  virtual void reset() = 0;
  /// Goes back to the latest saved moment at or before the time; later ones are discarded.
  virtual void rewind(double time) { (void)time; }
  /// Why it cannot go on, if it cannot; viewers are notified, and time stands still until reset().
  virtual std::string failure() const { return {}; }

  /// A spring from the point of the body (in link axes) to a target in the world; until drop().
  virtual void drag(const io::BodyRef& body, const Vec3<>& point, const Vec3<>& target) = 0;
  virtual void drop() = 0;
  /// The point of the body is held where it is, until release().
  virtual void grab(const io::BodyRef& body, const Vec3<>& point) = 0;
  virtual void release(const io::BodyRef& body) = 0;

  virtual Vec3<> gravity() const = 0;
  virtual void set_gravity(const Vec3<>& gravity) = 0;
  virtual std::vector<LiveControl> controls() const { return {}; }
  virtual void set_control(const std::string& name, double value) {
    (void)name;
    (void)value;
  }
};

}  // namespace kansetsu::serve
