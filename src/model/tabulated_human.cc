#include "kansetsu/model/human.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numbers>
#include <string>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"

/// The figure `human`. In the reference posture it stands upright, palms to the thighs; all links are parallel to the world (x
/// forward, y left, z up), each with its origin at its joint.
namespace kansetsu {
namespace anthropometry {
namespace {

struct Subjects {
  double mass, height;  ///< mean of those measured [kg, mm]
  std::array<SegmentShare, 10> segments;
};

enum Segment { kHead, kUpperTrunk, kMiddleTrunk, kLowerTrunk, kUpperArm, kForearm, kHand, kThigh, kShank, kFoot };

// Lengths [mm] become shares of the height below. Head from vertex to cervicale, trunk from cervicale over xiphion and omphalion to
// the middle of the hips, limbs between joint centres (shank to the lateral malleolus, hand to the third metacarpale), foot from
// heel to toe tip.
// clang-format off
constexpr Subjects kFemale{61.9, 1735, {{
    {"head",         243.7, 0.0668, 0.4841, {0.271, 0.295, 0.261}},
    {"upper trunk",  228.0, 0.1545, 0.5050, {0.466, 0.314, 0.449}},
    {"middle trunk", 205.3, 0.1465, 0.4512, {0.433, 0.354, 0.415}},
    {"lower trunk",  181.5, 0.1247, 0.4920, {0.433, 0.402, 0.444}},
    {"upper arm",    275.1, 0.0255, 0.5754, {0.278, 0.260, 0.148}},
    {"forearm",      264.3, 0.0138, 0.4559, {0.261, 0.257, 0.094}},
    {"hand",          78.0, 0.0056, 0.7474, {0.531, 0.454, 0.335}},
    {"thigh",        368.5, 0.1478, 0.3612, {0.369, 0.364, 0.162}},
    {"shank",        432.3, 0.0481, 0.4416, {0.271, 0.267, 0.093}},
    {"foot",         228.3, 0.0129, 0.4014, {0.299, 0.279, 0.139}}}}};
constexpr Subjects kMale{73.0, 1741, {{
    {"head",         242.9, 0.0694, 0.5002, {0.303, 0.315, 0.261}},
    {"upper trunk",  242.1, 0.1596, 0.5066, {0.505, 0.320, 0.465}},
    {"middle trunk", 215.5, 0.1633, 0.4502, {0.482, 0.383, 0.468}},
    {"lower trunk",  145.7, 0.1117, 0.6115, {0.615, 0.551, 0.587}},
    {"upper arm",    281.7, 0.0271, 0.5772, {0.285, 0.269, 0.158}},
    {"forearm",      268.9, 0.0162, 0.4574, {0.276, 0.265, 0.121}},
    {"hand",          86.2, 0.0061, 0.7900, {0.628, 0.513, 0.401}},
    {"thigh",        422.2, 0.1416, 0.4095, {0.329, 0.329, 0.149}},
    {"shank",        434.0, 0.0433, 0.4459, {0.255, 0.249, 0.103}},
    {"foot",         258.1, 0.0137, 0.4415, {0.257, 0.245, 0.124}}}}};
// clang-format on

/// Heights of the body above the ankle, and widths between joint centres, which the table does not tell: Drillis and Contini (1966) for
/// the ankle; hips and shoulders by the mean of OpenSim's gait models.
constexpr double kAnkleHeight = 0.039, kHipWidth = 0.098, kShoulderWidth = 0.21;
/// Of the foot's length: the ankle over the sole, where the toes begin, half the sole's width; toes' share of the foot's mass.
constexpr double kAnkle = 0.22, kToes = 0.72, kHalfSole = 0.18, kToesMass = 0.12;

const Subjects& subjects(Sex sex) { return sex == Sex::kFemale ? kFemale : kMale; }

std::array<SegmentShare, 10> shares_of(Sex sex) {
  std::array<SegmentShare, 10> out = subjects(sex).segments;
  for (SegmentShare& s : out) s.length /= subjects(sex).height;
  return out;
}

struct Range {
  double lower, upper;  ///< [deg], of the left side
};

/// A body of the figure.
struct Part {
  std::string link;
  double mass;
  Vec3<> com, moments;
};

struct Joint {
  std::string name, parent, child;
  Vec3<> at;
  const char* axes;
  std::array<Range, 3> limits;
};

class Maker {
 public:
  explicit Maker(const HumanOptions& options) : shares_(shares_of(options.sex)), builder_(human_name(options)) {
    const Subjects& mean = subjects(options.sex);
    mass_ = options.mass > 0 ? options.mass : mean.mass;
    height_ = options.height > 0 ? options.height : mean.height / 1000;
    // Head, trunk, leg and ankle add up to a height that differs from the body's by 2 %.
    const double sum = shares_[kHead].length + shares_[kUpperTrunk].length + shares_[kMiddleTrunk].length +
                       shares_[kLowerTrunk].length + shares_[kThigh].length + shares_[kShank].length + kAnkleHeight;
    stretch_ = height_ / sum;
  }

  Model make() {
    builder_.base(Base::kFree);
    // Frame of the pelvis: between the hips.
    const double lower = length(kLowerTrunk), middle = length(kMiddleTrunk), upper = length(kUpperTrunk);
    add(whole("pelvis", kLowerTrunk, {0, 0, lower}), capsule({0, -0.07, 0.5 * lower}, {0, 0.07, 0.5 * lower}, 0.09));
    add(whole("abdomen", kMiddleTrunk, {0, 0, middle}),
        capsule({0, -0.04, 0.5 * middle}, {0, 0.04, 0.5 * middle}, 0.1));
    add(whole("thorax", kUpperTrunk, {0, 0, upper}), capsule({0, -0.06, 0.45 * upper}, {0, 0.06, 0.45 * upper}, 0.11));
    add(whole("head", kHead, {0, 0, length(kHead)}), capsule({0, 0, 0.09}, {0, 0, length(kHead) - 0.09}, 0.09));
    hinge({"lumbar", "pelvis", "abdomen", {0, 0, lower}, "zxy", {{{-30, 30}, {-25, 25}, {-25, 50}}}}, false);
    hinge({"thoracic", "abdomen", "thorax", {0, 0, middle}, "zxy", {{{-35, 35}, {-25, 25}, {-25, 40}}}}, false);
    hinge({"neck", "thorax", "head", {0, 0, upper}, "zxy", {{{-70, 70}, {-45, 45}, {-60, 50}}}}, false);
    for (const bool right : {false, true}) leg(right);
    for (const bool right : {false, true}) arm(right);
    return builder_.build();
  }

 private:
  double length(Segment s) const { return stretch_ * shares_[s].length; }

  /// A segment whose upper end is at `top` and whose lower end is below it.
  Part whole(const std::string& link, Segment s, const Vec3<>& top) const {
    const SegmentShare& share = shares_[s];
    const double m = mass_ * share.mass, l = length(s);
    const Vec3<> r = l * share.gyration;
    return {link, m, {top.x, top.y, top.z - share.com * l}, {m * r.x * r.x, m * r.y * r.y, m * r.z * r.z}};
  }

  static LinkShape capsule(const Vec3<>& a, const Vec3<>& b, double radius) {
    constexpr double kQuarterTurn = std::numbers::pi / 2;
    const Vec3<> along = b - a;
    const Vec3<> rpy{along.y != 0 ? kQuarterTurn : 0, along.x != 0 ? kQuarterTurn : 0, 0};
    return {.origin = {0.5 * (a + b), rpy},
            .shape = Capsule{radius, norm(along)},
            .material = Material{.name = "skin", .rgba = std::vector<double>{0.80, 0.66, 0.56, 1}}};
  }

  void add(const Part& part, const LinkShape& shape) {
    builder_.link(
        {.name = part.link,
         .inertial =
             Inertial{part.mass, {.p = part.com}, Sym3<>::diagonal(part.moments.x, part.moments.y, part.moments.z)},
         .visuals = {shape},
         .collisions = {shape}});
  }

  /// One hinge per axis; links between them have no mass. A reflection turns rotations about x and z around.
  void hinge(const Joint& j, bool right) {
    constexpr double kDegree = std::numbers::pi / 180;
    const std::string axes = j.axes;
    std::string parent = j.parent;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::string name = j.name + "_" + axes[k];
      const bool last = k + 1 == axes.size();
      if (!last) builder_.link(name);
      Range range = j.limits[k];
      if (right && axes[k] != 'y') range = {-range.upper, -range.lower};
      builder_.joint({.name = name,
                      .type = JointType::kRevolute,
                      .parent = parent,
                      .child = last ? j.child : name,
                      .socket = {.p = k == 0 ? j.at : Vec3<>{}},
                      .axis = {axes[k] == 'x' ? 1.0 : 0.0, axes[k] == 'y' ? 1.0 : 0.0, axes[k] == 'z' ? 1.0 : 0.0},
                      .dofs = {{.lower = kDegree * range.lower, .upper = kDegree * range.upper}}});
      parent = last ? j.child : name;
    }
    builder_.no_collision(j.parent, j.child);
  }

  void leg(bool right) {
    const std::string side = right ? "_r" : "_l";
    const double thigh = length(kThigh), shank = length(kShank), out = (right ? -0.5 : 0.5) * kHipWidth * height_;
    add(whole("thigh" + side, kThigh, {}), capsule({0, 0, -0.03}, {0, 0, -thigh}, 0.065));
    add(whole("shank" + side, kShank, {}), capsule({0, 0, -0.02}, {0, 0, -shank}, 0.045));
    hinge({"hip" + side, "pelvis", "thigh" + side, {0, out, 0}, "zxy", {{{-45, 45}, {-30, 45}, {-125, 30}}}}, right);
    hinge({"knee" + side, "thigh" + side, "shank" + side, {0, 0, -thigh}, "y", {{{0, 150}}}}, right);
    foot(side, shank, right);
  }

  /// Foot and toes together have the table's mass, centre and moments.
  void foot(const std::string& side, double shank, bool right) {
    const SegmentShare& share = shares_[kFoot];
    const double l = stretch_ * share.length, m = mass_ * share.mass, ankle = stretch_ * kAnkleHeight;
    const double heel = -kAnkle * l, begin = heel + kToes * l, tip = heel + l;
    const double toes = kToesMass * m, rest = m - toes;
    const Vec3<> com{heel + share.com * l, 0, -0.55 * ankle};  // a little below the middle between ankle and sole
    const double toe_height = 0.3 * ankle;
    const Vec3<> toe_com{0.5 * (begin + tip), 0, -ankle + 0.5 * toe_height};
    const Vec3<> rest_com = (1 / rest) * (m * com - toes * toe_com);
    // Toes: a box. What is left of the whole foot's moments, about the longitudinal, transverse and sagittal axis: x, y and z here.
    const double a = tip - begin, b = 2 * kHalfSole * l, c = toe_height;
    const Vec3<> toe_moments{toes / 12 * (b * b + c * c), toes / 12 * (a * a + c * c), toes / 12 * (a * a + b * b)};
    const Vec3<> r = l * share.gyration, apart = rest_com - com, toe_apart = toe_com - com;
    const auto steiner = [](double mass, const Vec3<>& d) {
      return mass * Vec3<>{d.y * d.y + d.z * d.z, d.x * d.x + d.z * d.z, d.x * d.x + d.y * d.y};
    };
    const Vec3<> whole{m * r.z * r.z, m * r.y * r.y, m * r.x * r.x};
    const Vec3<> moments = whole - toe_moments - steiner(toes, toe_apart) - steiner(rest, apart);
    const auto box = [&](double from, double to, double high) {
      return LinkShape{.origin = {.p = {0.5 * (from + to), 0, -ankle + 0.5 * high}},
                       .shape = Box{{to - from, b, high}},
                       .material = Material{.name = "shoe", .rgba = std::vector<double>{0.2, 0.2, 0.22, 1}}};
    };
    add({"foot" + side, rest, rest_com, moments}, box(heel, begin, 0.6 * ankle));
    hinge({"ankle" + side, "shank" + side, "foot" + side, {0, 0, -shank}, "yx", {{{-30, 55}, {-35, 35}}}}, right);
    LinkShape toe_box = box(begin, tip, toe_height);
    const Vec3<> joint{begin, 0, -ankle + 0.5 * toe_height};
    toe_box.origin.p -= joint;
    add({"toes" + side, toes, toe_com - joint, toe_moments}, toe_box);
    hinge({"toes" + side, "foot" + side, "toes" + side, joint, "y", {{{-65, 30}}}}, right);
    builder_.frame({right ? "soleR" : "soleL", "foot" + side, {.p = {0, 0, -ankle}}});
  }

  void arm(bool right) {
    const std::string side = right ? "_r" : "_l";
    const double upper = length(kUpperArm), fore = length(kForearm), hand = length(kHand);
    const double out = (right ? -0.5 : 0.5) * kShoulderWidth * height_;
    // The shoulder is as high as the suprasternale: Winter's 0.818 of the height.
    const double up = length(kUpperTrunk) - (height_ * (1 - 0.818) - length(kHead));
    add(whole("upper_arm" + side, kUpperArm, {}), capsule({0, 0, -0.02}, {0, 0, -upper}, 0.04));
    add(whole("forearm" + side, kForearm, {}), capsule({0, 0, -0.03}, {0, 0, -fore}, 0.032));
    // Palms face the thighs: the sagittal axis of the hand, through its palm, is across the body.
    Part palm = whole("hand" + side, kHand, {});
    std::swap(palm.moments.x, palm.moments.y);
    add(palm, capsule({0, 0, -0.03}, {0, 0, -1.6 * hand}, 0.03));
    hinge({"shoulder" + side, "thorax", "upper_arm" + side, {0, out, up}, "yxz", {{{-180, 60}, {-30, 180}, {-90, 90}}}},
          right);
    hinge({"elbow" + side, "upper_arm" + side, "forearm" + side, {0, 0, -upper}, "yz", {{{-150, 0}, {-90, 90}}}},
          right);
    hinge({"wrist" + side, "forearm" + side, "hand" + side, {0, 0, -fore}, "xy", {{{-70, 70}, {-25, 35}}}}, right);
    builder_.frame({right ? "gripR" : "gripL", "hand" + side, {.p = {0, 0, -hand}}});
  }

  std::array<SegmentShare, 10> shares_;
  ModelBuilder builder_;
  double mass_ = 0, height_ = 0, stretch_ = 1;
};

}  // namespace
}  // namespace anthropometry

std::optional<Sex> find_sex(std::string_view name) {
  if (name == "female") return Sex::kFemale;
  if (name == "male") return Sex::kMale;
  return std::nullopt;
}

std::span<const SegmentShare> segment_shares(Sex sex) {
  static const std::array<SegmentShare, 10> kShares[] = {anthropometry::shares_of(Sex::kFemale),
                                                         anthropometry::shares_of(Sex::kMale)};
  return kShares[sex == Sex::kFemale ? 0 : 1];
}

std::optional<HumanOptions> parse_human(std::string_view name) {
  HumanOptions out;
  if (!name.starts_with("human")) return std::nullopt;
  name.remove_prefix(5);
  while (!name.empty()) {
    if (name.front() != ':') return std::nullopt;
    const std::string_view word = name.substr(1, name.find(':', 1) - 1);
    name.remove_prefix(1 + word.size());
    if (const std::optional<Sex> sex = find_sex(word)) {
      out.sex = *sex;
      continue;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const std::string_view unit = word.substr(std::size_t(end - word.data()));
    if (error != std::errc() || !(value > 0) || (unit != "m" && unit != "kg")) return std::nullopt;
    (unit == "m" ? out.height : out.mass) = value;
  }
  return out;
}

std::string human_name(const HumanOptions& options) {
  std::string out = "human";
  if (options.sex == Sex::kFemale) out += ":female";
  if (options.height > 0) out += fmt::format(":{}m", options.height);
  if (options.mass > 0) out += fmt::format(":{}kg", options.mass);
  return out;
}

Model human(const HumanOptions& options) {
  constexpr double kLightest = 2, kHeaviest = 650, kShortest = 0.4, kTallest = 2.8;  // of people that there have been
  const auto inside = [](double x, double low, double high) { return x == 0 || (x >= low && x <= high); };
  if (!inside(options.mass, kLightest, kHeaviest) || !inside(options.height, kShortest, kTallest))
    throw Error(fmt::format("human: a mass of {} kg and a height of {} m are out of range ({} to {} kg, {} to {} m)",
                            options.mass, options.height, kLightest, kHeaviest, kShortest, kTallest));
  return anthropometry::Maker(options).make();
}

}  // namespace kansetsu
