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

/// A simulation that can be watched and changed. The server calls it from one thread, between steps. Bodies are checked against
/// the header before. The protocol is documented in docs/formats/live.md.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  virtual const io::RecordingHeader& header() const = 0;
  /// Advances by about `seconds` of simulated time (a whole number of steps; 0: none) and returns the new frame.
  virtual io::RecordedFrame advance(double seconds) = 0;
  virtual void reset() = 0;
  /// Goes back to the latest saved moment at or before the time; later ones are discarded.
  virtual void rewind(double time) { (void)time; }
  /// Why the simulation has failed; empty if it has not. Viewers are notified, and it is paused until reset().
  virtual std::string failure() const { return {}; }

  /// Pulls a point of the body (in link axes) by a spring to a target in the world, until drop().
  virtual void drag(const io::BodyRef& body, const Vec3<>& point, const Vec3<>& target) = 0;
  virtual void drop() = 0;
  /// Holds a point of the body at its position, until release().
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
