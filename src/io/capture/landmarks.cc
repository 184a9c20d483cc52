#include <fmt/ranges.h>

#include "io/capture/capture_codes.h"
#include "io/capture/capture_reader.h"
#include "io/number.h"
#include "io/text.h"
#include "kansetsu/base/suggest.h"
#include "kansetsu/io/capture.h"

#include "io/scene/toml.h"
#include "io/scene/toml_writer.h"

/// Tables of landmarks in TOML: [bones] pelvis = "Hips", and [links] kneeL = "shin" or { link = "shin", at = [0, 0, 0] }.
namespace kansetsu::io {
namespace {

using namespace capture;

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::optional<Landmark> landmark_of(std::string_view key, const toml::node& node, const std::string& path,
                                    Report& report) {
  if (const auto found = find_landmark(key)) return found;
  const std::vector<std::string> known(kLandmarkNames.begin(), kLandmarkNames.end());
  const std::string near = nearest_name(key, known);
  return report.refuse(line_of(node), kLandmark, path, fmt::format("{} is not a landmark", quote(key)),
                       near + (near.empty() ? "" : " ") + fmt::format("known: {}", fmt::join(known, ", ")));
}

std::optional<std::string> text_of(const toml::node* node) {
  const auto* text = node ? node->as_string() : nullptr;
  if (!text || text->get().empty() || !is_clean(text->get())) return std::nullopt;
  return text->get();
}

std::optional<LinkPoint> link_point(const toml::node& node) {
  if (const auto link = text_of(&node)) return LinkPoint{*link, {}};
  const toml::table* table = node.as_table();
  const auto link = table ? text_of(table->get("link")) : std::nullopt;
  if (!link || table->size() > 2) return std::nullopt;
  LinkPoint out{*link, {}};
  const toml::node* at = table->get("at");
  if (!at) return table->size() == 1 ? std::optional(out) : std::nullopt;
  const toml::array* array = at->as_array();
  if (!array || array->size() != 3) return std::nullopt;
  double p[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = array->get(i)->value<double>();
    if (!value || !std::isfinite(*value)) return std::nullopt;
    p[i] = *value;
  }
  out.at = {p[0], p[1], p[2]};
  return out;
}

void read_section(const toml::table& section, const std::string& name, LandmarkTable& out, Report& report) {
  for (const auto& [key, node] : section) {
    const auto landmark = landmark_of(key.str(), node, name, report);
    if (!landmark) continue;
    const std::string path = fmt::format("{}/{}", name, key.str());
    if (name == "bones") {
      if (const auto bone = text_of(&node))
        out.bones[*landmark] = *bone;
      else
        report.error(line_of(node), kLandmark, path, "not the name of a bone",
                     "e.g. \"Hips\", or \"Head.tip\" for its end");
    } else if (const auto point = link_point(node)) {
      out.links[*landmark] = *point;
    } else {
      report.error(line_of(node), kLandmark, path, "not a point on a link",
                   "e.g. \"shin\" or { link = \"shin\", at = [0, 0, -0.1] }");
    }
  }
}

}  // namespace

Loaded<LandmarkTable> parse_landmarks(std::string_view text, const std::string& file_name) {
  Report report(file_name);
  LandmarkTable out;
  out.name = stem_of(file_name);
  const TomlText parsed = parse_toml(text, file_name);
  if (!parsed.problem.empty()) {
    report.error(parsed.line, parsed.foreign ? kForeign : kSyntax, {}, parsed.problem, parsed.hint);
    return {std::nullopt, report.take()};
  }
  for (const auto& [key, node] : parsed.table) {
    const std::string name(key.str());
    const toml::table* section = node.as_table();
    if (name == "name" && text_of(&node))
      out.name = *text_of(&node);
    else if (section && (name == "bones" || name == "links"))
      read_section(*section, name, out, report);
    else
      report.error(line_of(node), kLandmark, {}, fmt::format("{} is not known here", quote(name)),
                   "known: name, [bones], [links]");
  }
  return loaded(std::move(out), report.take());
}

Loaded<LandmarkTable> read_landmarks(const std::filesystem::path& file) {
  return parse_file(file, kFileCodes, [&](const std::string& text) { return parse_landmarks(text, file.string()); });
}

std::string to_toml(const LandmarkTable& table) {
  const auto text = [](const std::string& s) { return scene::toml_text(s); };
  std::string out = fmt::format("name = {}\n\n[bones]\n", text(table.name));
  for (const auto& [landmark, bone] : table.bones) out += fmt::format("{} = {}\n", to_string(landmark), text(bone));
  if (!table.links.empty()) out += "\n[links]\n";
  for (const auto& [landmark, p] : table.links)
    out += fmt::format("{} = {{ link = {}, at = [{}, {}, {}] }}\n", to_string(landmark), text(p.link),
                       format_number(p.at.x), format_number(p.at.y), format_number(p.at.z));
  return out;
}

}  // namespace kansetsu::io
