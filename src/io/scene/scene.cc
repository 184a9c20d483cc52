#include "kansetsu/io/scene.h"

#include <algorithm>
#include <fstream>
#include <tuple>

#include "io/file_report.h"
#include "io/scene/toml.h"
#include "io/scene/toml_record.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/sdf.h"

namespace kansetsu::io {
namespace scene {
namespace {

template <class Read>
void for_each(Reader& reader, TomlTable& root, const char* key, const Read& read) {
  for (TomlTable& table : root.tables(key)) read(reader, table);
}

/// Reads figures before tables that refer to them.
void read(Reader& reader, const toml::table& document) {
  TomlTable root(reader.report, document, "");
  read_value(root, "scene", reader.scene);
  read_surfaces(reader, root);
  for_each(reader, root, "figure", read_figure);
  for_each(reader, root, "body", read_body);
  for_each(reader, root, "environment", read_environment);
  read_value(root, "connections", reader.scene.connections);
  read_value(root, "springs", reader.scene.springs);
  for_each(reader, root, "controller", read_controller);
  for_each(reader, root, "sensor", read_sensor);
  for_each(reader, root, "event", read_event);
  read_value(root, "records", reader.scene.recordings);
  for_each(reader, root, "keyframe", read_keyframe);
  root.finish();
}

Diagnostic problem(const char* code, const std::string& file, int line, std::string message, std::string hint) {
  return {Severity::kError, code, file, line, {}, std::move(message), std::move(hint)};
}

/// Unknown keys and keywords leave a record that can be checked further. Other errors, as of a model that cannot be read, would be followed
/// by errors about its parts.
bool can_be_checked(const Diagnostic& d) { return !d.is_error() || d.code == kUnknownKey || d.code == kKeyword; }

std::vector<Diagnostic> sorted(std::vector<Diagnostic> diagnostics) {
  std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return diagnostics;
}

}  // namespace
}  // namespace scene

Loaded<SceneDescription> parse_scene(std::string_view text, const std::string& file_name,
                                     const ReferenceOptions& options) {
  const TomlText parsed = parse_toml(text, file_name);
  if (!parsed.problem.empty())
    return {std::nullopt, {scene::problem(scene::kSyntax, file_name, parsed.line, parsed.problem, parsed.hint)}};
  scene::Reader reader(file_name, options);
  reader.scene.file = file_name;
  scene::read(reader, parsed.table);
  std::vector<Diagnostic> diagnostics = std::move(reader.warnings);
  for (Diagnostic& d : reader.report.take()) diagnostics.push_back(std::move(d));
  if (std::ranges::all_of(diagnostics, scene::can_be_checked)) {
    const auto known = [&](const Diagnostic& d) {
      return std::ranges::any_of(diagnostics,
                                 [&](const Diagnostic& k) { return k.code == d.code && k.message == d.message; });
    };
    for (Diagnostic& d : validate(reader.scene)) {
      if (d.is_error() || !known(d)) diagnostics.push_back(std::move(d));
    }
  }
  return loaded(std::move(reader.scene), scene::sorted(std::move(diagnostics)));
}

Loaded<SceneDescription> read_scene(const std::filesystem::path& file, const ReferenceOptions& options) {
  const FileFormat format = find_format(file);
  if (format == FileFormat::kMjcf) return read_mjcf(file, options);
  if (format == FileFormat::kSdf) return read_sdf(file, options);
  return parse_file(file, FileCodes::one(scene::kFile),
                    [&](const std::string& text) { return parse_scene(text, file.string(), options); });
}

namespace {

/// The format by the first known XML element, which may follow a long licence comment.
std::optional<FileFormat> format_by_element(std::string_view head) {
  for (std::size_t at = head.find('<'); at != std::string_view::npos; at = head.find('<', at + 1)) {
    const std::string_view rest = head.substr(at + 1);
    if (rest.starts_with("!--")) {
      const std::size_t end = head.find("-->", at);
      if (end == std::string_view::npos) break;
      at = end;
    } else if (rest.starts_with("mujoco")) {
      return FileFormat::kMjcf;
    } else if (rest.starts_with("sdf")) {
      return FileFormat::kSdf;
    } else if (rest.starts_with("robot")) {
      return FileFormat::kUrdf;
    }
  }
  return std::nullopt;
}

/// Whether the first line that is not blank or a comment is a TOML table or key.
bool looks_like_toml(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) return false;
  while (!head.empty()) {
    const std::string_view line = trim(next_line(head));
    if (line.empty() || line.front() == '#') continue;
    return line.front() == '[' || (line.front() != '<' && line.find('=') != std::string_view::npos);
  }
  return false;
}

}  // namespace

FileFormat find_format_of(std::string_view text) {
  const auto found = format_by_element(text.substr(0, 4096));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool xml = first != std::string_view::npos && text[first] == '<';
  return found.value_or(xml ? FileFormat::kUrdf : FileFormat::kScene);
}

FileFormat find_format(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".toml") return FileFormat::kScene;
  std::string head(4096, '\0');
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) {
    std::ifstream stream(file, std::ios::binary);
    stream.read(head.data(), std::streamsize(head.size()));
    head.resize(std::size_t(std::max<std::streamsize>(stream.gcount(), 0)));
  } else {
    head.clear();
  }
  if (const auto found = format_by_element(head)) return *found;
  if (ending == ".sdf" || ending == ".world") return FileFormat::kSdf;
  if (ending == ".xml" || ending == ".mjcf") return FileFormat::kMjcf;
  return ending != ".urdf" && looks_like_toml(head) ? FileFormat::kScene : FileFormat::kUrdf;
}

}  // namespace kansetsu::io
