#include "kansetsu/io/urdf.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/file_report.h"
#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"
#include "kansetsu/base/error.h"
#include "kansetsu/model/edit.h"

namespace kansetsu::io {
namespace {

using urdf::Parsed;

/// Whether a finding repeats an error of the reader: elements without name, parent or child.
bool is_echo(const Diagnostic& finding, const std::vector<std::string>& refused) {
  if (refused.empty()) return false;
  if (finding.path.find("[]") != std::string::npos || finding.path.find("[#") != std::string::npos) return true;
  return std::ranges::any_of(refused, [&](const std::string& path) { return finding.path.starts_with(path); });
}

/// The child element that a finding about a link or joint concerns; empty: the element itself.
std::string part_of(std::string_view code) {
  static constexpr std::pair<std::string_view, const char*> kParts[] = {
      {"MODEL007", "parent"}, {"MODEL008", "child"},    {"MODEL010", "child"},   {"MODEL011", "joint"},
      {"MODEL030", "mass"},   {"MODEL031", "inertia"},  {"MODEL032", "inertia"}, {"MODEL033", "inertia"},
      {"MODEL034", "mass"},   {"MODEL042", "dynamics"}, {"MODEL043", "limit"},   {"MODEL044", "limit"}};
  for (const auto& [known, part] : kParts) {
    if (known == code) return part;
  }
  return {};
}

/// Adds findings of validate(), with lines and paths of the file.
void add_findings(const Parsed& parsed, std::vector<Diagnostic> findings, std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> refused;
  for (const Diagnostic& d : diagnostics) {
    if (d.code == urdf::kMissing || d.code == urdf::kCharacters) refused.push_back(d.path);
  }
  for (Diagnostic& d : findings) {
    const std::string part = d.line > 0 ? part_of(d.code) : d.path;
    if (const auto line = parsed.lines.find({d.line, part}); line != parsed.lines.end()) d.line = line->second;
    const bool whole = d.path.empty() || d.path.starts_with("model[");
    d.path = fmt::format("robot[{}]{}", parsed.description.name, whole ? "" : "/" + d.path);
    if (!is_echo(d, refused)) diagnostics.push_back(std::move(d));
  }
  std::ranges::stable_sort(diagnostics, {}, &Diagnostic::line);
}

/// Whether the document was parsed, so that validation makes sense.
bool has_document(const Parsed& parsed) {
  return !parsed.description.name.empty() || !parsed.description.links.empty();
}

Loaded<ModelDescription> finish(Parsed parsed, const UrdfOptions& options) {
  Loaded<ModelDescription> result{std::nullopt, std::move(parsed.diagnostics)};
  if (has_document(parsed) || !has_errors(result.diagnostics)) {
    add_findings(parsed, validate(parsed.description), result.diagnostics);
  }
  if (has_errors(result.diagnostics)) return result;
  result.value = std::move(parsed.description);
  if (options.merge_fixed) {
    const Loaded<Model> model = Model::build(*result.value);
    if (model) result.value = merge_fixed_links(*model.value).description();
  }
  return result;
}

}  // namespace

Loaded<ModelDescription> parse_urdf(std::string_view text, const std::string& file_name, const UrdfOptions& options) {
  return finish(urdf::parse(text, file_name, options), options);
}

Loaded<ModelDescription> read_urdf(const std::filesystem::path& file, const UrdfOptions& options) {
  constexpr FileCodes kCodes{urdf::kMissingFile, urdf::kNotAFile, urdf::kUnreadable, urdf::kTooLarge};
  return parse_file(file, kCodes, [&](const std::string& text) { return parse_urdf(text, file.string(), options); });
}

Loaded<Model> load_urdf(const std::filesystem::path& file, const UrdfOptions& options) {
  Loaded<ModelDescription> read = read_urdf(file, options);
  if (!read) return {std::nullopt, std::move(read.diagnostics)};
  Loaded<Model> model = Model::build(*std::move(read.value));
  // read_urdf() has validated the description; only new findings are added.
  for (Diagnostic& d : model.diagnostics) {
    const auto same = [&](const Diagnostic& known) { return known.code == d.code && known.message == d.message; };
    if (std::ranges::none_of(read.diagnostics, same)) read.diagnostics.push_back(std::move(d));
  }
  return {std::move(model.value), std::move(read.diagnostics)};
}

}  // namespace kansetsu::io
