#include "kansetsu/motion/retarget.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

namespace {

/// A marching human28 as a captured skeleton: its own links, under the names of a converter, in another unit and other axes.
struct March {
  Model model = human28();
  Capture capture;
  std::vector<Eigen::VectorXd> q;
};

const std::vector<std::pair<std::string, std::string>> kBones{{"Hips", "Body"},
                                                              {"Spine1", "UpperBody"},
                                                              {"Head", "Head"},
                                                              {"LeftUpLeg", "UpperLegL"},
                                                              {"LeftLeg", "LowerLegL"},
                                                              {"LeftFoot", "FootL"},
                                                              {"RightUpLeg", "UpperLegR"},
                                                              {"RightLeg", "LowerLegR"},
                                                              {"RightFoot", "FootR"},
                                                              {"LeftArm", "UpperArmL"},
                                                              {"LeftForeArm", "LowerArmL"},
                                                              {"RightArm", "UpperArmR"},
                                                              {"RightForeArm", "LowerArmR"}};

void add_bones(const Model& model, Capture& c) {
  const LinkPoses rest = fk(model, neutral(model));
  const Mat3<> R_CW = transpose(c.axes);
  const auto parent_of = [&](const std::string& link) {
    for (auto up = model.parent(model.link_id(link)); up; up = model.parent(*up))
      for (std::size_t i = 0; i < kBones.size(); ++i)
        if (kBones[i].second == model.link(*up).name) return static_cast<int>(i);
    return -1;
  };
  for (const auto& [bone, link] : kBones) {
    const int parent = parent_of(link);
    const Vec3<> p = rest[model.link_id(link)].p;
    const Vec3<> from = parent < 0 ? Vec3<>{} : rest[model.link_id(kBones[static_cast<std::size_t>(parent)].second)].p;
    c.bones.push_back(
        {.name = bone, .parent = parent, .offset = (1 / c.unit) * (R_CW * (p - from)), .moves = parent < 0});
  }
  for (const char* side : {"Left", "Right"}) {
    const std::string s(side);
    c.bones.push_back({.name = s + "ToeBase",
                       .parent = *c.find_bone(s + "Foot"),
                       .offset = (1 / c.unit) * (R_CW * Vec3<>{0.14, 0, -0.03})});
    c.bones.push_back({.name = s + "Hand",
                       .parent = *c.find_bone(s + "ForeArm"),
                       .offset = (1 / c.unit) * (R_CW * Vec3<>{0, 0, -0.25})});
  }
  c.bones.push_back(
      {.name = "Neck", .parent = *c.find_bone("Spine1"), .offset = (1 / c.unit) * (R_CW * Vec3<>{0, 0, 0.45})});
}

void add_frame(const Model& model, const Eigen::VectorXd& q, Capture& c) {
  const LinkPoses now = fk(model, q);
  const Mat3<> R_CW = transpose(c.axes);
  for (std::size_t i = 0; i < c.bones.size(); ++i) {
    const Bone& bone = c.bones[i];
    if (i >= kBones.size()) {
      c.poses.push_back({{}, bone.offset});
      continue;
    }
    const Transform<>& X = now[model.link_id(kBones[i].second)];
    // At rest all bones lie as the world does; in file axes the turn from there is R_CW·R·R_WC.
    const Mat3<> R_parent = bone.parent < 0
                                ? Mat3<>::identity()
                                : now[model.link_id(kBones[static_cast<std::size_t>(bone.parent)].second)].R;
    const Mat3<> R = R_CW * transpose(R_parent) * X.R * c.axes;
    c.poses.push_back({to_quaternion(R), bone.parent < 0 ? (1 / c.unit) * (R_CW * X.p) : bone.offset});
  }
}

/// Arms swing, the trunk turns, one leg after the other is lifted; the base goes straight ahead and up and down.
March march(double unit, const Mat3<>& axes, int frames = 120) {
  March m;
  m.capture.name = "march";
  m.capture.unit = unit;
  m.capture.axes = axes;
  m.capture.frame_time = 0.01;
  add_bones(m.model, m.capture);
  const auto set = [&](Eigen::VectorXd& q, const char* joint, double angle) {
    q[m.model.coordinates(m.model.joint_id(joint)).q] = angle;
  };
  for (int k = 0; k < frames; ++k) {
    const double t = 0.01 * k, s = std::sin(2 * std::numbers::pi * t);
    Eigen::VectorXd q = neutral(m.model);
    q[0] = 0.8 * t, q[1] = 0.1 * s, q[2] = 0.9 + 0.02 * s;
    set(q, "hipL_y", -0.3 + 0.3 * s), set(q, "kneeL_y", 0.5 - 0.3 * s), set(q, "ankleL_y", -0.2);
    set(q, "hipR_y", -0.3 - 0.3 * s), set(q, "kneeR_y", 0.5 + 0.3 * s), set(q, "hipR_x", 0.1 * s);
    set(q, "waist_z", 0.2 * s), set(q, "waist_y", 0.1), set(q, "neck_z", 0.4 * s), set(q, "neck_y", 0.1);
    set(q, "shoulderL_y", -0.4 * s), set(q, "shoulderL_x", 0.3), set(q, "shoulderL_z", 0.2 * s),
        set(q, "elbowL_y", -0.8);
    set(q, "shoulderR_y", 0.4 * s), set(q, "shoulderR_x", -0.3), set(q, "elbowR_y", -0.6 - 0.3 * s);
    m.q.push_back(q);
    add_frame(m.model, q, m.capture);
  }
  return m;
}

constexpr Mat3<> kYUp{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};  // x_W = z, y_W = x, z_W = y

/// Stands on the left foot, swings the right one by, and the other way round; pelvis level.
Clip stepping(const Model& model, int frames) {
  Clip clip{.name = "steps", .q = Eigen::MatrixXd(model.nq(), frames)};
  for (int k = 0; k < frames; ++k) {
    clip.times.push_back(0.01 * k);
    Eigen::VectorXd q = neutral(model);
    q[2] = 0.88;
    const double lift = std::max(0.0, std::sin(2 * std::numbers::pi * 0.01 * k));
    q[model.coordinates(model.joint_id("hipR_y")).q] = -0.8 * lift;
    q[model.coordinates(model.joint_id("kneeR_y")).q] = 1.6 * lift;
    q[model.coordinates(model.joint_id("ankleR_y")).q] = -0.8 * lift;
    clip.q.col(k) = q;
  }
  return clip;
}

/// Codes of what was told.
std::string codes(const Loaded<Retargeted>& r) {
  std::string out;
  for (const Diagnostic& d : r.diagnostics) out += (out.empty() ? "" : " ") + d.code;
  return out;
}

/// A march whose left thigh turns about its own length by `angle` in frames [first, first + count).
Capture turned_thigh(const March& m, int first, int count, double angle) {
  Capture out = m.capture;
  const auto bones = out.bones.size(), thigh = std::size_t(*out.find_bone("LeftUpLeg"));
  for (int k = first; k < first + count; ++k) {
    Quaternion<>& turn = out.poses[std::size_t(k) * bones + thigh].turn;
    turn = turn * exp_quaternion(Vec3<>{0, 0, angle});
  }
  return out;
}

}  // namespace

TEST_CASE("a thigh that turns around for some frames, and back, does not take the figure along") {
  const March m = march(1, Mat3<>::identity());
  for (const bool limits : {true, false}) {
    CAPTURE(limits);
    const RetargetOptions options{.floor = 0, .move_to_origin = false, .pin_feet = false, .limits = limits};
    const auto as_it_was = retarget(m.model, m.capture, options);
    const auto mended = retarget(m.model, turned_thigh(m, 40, 6, 3), options);
    CHECK(codes(as_it_was).empty());
    CHECK(codes(mended).find("MAP014") != std::string::npos);
    CHECK(mended.diagnostics.back().message.find("6 frames are interpolated, first frame 40") != std::string::npos);
    REQUIRE(mended);
    double apart = 0;
    for (int k = 0; k < 120; ++k)
      apart = std::max(
          apart,
          difference(m.model, as_it_was.value->clip.q.col(k), mended.value->clip.q.col(k)).cwiseAbs().maxCoeff());
    CHECK(apart < 0.02);  // [rad] seven frames of an arc of 0.3 rad at 1 Hz, cut off by its chord
    // 60 rad/s are 0.6 rad between frames: what is slower is believed.
    CHECK(codes(retarget(m.model, turned_thigh(m, 40, 6, 0.5), options)).find("MAP014") == std::string::npos);
    CHECK(codes(retarget(m.model, turned_thigh(m, 40, 6, 0.7), options)).find("MAP014") != std::string::npos);
  }
  // At 2.5 kHz half a turn takes 393 frames, at 10 kHz 1571, more than 500: the rate is wrong, and every frame a jump.
  Capture fast = turned_thigh(m, 40, 6, 3);
  const RetargetOptions plain{.floor = 0, .pin_feet = false};
  fast.frame_time = 4e-4;
  CHECK(codes(retarget(m.model, fast, plain)).find("MAP014") != std::string::npos);
  fast.frame_time = 1e-4;
  CHECK(codes(retarget(m.model, fast, plain)).find("MAP014") == std::string::npos);
  // At the ends there is nothing to interpolate: the nearest frame stays.
  for (const int first : {0, 115}) {
    const auto mended = retarget(m.model, turned_thigh(m, first, 5, 3), {.skip_first = false});
    CHECK(codes(mended).find("MAP014") != std::string::npos);
    CHECK(codes(mended).find("MAP013") == std::string::npos);
  }
}

TEST_CASE("left for right, and sizes of no person, are told") {
  const March m = march(1, Mat3<>::identity());
  /// The march with left and right exchanged in names that end in one of these.
  const auto exchanged = [&](const std::vector<std::string>& ends) {
    Capture out = m.capture;
    for (Bone& bone : out.bones) {
      const bool left = bone.name.starts_with("Left");
      const std::string rest = bone.name.substr(left ? 4 : bone.name.starts_with("Right") ? 5 : 0);
      if (rest == bone.name || std::find(ends.begin(), ends.end(), rest) == ends.end()) continue;
      bone.name = (left ? "Right" : "Left") + rest;
    }
    return out;
  };
  const std::vector<std::string> legs{"UpLeg", "Leg", "Foot", "ToeBase"}, arms{"Arm", "ForeArm"};
  std::vector<std::string> all = legs;
  all.insert(all.end(), arms.begin(), arms.end());
  const auto told = [&](const Capture& capture) {
    for (const Diagnostic& d : retarget(m.model, capture).diagnostics)
      if (d.code == "MAP015" || d.code == "MAP016") return d.message;
    return std::string();
  };
  CHECK(told(m.capture).empty());
  CHECK(told(exchanged(legs)).find("of the legs") != std::string::npos);
  CHECK(told(exchanged(arms)).find("of the arms") != std::string::npos);
  CHECK(told(exchanged(all)).find("of arms and legs") != std::string::npos);
  // Legs of 0.80 m: 1.4 m are told from 1.76 times on, 0.3 m from 0.37 times on.
  const auto scaled = [&](double factor) {
    Capture out = m.capture;
    out.unit *= factor;
    return out;
  };
  CHECK(told(scaled(1.7)).empty());
  CHECK(told(scaled(1.8)).find("1.44 m long") != std::string::npos);
  CHECK(told(scaled(0.4)).empty());
  CHECK(told(scaled(0.35)).find("0.28 m long") != std::string::npos);
}

TEST_CASE("an arm that goes around beyond the figure's limits is followed where these are let go") {
  March m = march(1, Mat3<>::identity(), 1);
  m.capture.poses.clear();
  // The left arm swings in a full circle, as that of a bowler; the figure's shoulder ends at 60 degrees backward.
  for (int k = 0; k < 120; ++k) {
    Eigen::VectorXd q = m.q[0];
    q[m.model.coordinates(m.model.joint_id("shoulderL_y")).q] = -2 * std::numbers::pi * k / 119;
    add_frame(m.model, q, m.capture);
  }
  RetargetOptions options{.floor = 0, .move_to_origin = false, .pin_feet = false};
  const auto held = retarget(m.model, m.capture, options);
  options.limits = false;
  const auto let_go = retarget(m.model, m.capture, options);
  REQUIRE(held);
  REQUIRE(let_go);
  const auto wrist = [](const Loaded<Retargeted>& r) {
    for (const JointResidual& j : r.value->residuals)
      if (j.landmark == Landmark::kWristL) return j.largest;
    return kInfinity;
  };
  CHECK(wrist(held) > 0.05);    // [m] beyond 60 degrees it stays behind, by 0.10 at most
  CHECK(wrist(let_go) < 1e-3);  // solved to 1e-5 rad per frame, against a small pull towards the frame before
  CHECK(codes(let_go).empty());
  // Its hinges are the figure's own, and turn as evenly as the arm does: 6.3 rad/s.
  REQUIRE(!clip_problem(m.model, let_go.value->clip));
  const int y = m.model.coordinates(m.model.joint_id("shoulderL_y")).q;
  for (int k = 1; k < 120; ++k)
    CHECK(std::abs(let_go.value->clip.q(y, k) - let_go.value->clip.q(y, k - 1)) < 0.1);  // 2π/119 is 0.053
}

TEST_CASE("a figure that follows its own skeleton does what it did") {
  for (const auto& [unit, axes] : {std::pair{1.0, Mat3<>::identity()}, {0.0254 / 0.45, kYUp}}) {
    CAPTURE(unit);
    const March m = march(unit, axes);
    REQUIRE(norm(guess_axes(m.capture).x - axes.x) < 1e-12);
    const Retargeted r =
        value_or_throw(retarget(m.model, m.capture, {.floor = 0, .move_to_origin = false, .pin_feet = false}));
    CHECK(r.table == "cgspeed");
    CHECK(r.scale == doctest::Approx(1));
    CHECK(r.first_frame == 0);
    REQUIRE(r.clip.frames() == 120);
    CHECK(!clip_problem(m.model, r.clip));
    for (const JointResidual& j : r.residuals) {
      CAPTURE(to_string(j.landmark));
      CHECK(j.largest < 1e-3);  // solved to 1e-5 rad per frame, against a small pull towards the frame before
    }
    // Joint angles, too: twists come from the turns of bones. The chest's frame is told by hips, neck and shoulders.
    double worst = 0;
    for (int k = 5; k < 120; ++k)
      worst =
          std::max(worst, difference(m.model, m.q[static_cast<std::size_t>(k)], r.clip.q.col(k)).cwiseAbs().maxCoeff());
    CHECK(worst < 0.05);  // [rad] neck and wrist twist, which weigh least
  }
}

TEST_CASE("size, place and heading of the capture do not matter") {
  const March m = march(1, Mat3<>::identity(), 60);
  Capture other = m.capture;
  const double turn = 2;
  for (Bone& bone : other.bones) bone.offset = 1.2 * bone.offset;
  for (int f = 0; f < other.frames(); ++f) {
    for (std::size_t i = 0; i < other.bones.size(); ++i) {
      BonePose& pose = other.poses[static_cast<std::size_t>(f) * other.bones.size() + i];
      pose.p = 1.2 * pose.p;
      if (i > 0) continue;
      pose.p = exp_rotation(Vec3<>{0, 0, turn}) * pose.p + Vec3<>{3, -4, 0.7};
      pose.turn = exp_quaternion(Vec3<>{0, 0, turn}) * pose.turn;
    }
  }
  const Retargeted a = value_or_throw(retarget(m.model, m.capture)), b = value_or_throw(retarget(m.model, other));
  CHECK(b.scale == doctest::Approx(a.scale / 1.2));
  CHECK(b.floor == doctest::Approx(1.2 * a.floor + 0.7).epsilon(1e-3));
  double worst = 0;
  for (int k = 0; k < 60; ++k)
    worst = std::max(worst, difference(m.model, a.clip.q.col(k), b.clip.q.col(k)).cwiseAbs().maxCoeff());
  CHECK(worst < 1e-3);                                       // where the iteration ends
  CHECK(std::hypot(a.clip.q(0, 0), a.clip.q(1, 0)) < 0.05);  // begins above the origin …
}

TEST_CASE("contacts: heels and toes on the floor, and off it") {
  const Model model = human28();
  const std::vector<FootContacts> feet = find_contacts(model, stepping(model, 200));
  REQUIRE(feet.size() == 2);
  CHECK(feet[0].name == "left");
  CHECK(norm(feet[0].heel - Vec3<>{-0.05, 0, -0.08}) < 1e-12);  // the sole of the figure's shoe
  CHECK(norm(feet[0].toe - Vec3<>{0.14, 0, -0.08}) < 1e-12);
  CHECK(feet[0].width == doctest::Approx(0.12));
  for (int k = 0; k < 200; ++k) {
    CAPTURE(k);
    CHECK(feet[0].down(k));
    const int phase = k % 100;  // lifted from 0 to 50
    if (phase > 60 && phase < 95)
      CHECK((feet[1].heel_down[static_cast<std::size_t>(k)] && feet[1].toe_down[static_cast<std::size_t>(k)]));
    if (phase > 10 && phase < 40) CHECK(!feet[1].down(k));
  }
}

TEST_CASE("skating feet stand still afterwards, on the floor") {
  const Model model = human28();
  const Clip steps = stepping(model, 200);
  March m;
  m.capture.frame_time = 0.01;
  add_bones(model, m.capture);
  for (int k = 0; k < 200; ++k) {
    Eigen::VectorXd q = steps.q.col(k);
    q[0] += 0.02 * std::sin(0.07 * k);         // the capture drifts to and fro under both feet, …
    q[2] += 0.15 + 0.004 * std::sin(0.3 * k);  // floats, and trembles
    add_frame(model, q, m.capture);
  }
  const Retargeted r = value_or_throw(retarget(model, m.capture));
  CHECK(r.floor == doctest::Approx(0.15).epsilon(0.05));
  CHECK(r.skate < 1e-3);
  const FootContacts& left = r.feet[0];
  Vec3<> place{};
  for (int k = 0; k < 200; ++k) {
    REQUIRE(left.down(k));
    const Vec3<> heel = fk(model, r.clip.q.col(k))[left.link] * left.heel;
    if (k == 0) place = heel;
    CHECK(std::abs(heel.z) < 1e-3);
    CHECK(norm(heel - place) < 2e-3);  // twice what is strayed
  }
  const Retargeted free = value_or_throw(retarget(model, m.capture, {.pin_feet = false}));
  double strayed = 0;
  for (int k = 0; k < 200; ++k)
    strayed = std::max(strayed, std::abs((fk(model, free.clip.q.col(k))[left.link] * left.heel).x -
                                         (fk(model, free.clip.q.col(0))[left.link] * left.heel).x));
  CHECK(strayed > 0.015);
}

TEST_CASE("a floor that is tilted in the capture is levelled") {
  const Model model = human28();
  March m;
  m.capture.frame_time = 0.01;
  add_bones(model, m.capture);
  constexpr double kTilt = 0.02;
  // Stands for a while in one place after the other, along a slope.
  for (int k = 0; k < 300; ++k) {
    Eigen::VectorXd q = neutral(model);
    const int place = k / 60, phase = k % 60;
    const double x = 0.6 * (place + std::max(0, phase - 40) / 20.0);
    q[0] = x;
    q[2] = 0.88 + (phase > 40 ? 0.2 : 0);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
    const Quaternion<> tilt = exp_quaternion(Vec3<>{0, -kTilt, 0});
    const Vec3<> p = rotate(tilt, Vec3<>{q[0], q[1], q[2]});
    q.head<7>() << p.x, p.y, p.z, tilt.x, tilt.y, tilt.z, tilt.w;
    add_frame(model, q, m.capture);
  }
  const Retargeted r = value_or_throw(retarget(model, m.capture));
  CHECK(r.floor_tilt == doctest::Approx(kTilt).epsilon(0.1));
  const Retargeted steep = value_or_throw(retarget(model, m.capture, {.largest_tilt = 0.01}));
  CHECK(steep.floor_tilt == 0);
}

TEST_CASE("what cannot be mapped is refused, with what is missing") {
  const March m = march(1, Mat3<>::identity(), 5);
  Capture strange = m.capture;
  for (Bone& bone : strange.bones) bone.name = "segment " + bone.name;
  const auto unknown = retarget(m.model, strange);
  CHECK(codes(unknown) == "MAP003");
  CHECK(unknown.diagnostics[0].message.find("kneeL") != std::string::npos);
  // … and read with a table.
  LandmarkTable table = skeleton_tables()[0];
  for (auto& [landmark, bone] : table.bones) bone = "segment " + bone;
  table.bones[Landmark::kHead] = "crown";
  const auto known = retarget(m.model, strange, {.table = table});
  REQUIRE(known);
  CHECK(codes(known) == "MAP010");
  table.links[Landmark::kKneeL] = {"LowerLegX", {}};
  CHECK(codes(retarget(m.model, m.capture, {.table = LandmarkTable{.links = table.links}})) == "MAP004");
  CHECK(codes(retarget(with_base(m.model, Base::kFixed), m.capture)) == "MAP002");
  Capture brief = m.capture;
  brief.poses.resize(brief.bones.size());
  CHECK(codes(retarget(m.model, brief)) == "MAP001");
  CHECK(codes(retarget(chain(4), m.capture)).find("MAP004") != std::string::npos);
  Capture legless = m.capture;
  for (Bone& bone : legless.bones) bone.offset = {};
  CHECK(codes(retarget(m.model, legless)) == "MAP006");
}

TEST_CASE("landmarks of a figure are told by its links, or by a table") {
  const auto own = find_landmarks(human28());
  CHECK(own.size() == kLandmarkCount);
  CHECK(own.at(Landmark::kKneeR).link == "LowerLegR");
  LandmarkTable table;
  table.links[Landmark::kWristL] = {"LowerArmL", {0, 0, -0.33}};
  CHECK(find_landmarks(human28(), table).at(Landmark::kWristL).at.z == -0.33);
}
