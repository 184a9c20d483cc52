#include <algorithm>

#include "kansetsu/model/description.h"
#include "model/checks.h"

namespace kansetsu {

std::vector<Diagnostic> validate(const ModelDescription& description) {
  Report report(description.file);
  const NameIndex names(description);
  check_names(description, names, report);
  check_tree(description, names, report);
  check_numbers(description, report);
  check_links(description, report);
  check_joints(description, report);
  check_couplings(description, names, report);
  // A free figure without any mass says it all; that its joints move none follows.
  const bool sound = !has_errors(report.diagnostics());
  if (sound && !report.has(ModelCode::kMasslessFreeBase)) check_inertia_moved(description, report);

  // In the order of the file, as a reader goes through it; what has no line comes first.
  std::vector<Diagnostic> out = report.diagnostics();
  std::ranges::stable_sort(out, {}, &Diagnostic::line);
  return out;
}

}  // namespace kansetsu
