#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kansetsu/base/suggest.h"
#include "kansetsu/model/description.h"
#include "model/codes.h"

/// The parts of validate(), each of which reports every problem of its kind. They expect nothing of the description and
/// repeat nothing: a number that is not finite, say, is reported once, as such.
namespace kansetsu {

/// Squares of larger numbers, and products of a few of them, leave the range of float and the accuracy of double.
inline constexpr double kLargestNumber = 1e15;

/// Links and joints by name; of several with one name the first.
class NameIndex {
 public:
  explicit NameIndex(const ModelDescription& description);
  std::optional<int> link(std::string_view name) const { return find(links_, name); }
  std::optional<int> joint(std::string_view name) const { return find(joints_, name); }
  /// "did you mean 'knee'?" for a name close to a known one, else nothing.
  std::string suggest_link(std::string_view name) const { return suggest(links_, name); }
  std::string suggest_joint(std::string_view name) const { return suggest(joints_, name); }

 private:
  using Map = std::unordered_map<std::string_view, int>;
  static std::optional<int> find(const Map& map, std::string_view name);
  std::string suggest(const Map& map, std::string_view name) const;
  Map links_, joints_;
  mutable NameHints hints_;
};

void check_names(const ModelDescription& description, const NameIndex& names, Report& report);
void check_tree(const ModelDescription& description, const NameIndex& names, Report& report);
void check_numbers(const ModelDescription& description, Report& report);
void check_links(const ModelDescription& description, Report& report);
void check_joints(const ModelDescription& description, Report& report);
void check_couplings(const ModelDescription& description, const NameIndex& names, Report& report);
/// For descriptions without errors only.
void check_inertia_moved(const ModelDescription& description, Report& report);

/// Where a part is, for Diagnostic::path.
std::string link_path(const LinkDescription& link);
std::string joint_path(const JointDescription& joint);
std::string dof_path(const JointDescription& joint, int index);
/// "knee", or "shoulder.qy" for a coordinate of a joint that has several.
std::string dof_name(const JointDescription& joint, int index);

enum class DofProblem { kNone, kUnknownJoint, kFixedJoint, kNoSuchCoordinate };
/// Whether the joint and its coordinate exist; otherwise what to say about it.
struct DofLookup {
  DofProblem problem = DofProblem::kNone;
  int joint = -1;
  std::string message, hint;
};
DofLookup look_up(const DofRef& ref, const ModelDescription& description, const NameIndex& names);

}  // namespace kansetsu
