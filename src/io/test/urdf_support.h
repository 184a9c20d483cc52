#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data_dir.h"
#include "kansetsu/io/urdf.h"

/// Short models for the tests of the URDF reader and writer.
namespace kansetsu::io::test {

/// The body within <robot name="r">; its first line is line 2 of the file "r.urdf".
inline Loaded<ModelDescription> parse_body(std::string_view body) {
  return parse_urdf("<robot name=\"r\">\n" + std::string(body) + "\n</robot>", "r.urdf");
}

/// Two links and, between them, the given joint with parent and child added.
inline Loaded<ModelDescription> parse_joint(std::string_view type, std::string_view content) {
  return parse_body("<link name=\"a\"/><link name=\"b\"/>\n<joint name=\"j\" type=\"" + std::string(type) +
                    "\"><parent link=\"a\"/><child link=\"b\"/>\n" + std::string(content) + "</joint>");
}

inline Loaded<ModelDescription> parse_link(std::string_view content) {
  return parse_body("<link name=\"a\">\n" + std::string(content) + "</link>");
}

inline const Diagnostic* find(const std::vector<Diagnostic>& diagnostics, std::string_view code) {
  const auto it =
      std::find_if(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& d) { return d.code == code; });
  return it == diagnostics.end() ? nullptr : &*it;
}

inline int count_errors(const std::vector<Diagnostic>& diagnostics) {
  return static_cast<int>(
      std::count_if(diagnostics.begin(), diagnostics.end(), [](const auto& d) { return d.is_error(); }));
}

/// What is remarked beside the want of mass, which the short models of these tests have in common.
inline std::vector<Diagnostic> remarks(const Loaded<ModelDescription>& loaded) {
  std::vector<Diagnostic> rest = loaded.diagnostics;
  std::erase_if(rest, [](const Diagnostic& d) { return d.code == "URDF033" || d.code == "MODEL070"; });
  return rest;
}

/// The document is refused with the code, for exactly one reason.
inline Diagnostic refused(const Loaded<ModelDescription>& loaded, std::string_view code) {
  INFO(to_string(loaded.diagnostics));
  CHECK_FALSE(loaded.value.has_value());
  CHECK(count_errors(loaded.diagnostics) == 1);
  const Diagnostic* found = find(loaded.diagnostics, code);
  REQUIRE_MESSAGE(found, code);
  CHECK(found->is_error());
  CHECK_FALSE(found->hint.empty());
  return *found;
}

/// The document is accepted with the warning.
inline Diagnostic warned(const Loaded<ModelDescription>& loaded, std::string_view code) {
  INFO(to_string(loaded.diagnostics));
  CHECK(loaded.value.has_value());
  const Diagnostic* found = find(loaded.diagnostics, code);
  REQUIRE_MESSAGE(found, code);
  CHECK_FALSE(found->is_error());
  return *found;
}

inline ModelDescription accepted(const Loaded<ModelDescription>& loaded) {
  INFO(to_string(loaded.diagnostics));
  REQUIRE(loaded.value.has_value());
  return *loaded.value;
}

/// Every .urdf file under a folder of the recorded data, in order.
inline std::vector<std::filesystem::path> data_files(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kansetsu::test::data_dir() / folder)) {
    if (entry.path().extension() == ".urdf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  return files;
}

}  // namespace kansetsu::io::test
