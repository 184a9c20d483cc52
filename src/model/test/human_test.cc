#include "kansetsu/model/human.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

double mass_of(const Model& model, const char* link) { return model.link(model.link_id(link)).inertial->mass; }

}  // namespace

TEST_CASE("shares of segments add up to a body") {
  for (const Sex sex : {Sex::kFemale, Sex::kMale}) {
    double mass = 0;
    for (const SegmentShare& s : segment_shares(sex)) {
      const std::string name = s.name;
      const bool pair = name != "head" && name.find("trunk") == std::string::npos;
      mass += (pair ? 2 : 1) * s.mass;
      CHECK(s.com > 0.3);
      CHECK(s.com < 0.8);
      // Moments of a body fulfil the triangle inequality.
      const Vec3<> r{s.gyration.x * s.gyration.x, s.gyration.y * s.gyration.y, s.gyration.z * s.gyration.z};
      CHECK(r.x < r.y + r.z);
      CHECK(r.y < r.x + r.z);
      CHECK(r.z < r.x + r.y);
    }
    CHECK(mass == doctest::Approx(1).epsilon(0.0005));
  }
}

TEST_CASE("a human has the mass, the height and the segments that are asked for") {
  for (const HumanOptions options :
       {HumanOptions{}, HumanOptions{60, 1.68, Sex::kFemale}, HumanOptions{95, 1.95, Sex::kMale}}) {
    const Model model = human(options);
    const double mass = options.mass > 0 ? options.mass : 73.0, height = options.height > 0 ? options.height : 1.741;
    CHECK(model.nv() == 43);
    CHECK(model.mass() == doctest::Approx(mass).epsilon(0.0005));
    CHECK(mass_of(model, "thigh_l") == mass_of(model, "thigh_r"));
    const auto shares = segment_shares(options.sex);
    CHECK(mass_of(model, "thigh_l") == doctest::Approx(mass * shares[7].mass));
    CHECK(mass_of(model, "foot_l") + mass_of(model, "toes_l") == doctest::Approx(mass * shares[9].mass));
    // From the sole to the top of the head, along the joints.
    double up = 0;
    for (const char* joint : {"lumbar_z", "thoracic_z", "neck_z"}) up += model.joint(model.joint_id(joint)).socket.p.z;
    for (const char* joint : {"knee_l_y", "ankle_l_y"}) up -= model.joint(model.joint_id(joint)).socket.p.z;
    up -= model.frame(model.frame_id("soleL")).origin.p.z;
    const double sum = shares[0].length + shares[1].length + shares[2].length + shares[3].length + shares[7].length +
                       shares[8].length + 0.039;
    CHECK(up + height / sum * shares[0].length == doctest::Approx(height));
  }
}

TEST_CASE("foot and toes together are the foot of the table") {
  const Model model = human();
  const SegmentShare& s = segment_shares(Sex::kMale)[9];
  const Inertial foot = *model.link(model.link_id("foot_l")).inertial,
                 toes = *model.link(model.link_id("toes_l")).inertial;
  const Vec3<> joint = model.joint(model.joint_id("toes_l_y")).socket.p;
  const double m = foot.mass + toes.mass;
  const Vec3<> toe_com = joint + toes.origin.p, com = (1 / m) * (foot.mass * foot.origin.p + toes.mass * toe_com);
  const Vec3<> a = foot.origin.p - com, b = toe_com - com;
  const double length =
      model.joint(model.joint_id("knee_l_y")).socket.p.z / (-segment_shares(Sex::kMale)[7].length) * s.length;
  CHECK(foot.inertia.yy + toes.inertia.yy + foot.mass * (a.x * a.x + a.z * a.z) + toes.mass * (b.x * b.x + b.z * b.z) ==
        doctest::Approx(m * length * length * s.gyration.y * s.gyration.y));
  CHECK(foot.inertia.xx > 0);
}

TEST_CASE("humans are known by name, and those that nobody is are refused") {
  CHECK(find_figure("human")->nv() == 43);
  CHECK(find_figure("human:female:1.68m:60kg")->mass() == doctest::Approx(60).epsilon(0.0005));
  CHECK(find_figure("human:female:1.68m:60kg")->name() == "human:female:1.68m:60kg");
  CHECK(find_sex("male") == Sex::kMale);
  CHECK_FALSE(find_sex("other"));
  CHECK_THROWS_AS(human({.mass = 1000}), Error);
  CHECK_THROWS_AS(human({.height = 3}), Error);
  CHECK_THROWS_AS(human({.mass = -1}), Error);
}
