#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/base/diagnostic.h"

/// The problems a model can have. One table row each: the stable code, how serious it is, what it means and what to do.
/// docs/formats/model_codes.md prints this table; a test keeps the two equal.
namespace kansetsu {

enum class ModelCode {
  // names and structure
  kNoLinks,
  kNoName,
  kDuplicateLink,
  kDuplicateJoint,
  kDuplicateFrame,
  kDuplicateActuator,
  kUnknownParent,
  kUnknownChild,
  kParentIsChild,
  kTwoParents,
  kCycle,
  kSeveralRoots,
  kUnknownFrameLink,
  kUnknownActuatorDof,
  kUnknownFilterLink,
  // numbers
  kNotFinite,
  kOutOfRange,
  // links
  kNegativeMass,
  kInertiaWithoutMass,
  kIndefiniteInertia,
  kTriangleInequality,
  kHugeMass,
  kMasslessFreeBase,
  kNegativeSize,
  kBadColour,
  kBadSurface,
  // joints
  kZeroAxis,
  kParallelAxes,
  kNegativeDofData,
  kNegativeLimit,
  kLowerAboveUpper,
  kTooManyDofs,
  kSwingTwistRange,
  kSwingTwistJoint,
  kLimitOfQuaternion,
  // couplings
  kUnknownCoupledDof,
  kFixedCoupled,
  kCoupledToItself,
  kCoupledTwice,
  kQuaternionGear,
  kZeroRatio,
  kNoTerms,
  // dynamics
  kMasslessJoints,
  kSingularFreeBase,
};

struct ModelCodeInfo {
  ModelCode id;
  std::string_view code;
  Severity severity;
  std::string_view what;
  std::string_view hint;
};

const ModelCodeInfo& info(ModelCode code);
std::span<const ModelCodeInfo> model_codes();

/// Collects the findings about one description.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  /// `hint` replaces that of the table where a better one is known.
  void add(ModelCode code, int line, std::string path, std::string message, std::string hint = {});

  bool has(ModelCode code) const;
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::string file_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace kansetsu
