#include "model/codes.h"

#include <algorithm>
#include <array>

namespace kansetsu {
namespace {

using enum ModelCode;
constexpr Severity kError = Severity::kError, kWarning = Severity::kWarning;

/// In the order of the enumeration. Codes are stable: a new problem gets a new number, an old number is never used again.
constexpr std::array kCodes{
    ModelCodeInfo{kNoLinks, "MODEL001", kError, "model without links",
                  "add at least one link; the first without a parent joint is the root"},
    ModelCodeInfo{kNoName, "MODEL002", kError, "link, joint, frame or actuator without a name",
                  "give it a name: everything is found by name"},
    ModelCodeInfo{kDuplicateLink, "MODEL003", kError, "two links with one name",
                  "rename one of them; links are found by name"},
    ModelCodeInfo{kDuplicateJoint, "MODEL004", kError, "two joints with one name",
                  "rename one of them; joints are found by name"},
    ModelCodeInfo{kDuplicateFrame, "MODEL005", kError, "two frames with one name",
                  "rename one of them; frames are found by name"},
    ModelCodeInfo{kDuplicateActuator, "MODEL006", kError, "two actuators with one name",
                  "rename one of them; actuators are found by name"},
    ModelCodeInfo{kUnknownParent, "MODEL007", kError, "parent of a joint is not a link of the model",
                  "add the link, or correct the name"},
    ModelCodeInfo{kUnknownChild, "MODEL008", kError, "child of a joint is not a link of the model",
                  "add the link, or correct the name"},
    ModelCodeInfo{kParentIsChild, "MODEL009", kError, "joint that joins a link to itself",
                  "parent and child must be two links"},
    ModelCodeInfo{kTwoParents, "MODEL010", kError, "link that is the child of two joints",
                  "a tree has one parent joint per link; close the loop by a connection instead of a joint"},
    ModelCodeInfo{kCycle, "MODEL011", kError, "joints that form a cycle",
                  "cut the cycle at one joint, and close it by a connection"},
    ModelCodeInfo{kSeveralRoots, "MODEL012", kError, "several links without a parent joint",
                  "join them by joints (a fixed joint will do), or make two models"},
    ModelCodeInfo{kUnknownFrameLink, "MODEL013", kError, "frame on a link that does not exist",
                  "add the link, or correct the name"},
    ModelCodeInfo{kUnknownActuatorDof, "MODEL014", kError, "actuator on a joint or coordinate that does not exist",
                  "name a joint that moves, and a coordinate it has"},
    ModelCodeInfo{kUnknownFilterLink, "MODEL015", kError, "collision filter for a link that does not exist",
                  "remove the pair, or correct the name"},

    ModelCodeInfo{kNotFinite, "MODEL020", kError, "number that is not finite",
                  "write a finite number; only limits may be infinite, below and above"},
    ModelCodeInfo{kOutOfRange, "MODEL021", kError, "number out of range (larger than 1e15)",
                  "use SI units: metres, kilograms, seconds, radians"},

    ModelCodeInfo{kNegativeMass, "MODEL030", kError, "negative mass", "masses are zero or positive [kg]"},
    ModelCodeInfo{kInertiaWithoutMass, "MODEL031", kWarning, "rotational inertia without mass",
                  "give the link a mass, or remove its inertia"},
    ModelCodeInfo{kIndefiniteInertia, "MODEL032", kError, "inertia with a negative principal moment",
                  "check the signs of the products of inertia (ixy, ixz, iyz) and the units"},
    ModelCodeInfo{kTriangleInequality, "MODEL033", kWarning, "principal moments that no body can have",
                  "the sum of two principal moments is never less than the third; check that the inertia is about the "
                  "centre of mass"},
    ModelCodeInfo{kHugeMass, "MODEL034", kWarning, "mass over 1e5 kg", "check the units: masses are in kilograms"},
    ModelCodeInfo{kMasslessFreeBase, "MODEL035", kWarning, "free base without any mass",
                  "give the links masses, or fix the base"},
    ModelCodeInfo{kNegativeSize, "MODEL036", kError, "shape of negative size",
                  "sizes, radii and lengths are zero or positive [m]"},
    ModelCodeInfo{kBadColour, "MODEL037", kError, "colour that is not four numbers in 0…1",
                  "write red, green, blue and opacity, each in 0…1"},
    ModelCodeInfo{kBadSurface, "MODEL038", kError, "height field or mesh whose parts do not fit together",
                  "a height field has columns × rows heights, and triangles name vertices that are there"},

    ModelCodeInfo{kZeroAxis, "MODEL040", kError, "joint axis is the zero vector",
                  "give a direction, e.g. (0, 1, 0); it is normalised on build"},
    ModelCodeInfo{kParallelAxes, "MODEL041", kError, "axes of a universal joint are parallel",
                  "turn one of them; two turns about one axis are one revolute joint"},
    ModelCodeInfo{kNegativeDofData, "MODEL042", kError, "negative rotor inertia, damping, friction or stiffness",
                  "these are zero or positive; a negative one feeds energy in"},
    ModelCodeInfo{kNegativeLimit, "MODEL043", kError, "negative velocity or effort limit",
                  "these bound the magnitude; leave the limit out where there is none"},
    ModelCodeInfo{kLowerAboveUpper, "MODEL044", kError, "lower limit above the upper one",
                  "exchange them; omit both if there is no limit"},
    ModelCodeInfo{kTooManyDofs, "MODEL045", kError, "data for more coordinates than the joint has",
                  "give one entry per velocity coordinate of the joint type, or fewer"},
    ModelCodeInfo{kSwingTwistRange, "MODEL046", kError, "swing or twist limit out of range",
                  "swing lies in 0…π; twist in −π…π, lower before upper"},
    ModelCodeInfo{kSwingTwistJoint, "MODEL047", kError, "swing and twist limits on a joint that is not a ball joint",
                  "use lower and upper of its coordinates"},
    ModelCodeInfo{kLimitOfQuaternion, "MODEL048", kWarning, "position limits on coordinates of a quaternion joint",
                  "they have no effect; a ball joint has swing and twist limits"},

    ModelCodeInfo{kUnknownCoupledDof, "MODEL050", kError, "coupling of a joint or coordinate that does not exist",
                  "name a joint of the model, and a coordinate it has"},
    ModelCodeInfo{kFixedCoupled, "MODEL051", kError, "coupling of a fixed joint",
                  "a fixed joint has no coordinate; couple joints that move"},
    ModelCodeInfo{kCoupledToItself, "MODEL052", kError, "coordinate that depends on itself",
                  "let one coordinate of the circle be independent"},
    ModelCodeInfo{kCoupledTwice, "MODEL053", kError, "coordinate that two couplings determine",
                  "keep one; one coupling may have several terms"},
    ModelCodeInfo{kQuaternionGear, "MODEL054", kError, "gear that a quaternion joint cannot have",
                  "couple every coordinate to the same one of another joint of the same type, with ratio 1 and offset "
                  "0; or use ball_zyx joints"},
    ModelCodeInfo{kZeroRatio, "MODEL055", kWarning, "coupling with ratio 0", "the term has no effect; remove it"},
    ModelCodeInfo{kNoTerms, "MODEL056", kError, "coupling without terms",
                  "name what the coordinate depends on; make the joint fixed to hold it"},

    ModelCodeInfo{kMasslessJoints, "MODEL070", kWarning, "joints that move no inertia: the mass matrix is singular",
                  "give the links behind them mass, or the joints rotor inertia; kinematics and inverse dynamics work "
                  "without that"},
    ModelCodeInfo{kSingularFreeBase, "MODEL071", kWarning,
                  "free base that can move without moving inertia: the mass matrix is singular",
                  "give the links rotational inertia; all mass lies in a point or on a line"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (kCodes[i].id != ModelCode(i)) return false;
  }
  return kCodes.size() == std::size_t(kSingularFreeBase) + 1;
}
static_assert(in_order());

}  // namespace

const ModelCodeInfo& info(ModelCode code) { return kCodes[std::size_t(code)]; }

std::span<const ModelCodeInfo> model_codes() { return kCodes; }

bool Report::has(ModelCode code) const {
  return std::ranges::any_of(diagnostics_, [&](const Diagnostic& d) { return d.code == info(code).code; });
}

void Report::add(ModelCode code, int line, std::string path, std::string message, std::string hint) {
  const ModelCodeInfo& row = info(code);
  if (hint.empty()) hint = row.hint;
  diagnostics_.push_back(
      {row.severity, std::string(row.code), file_, line, std::move(path), std::move(message), std::move(hint)});
}

}  // namespace kansetsu
