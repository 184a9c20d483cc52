#pragma once

#include <Eigen/Core>
#include <vector>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/spatial/spatial.h"
#include "model/tendon_path.h"

/// Tendons and actuators of a model, compiled: flat arrays in the order in which a step goes over them. All names are resolved, and what never changes
/// (moment arms of sums of coordinates, which tendons have springs) is known.
namespace kansetsu {
inline namespace actuation_parts {

/// A range of another array.
struct Range {
  int begin = 0, count = 0;

  int end() const { return begin + count; }
};

/// A length that is a sum of coordinates; a range of `terms` of the plan.
struct CoordinateSum {
  Range terms{};
  double offset = 0;
};
struct CoordinateTermOfSum {
  int q = 0;
  double ratio = 0;
};

/// A coordinate of the tree that moves some of the bodies at which forces act, but not all of them: values[entry] += ratio·S·Σ F of these.
struct Lever {
  int entry = 0, coordinate = 0;
  double ratio = 1;
  Range slots{};  ///< of `slots` of the plan
};
/// The forces of a tendon or actuator and the levers that they work at.
struct Linkage {
  std::vector<int> bodies{};  ///< one slot each
  Range levers{};
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

struct PathTendon {
  int tendon = 0;
  std::vector<PathPart> path{};
  std::vector<int> slot_of{};  ///< of each part; −1: the world
  Linkage linkage{};
  std::vector<MovingPart> moving{};
  std::vector<Vec3<>> at_rest{};  ///< of the parts, before they are shifted; empty if nothing moves
  PathTrace trace{};
};

enum class ActuatorKind { kSum, kBall, kBase, kTendon, kFrame, kFramePair, kSliderCrank, kNothing };

/// How the length of an actuator is found.
struct ActuatorPath {
  ActuatorKind kind = ActuatorKind::kNothing;
  bool in_parent = false;
  bool follows_path = false;  ///< of a tendon whose moment arms change
  CoordinateSum sum{};
  int tendon = -1;
  int q = 0;  ///< of a ball
  int a = -1, b = -1;
  double gear = 1, crank = 0;
  int linkage = -1;
};
/// Frames and wrenches of the kinds that have them.
struct FrameLinkage {
  Linkage linkage{};
  Transform<> X_A{}, X_B{};
};

/// f = (gain₀ + gain₁·l + gain₂·l̇)·x + bias₀ + bias₁·l + bias₂·l̇ of all but muscles.
struct ForceLaw {
  bool muscle = false;     ///< gain or bias is of a muscle: see its description
  bool activated = false;  ///< x is the activation
  double gain[3] = {1, 0, 0}, bias[3] = {};
  Interval control{}, force{};
  Interval acting{};  ///< and the joint's limit, where it is alone there
};

struct TendonSet {
  int tendon = 0;
  std::vector<int> actuators{};
  Interval effort{};
};

}  // namespace actuation_parts

struct ActuationPlan {
  // Compiled.
  std::vector<Range> rows, tendon_rows;  ///< of columns and values, per actuator and per tendon
  std::vector<int> columns;
  std::vector<ActuatorPath> paths;
  std::vector<Vec3<>> force_of, moment_of;  ///< wrench per unit of force, per actuator
  std::vector<ForceLaw> laws;
  std::vector<FrameLinkage> frames;
  std::vector<PathTendon> path_tendons;
  std::vector<int> path_of;  ///< per tendon: its path; −1: a sum
  std::vector<CoordinateSum> sums;
  std::vector<CoordinateTermOfSum> terms;
  std::vector<Lever> levers;
  std::vector<int> slots;
  std::vector<int> bodies;     ///< whose poses are needed
  std::vector<TendonSet> cut;  ///< tendons that cut what all actuators on them exert
  std::vector<Actuation::EffortLimit> limits;
  bool limits_shared = false;
  // Which of them a step has to look at.
  std::vector<int> sprung, bounded_tendons;              ///< tendons with springs or dampers; with limits or friction
  std::vector<int> activated, early, bounded, adhesive;  ///< actuators
  bool tied = false;                                     ///< a tendon goes to a place in the world

  // Where it is placed.
  std::vector<double> values;
  std::vector<double> length, velocity, tendon_length, tendon_velocity;
  std::vector<Transform<>> X_WB;  ///< of all bodies; those not needed are not kept up
  std::vector<Force<>> wrenches;  ///< scratch: of the slots of a linkage
  std::vector<Pull> pulls;        ///< scratch

  MomentRow row(const Range& r) const {
    return {{columns.data() + r.begin, size_t(r.count)}, {values.data() + r.begin, size_t(r.count)}};
  }
  double along(const Range& r, const Eigen::VectorXd& x) const {
    double sum = 0;
    for (int k = r.begin; k < r.end(); ++k) sum += values[size_t(k)] * x[columns[size_t(k)]];
    return sum;
  }
  double length_of(const CoordinateSum& s, const Eigen::VectorXd& q) const {
    double out = s.offset;
    for (int k = s.terms.begin; k < s.terms.end(); ++k) out += terms[size_t(k)].ratio * q[terms[size_t(k)].q];
    return out;
  }
};

/// Names that are not there throw Error.
ActuationPlan compile_actuation(const Model& model, const ActuationDescription& description, EffortLimits limits);

}  // namespace kansetsu
