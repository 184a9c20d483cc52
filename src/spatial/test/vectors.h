#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kansetsu/spatial/quaternion.h"

/// Reference numbers of tests/vectors.
namespace kansetsu::test {

/// The cases of a file, by its path under tests/vectors.
inline nlohmann::json load_cases(const std::string& path) {
  std::ifstream file(std::string(KANSETSU_TEST_VECTORS) + "/" + path);
  REQUIRE_MESSAGE(file.good(), path);
  nlohmann::json cases = nlohmann::json::parse(file).at("cases");
  REQUIRE(!cases.empty());
  return cases;
}

inline Vec3<> vec3(const nlohmann::json& j) { return {j.at(0), j.at(1), j.at(2)}; }
/// Rows as in the file.
inline Mat3<> mat3(const nlohmann::json& j) { return {vec3(j.at(0)), vec3(j.at(1)), vec3(j.at(2))}; }
inline Quaternion<> quaternion_xyzw(const nlohmann::json& j) { return {j.at(0), j.at(1), j.at(2), j.at(3)}; }

}  // namespace kansetsu::test
