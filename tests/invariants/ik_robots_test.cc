#include <doctest/doctest.h>

#include <filesystem>

#include "data_dir.h"
#include "kansetsu/ik/arm.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

namespace {

struct Robot {
  std::string file, link;
  std::vector<std::string> locked{};
};
const Robot kRobots[] = {{"panda.urdf", "panda_link8"},
                         {"ur5_robot.urdf", "tool0"},
                         {"iiwa14_primitive_collision.urdf", "iiwa_link_ee"},
                         {"atlas_minimal_contact.urdf", "l_hand", {"back_bkz", "back_bky", "back_bkx"}}};

Model load(const std::filesystem::path& folder, const Robot& robot) {
  const Model model = value_or_throw(io::load_urdf(folder / "robots/urdf" / robot.file));
  return robot.locked.empty() ? model : lock_joints(model, robot.locked, neutral(model));
}

}  // namespace

TEST_CASE("[data] robots: 10 000 targets within the limits are reached, others end at the nearest pose") {
  const std::filesystem::path data = test::data_dir();
  for (const Robot& robot : kRobots) {
    constexpr std::uint64_t seed = 1;
    constexpr int kCount = 10'000;
    CAPTURE(robot.file);
    CAPTURE(seed);
    const Model model = load(data, robot);
    const ik::FrameOn frame = ik::frame_on(model, robot.link);
    std::mt19937_64 rng(seed);
    std::vector<Transform<>> targets;
    std::vector<double> numbers;
    for (int i = 0; i < kCount; ++i) {
      targets.push_back(fk(model, random_configuration(model, rng))[frame.link]);
      const Transform<>& X = targets.back();
      for (const Vec3<>& r : {X.R.x, X.R.y, X.R.z, X.p}) numbers.insert(numbers.end(), {r.x, r.y, r.z});
    }
    ik::ArmSolver arm(model, frame);
    Eigen::MatrixXd q =
        neutral(model).cwiseMax(model.lower_position()).cwiseMin(model.upper_position()).replicate(1, kCount);
    std::vector<ik::ArmReport> reports(kCount);
    arm.solve(kCount, numbers.data(), q.data(), reports.data());
    int solved = 0, outside = 0;
    Workspace work(model);
    LinkPoses poses(model);
    for (int i = 0; i < kCount; ++i) {
      const Eigen::VectorXd x = q.col(i);
      outside +=
          !((x.array() >= model.lower_position().array()).all() && (x.array() <= model.upper_position().array()).all());
      fk(model, x, work, poses);
      const Transform<>&at = poses[frame.link], &X = targets[size_t(i)];
      solved += norm(at.p - X.p) < 1e-6 && angular_distance(at.R, X.R) < 1e-6;
    }
    MESSAGE(robot.file << ": solved " << solved << " of " << kCount << ", seed " << seed);
    CHECK(solved >= 9950);  // 99.5 %
    CHECK(outside == 0);

    ik::Solver solver(model, ik::Problem().add(ik::PositionTask{frame, {0, 0, 20}}), {.iterations = 300});
    const ik::Report report = solver.solve(q.col(0));
    CHECK((report.status == ik::Status::kUnreachable || report.status == ik::Status::kLimitsActive));
    CHECK(report.distance > 15);
  }
}
