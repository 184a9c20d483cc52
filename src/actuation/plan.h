#pragma once

#include <Eigen/Core>
#include <vector>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/spatial/spatial.h"
#include "model/tendon_path.h"

/// The compiled form of tendons and actuators: flat arrays in the order of evaluation, with names resolved and constants (moment arms of
/// fixed tendons, lists of tendons with springs) precomputed.
namespace kansetsu {
inline namespace actuation_parts {

/// A range of another array.
struct Range {
  int begin = 0, count = 0;

  int end() const { return begin + count; }
};

/// A length that is a linear combination of coordinates; a range of the plan's `terms`.
struct CoordinateSum {
  Range terms{};
  double offset = 0;
};
struct CoordinateTermOfSum {
  int q = 0;
  double ratio = 0;
};

/// A coordinate of the tree that moves a body on which a wrench W acts: values[entry] += ratio·S·W.
struct Lever {
  int entry = 0, coordinate = 0;
  double ratio = 1;
};
/// The bodies on which a tendon or actuator acts.
struct Linkage {
  std::vector<int> bodies{};    ///< by slot
  std::vector<Range> levers{};  ///< by slot, ranges of the plan's `levers`
};
/// A straight segment of a path without wrapping.
struct Stretch {
  int from = 0, to = 0;  ///< indices of parts
  double share = 1;      ///< weight of its length: 1/divisor after a pulley
};

/// A part of a path that depends on a coordinate.
struct MovingPart {
  int part = 0;
  CoordinateSum sum{};
  std::vector<std::pair<int, double>> terms{};  ///< columns of v, ∂coordinate/∂v
  Interval range{};                             ///< where the part is present; unbounded for shifts
  CoordinateFunction function{};
  Vec3<> direction{};  ///< on the body; zero: no shift
};

struct PathTendon {
  int tendon = 0;
  std::vector<PathPart> path{};
  std::vector<int> slot_of{};  ///< by part; −1: the world
  Linkage linkage{};
  std::vector<MovingPart> moving{};
  std::vector<Vec3<>> at_rest{};     ///< positions without shifts, by part; empty if nothing moves
  PathTrace trace{};                 ///< for stretches: evaluated on demand
  std::vector<Stretch> stretches{};  ///< of a path of fixed points; otherwise empty
  std::vector<Vec3<>> points{};      ///< for stretches: by part, relative to the origin of the mechanics
};

enum class ActuatorKind { kSum, kBall, kBase, kTendon, kFrame, kFramePair, kSliderCrank, kNothing };

/// An actuator whose length is ratio·q + offset.
struct CoordinateActuator {
  int actuator = 0, q = 0, column = 0;
  double ratio = 1, offset = 0, arm = 1;  ///< arm: ∂length/∂v
};

/// How the length of an actuator is found.
struct ActuatorPath {
  ActuatorKind kind = ActuatorKind::kNothing;
  bool in_parent = false;
  bool follows_path = false;  ///< of a tendon with varying moment arms
  CoordinateSum sum{};
  int tendon = -1;
  int q = 0;  ///< index in q, of a ball joint
  int a = -1, b = -1;
  double gear = 1, crank = 0;
  int linkage = -1;
};
/// The frames of a site transmission.
struct FrameLinkage {
  Linkage linkage{};
  Transform<> X_A{}, X_B{};
};

/// f = (gain₀ + gain₁·l + gain₂·l̇)·x + bias₀ + bias₁·l + bias₂·l̇, except for muscles.
struct ForceLaw {
  bool muscle = false;     ///< gain or bias is a muscle's: see the description
  bool activated = false;  ///< x is the activation
  bool constant = false;   ///< f = gain₀·x, independent of length and velocity
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
  std::vector<Range> rows, tendon_rows;  ///< ranges of columns and values, by actuator and by tendon
  std::vector<int> columns;
  std::vector<ActuatorPath> paths;
  std::vector<Vec3<>> force_of, moment_of;  ///< wrench per unit of force, by actuator
  std::vector<ForceLaw> laws;
  std::vector<FrameLinkage> frames;
  std::vector<PathTendon> path_tendons;
  std::vector<int> path_of;  ///< per tendon: its path; −1: a sum
  std::vector<CoordinateSum> sums;
  std::vector<CoordinateTermOfSum> terms;
  std::vector<Lever> levers;
  std::vector<int> bodies;     ///< with required poses
  std::vector<TendonSet> cut;  ///< tendons with effort limits
  std::vector<Actuation::EffortLimit> limits;
  bool limits_shared = false;
  // Subsets, so that a step skips the others.
  std::vector<CoordinateActuator> by_coordinate;  ///< actuators; the others are in `placed`
  std::vector<int> placed;
  std::vector<int> sprung, bounded_tendons;              ///< tendons with springs or dampers; with limits or friction
  std::vector<int> activated, early, bounded, adhesive;  ///< actuators
  bool tied = false;                                     ///< a tendon is attached to the world

  // At the current state.
  std::vector<double> values;
  std::vector<double> length, velocity, tendon_length, tendon_velocity;
  std::vector<Transform<>> X_WB;  ///< of all bodies; only those in `bodies` are updated
  Vec3<> origin{};                ///< of the mechanics
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

/// Throws Error for unknown names.
ActuationPlan compile_actuation(const Model& model, const ActuationDescription& description, EffortLimits limits);

}  // namespace kansetsu
