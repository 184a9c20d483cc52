#pragma once

#include <string>
#include <string_view>

#include "kansetsu/io/urdf.h"

namespace kansetsu::io::test {

/// What must hold for any text whatever: it is refused with an error, or accepted as a valid model that survives being
/// written and read. Returns what does not hold, empty if all does.
inline std::string urdf_violation(std::string_view text) {
  const Loaded<ModelDescription> read = parse_urdf(text, "any.urdf");
  if (!read) return has_errors(read.diagnostics) ? "" : "refused without an error";
  if (has_errors(read.diagnostics)) return "accepted with an error";
  if (has_errors(validate(*read.value))) return "accepted, but not valid: " + to_string(validate(*read.value));
  const Loaded<std::string> written = to_urdf(*read.value);
  if (!written) return "accepted, but cannot be written: " + to_string(written.diagnostics);
  const Loaded<ModelDescription> again = parse_urdf(*written.value, "any.urdf");
  if (!again) return "written, but cannot be read: " + to_string(again.diagnostics) + *written.value;
  if (!(*again.value == *read.value)) return "changed by writing and reading: " + *written.value;
  if (*to_urdf(*again.value).value != *written.value) return "written differently the second time: " + *written.value;
  return "";
}

}  // namespace kansetsu::io::test
