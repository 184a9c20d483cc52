#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The worlds that bench_world measures.
namespace bench {

using Clock = std::chrono::steady_clock;

/// What a run was like, besides its time.
struct Quality {
  double contacts = 0;      ///< per step
  double penetration = 0;   ///< deepest [m]
  double drift = 0;         ///< largest way of a body that should rest [m]
  double energy_error = 0;  ///< what work does not account for, at the end [J]
  double residual = 0;      ///< worst complementarity residual; 0 where an engine has none
  std::vector<std::uint64_t> tiers{};
  double lanes = 0;  ///< of several worlds: the share of steps made side by side
};

/// One engine in one scenario; the same run every time after reset().
class Runner {
 public:
  virtual ~Runner() = default;
  virtual std::string engine() const = 0;
  virtual int steps() const = 0;
  virtual int worlds() const { return 1; }  ///< that a step advances: times are those of one
  virtual double time_step() const = 0;
  virtual void reset() = 0;
  virtual void before(int) {}  ///< a step; not measured
  virtual void step(int i) = 0;
  virtual Quality observe() = 0;  ///< by one more run
};

struct Scenario {
  std::string name;
  std::function<std::vector<std::unique_ptr<Runner>>()> make;  ///< if two, the first is compared with the second
  bool slow = false;
  /// What is printed of two that follow each other.
  enum class Compare { kTimesAsFast, kAddedTime } compare = Compare::kTimesAsFast;
};

/// @param humanoid  MuJoCo's file; empty: without that scenario
std::vector<Scenario> scenarios(const std::string& humanoid);

/// Seeded noise of so many numbers, the same for both engines.
std::vector<double> noise(int count, double deviation, std::uint64_t seed);

// MuJoCo, null where it is not linked. A model as MJCF text or file; torques by name of the joints, `steps` rows of them.
struct PeerInput {
  std::string text, file;
  std::vector<std::string> joints;
  std::vector<double> torque, kp, kd;  ///< torque: one row per step; gains (may be empty) towards the reference posture
  double time_step = 1e-3;
  int steps = 0;
  int restart = 0;                 ///< so often back to the start; 0: never
  std::vector<double> controls{};  ///< of actuators: one row per step; may be empty
  std::string name = "MuJoCo";
};
std::unique_ptr<Runner> make_peer(const PeerInput& input);

enum class TendonKind {
  kSum,      ///< of coordinates
  kPath,     ///< from a point to a point
  kWrapped,  ///< the same round a sphere
};
/// 30 actuators, 10 of them at tendons; the torques that they give; both in the peer.
std::vector<std::unique_ptr<Runner>> make_actuated(TendonKind kind);

}  // namespace bench
