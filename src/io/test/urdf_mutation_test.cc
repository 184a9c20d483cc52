#include <random>

#include "io/test/urdf_property.h"
#include "io/test/urdf_support.h"

using namespace kansetsu;
using namespace kansetsu::io::test;

namespace {

constexpr const char* kSeedModel = R"(<?xml version="1.0"?>
<robot name="seed">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"><inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual name="v"><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="1"/></geometry></collision></link>
  <link name="hand"><visual><geometry><mesh filename="hand.stl" scale="1 1 1"/></geometry></visual></link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"><origin xyz="0 0 1"/><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1" friction="0.2"/>
    <kansetsu><dof rotor_inertia="0.01" stiffness="1" rest="0.5"/></kansetsu></joint>
  <joint name="wrist" type="continuous"><parent link="arm"/><child link="hand"/><mimic joint="shoulder" multiplier="2"/></joint>
  <joint name="slide" type="planar"><parent link="hand"/><child link="tip"/><kansetsu><dof index="2" upper="1"/></kansetsu></joint>
  <frame name="grip" link="hand" xyz="0 0 0.1"/>
  <kansetsu base="free" gravity="0 0 -9.8"><actuator name="m" joint="shoulder" gear="100"/>
    <collision_filter a="base" b="tip"/></kansetsu>
  <transmission name="t"/>
</robot>
)";

constexpr const char* kPieces[] = {"<",
                                   ">",
                                   "/>",
                                   "\"",
                                   "=",
                                   "&",
                                   "&#0;",
                                   "&#xD800;",
                                   "<!--",
                                   "-->",
                                   "<![CDATA[",
                                   "${x}",
                                   "nan",
                                   "inf",
                                   "-inf",
                                   "1e999",
                                   "-1",
                                   "0",
                                   "1e-400",
                                   "1.7976931348623157e308",
                                   " ",
                                   "\n",
                                   "</link>",
                                   "<link name=\"base\"/>",
                                   "<joint name=\"wrist\" type=\"ball\">",
                                   "base",
                                   "arm",
                                   "fixed",
                                   "floating",
                                   "ball",
                                   "helical",
                                   "universal",
                                   "world",
                                   "\xff",
                                   "\xef\xbb\xbf",
                                   "index=\"1\""};

/// Begin and end of every quoted attribute value.
std::vector<std::pair<std::size_t, std::size_t>> values_in(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> values;
  for (std::size_t end = 0;;) {
    const std::size_t begin = text.find('"', end);
    if (begin == std::string::npos) return values;
    end = text.find('"', begin + 1);
    if (end++ == std::string::npos) return values;
    values.emplace_back(begin + 1, end - 1);
  }
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : rng_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t edits = 1 + below(3);
    for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
      below(3) == 0 ? change_bytes(text) : change_value(text);
    }
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(rng_() % std::max<std::size_t>(n, 1)); }

  /// A value becomes another one of the file, or a piece that is likely to be odd.
  void change_value(std::string& text) {
    const auto values = values_in(text);
    if (values.empty()) return;
    const auto [begin, end] = values[below(values.size())];
    const auto [other, other_end] = values[below(values.size())];
    const std::string piece = below(2) ? text.substr(other, other_end - other) : kPieces[below(std::size(kPieces))];
    text.replace(begin, below(4) ? end - begin : 0, piece);
  }

  /// Bytes changed, removed, doubled or put in, anywhere.
  void change_bytes(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(1 + below(40), text.size() - at);
    const std::string piece = text.substr(at, length);
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(rng_());
        break;
      case 1:
        text[at] = static_cast<char>('!' + below(90));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size()), piece);
        break;
      default:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
    }
  }

  std::mt19937_64 rng_;
};

}  // namespace

TEST_CASE("the model that is mutated is a good one") {
  CHECK(urdf_violation(kSeedModel) == "");
  accepted(kansetsu::io::parse_urdf(kSeedModel));
}

TEST_CASE("mutated files are refused with an error or accepted as valid models") {
  int read = 0;
  for (std::uint64_t seed = 1; seed <= 10000; ++seed) {
    const std::string text = Mutator(seed).mutate(kSeedModel);
    const std::string violation = urdf_violation(text);
    if (!violation.empty()) FAIL_CHECK("seed ", seed, ": ", violation, "\n", text);
    read += kansetsu::io::parse_urdf(text).value.has_value();
  }
  CHECK(read > 500);  // the test is about both outcomes
  CHECK(read < 9000);
}
