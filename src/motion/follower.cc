#include "motion/follower.h"

#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::retargeting {
namespace {

using L = Landmark;

constexpr double kTurnWeight = 0.15;   // [m/rad] half the length of a limb: a turn moves its far end by as much
constexpr double kTwistWeight = 0.02;  // of limbs, whose ends give their directions
constexpr double kStillness = 0.01;    // towards the frame before: decides where nothing else does, at gimbal lock
constexpr double kFootWeight = 0.5, kPinWeight = 20;  // of soles in the air, and on the floor
constexpr int kIterations = 5, kFirstRounds = 40;
constexpr double kStill = 1e-5;  // [rad, m] far below what captures know
constexpr double kLast =
    3e-4;  // [rad, m] the next step would be shorter than kStill: residuals are a thirtieth of limbs

bool is_limb(Landmark l) {
  return l != L::kPelvis && l != L::kChest && l != L::kHead && l != L::kAnkleL && l != L::kAnkleR;
}

}  // namespace

Follower::Follower(const Model& model, const FigurePoints& figure, const std::vector<FootContacts>& feet, bool limits)
    : model_(model), figure_(figure), feet_(feet), q_(neutral(model)) {
  ik::MarkerTask markers;
  for (int l = 0; l < kLandmarkCount; ++l) {
    const auto& point = figure_[static_cast<std::size_t>(l)];
    const bool place =
        Landmark(l) != L::kChest && Landmark(l) != L::kHead && Landmark(l) != L::kToeL && Landmark(l) != L::kToeR;
    if (point && place) {
      marked_.push_back(Landmark(l));
      markers.markers.push_back({point->link, point->p_L, {}, 0});
    }
  }
  for (const FootContacts& foot : feet_)
    for (const Vec3<>& p : {foot.heel, foot.toe, side_point(model, foot)})
      markers.markers.push_back({foot.link, p, {}, 0});
  ik::Problem problem;
  problem.add(std::move(markers));
  for (const L l : {L::kPelvis, L::kChest, L::kHead, L::kHipL, L::kKneeL, L::kAnkleL, L::kHipR, L::kKneeR, L::kAnkleR,
                    L::kShoulderL, L::kElbowL, L::kShoulderR, L::kElbowR}) {
    if (!at(figure_, l)) continue;
    turned_.push_back(l);
    problem.add(ik::OrientationTask{.frame = {at(figure_, l)->link, {}}, .weight = {0, 0, 0}});
  }
  Eigen::VectorXd still = Eigen::VectorXd::Constant(model.nv(), kStillness);
  still.head(model.base_coordinates().nv).setZero();
  problem.add(ik::PostureTask{q_, still});
  solver_ = std::make_unique<ik::Solver>(
      model, std::move(problem),
      ik::Options{.limits = limits, .iterations = kIterations, .damping = 1e-4, .still = kStill, .last = kLast});
}

ik::MarkerTask& Follower::markers() { return std::get<ik::MarkerTask>(solver_->problem().items[0].task); }

void Follower::start(const Targets& targets) {
  q_ = neutral(model_);
  fresh_ = true;
  const CoordinateRange base = model_.base_coordinates();
  if (base.nq != 7) return;
  const FigurePoint& pelvis = *at(figure_, L::kPelvis);
  const Mat3<> R =
      times_transpose(*at(targets.turns, L::kPelvis), pelvis.R_WL);  // of the base: neutral is the identity
  const Vec3<> p = *at(targets.points, L::kPelvis) - R * pelvis.neutral;
  const Quaternion<> quat = to_quaternion(R);
  q_.segment<7>(base.q) << p.x, p.y, p.z, quat.x, quat.y, quat.z, quat.w;
}

const Eigen::VectorXd& Follower::follow(const Targets& targets, const std::vector<PinnedPath>& pinned, int frame,
                                        const Eigen::VectorXd& ahead) {
  auto& list = markers().markers;
  for (std::size_t i = 0; i < marked_.size(); ++i) {
    const auto& p = at(targets.points, marked_[i]);
    list[i].weight = p ? 1 : 0;
    if (p) list[i].seen = *p;
  }
  std::size_t i = marked_.size();
  const auto k = static_cast<std::size_t>(frame);
  for (std::size_t f = 0; f < feet_.size(); ++f, i += 3) {
    for (std::size_t j = 0; j < 3; ++j) list[i + j].weight = 0;
    if (pinned.empty()) continue;
    const PinnedPath& path = pinned[f];
    const auto weight = [](double w) { return kFootWeight + w * (kPinWeight - kFootWeight); };
    list[i] = {feet_[f].link, list[i].p_L, path.heel[k], weight(path.heel_weight[k])};
    list[i + 1] = {feet_[f].link, list[i + 1].p_L, path.toe[k], weight(path.toe_weight[k])};
    list[i + 2] = {feet_[f].link, list[i + 2].p_L, path.side[k], weight(path.toe_weight[k])};
  }
  auto& items = solver_->problem().items;
  for (std::size_t t = 0; t < turned_.size(); ++t) {
    auto& task = std::get<ik::OrientationTask>(items[t + 1].task);
    const auto& R = at(targets.turns, turned_[t]);
    const double weight = !R ? 0 : is_limb(turned_[t]) ? kTwistWeight : kTurnWeight;
    task.weight = {weight, weight, weight};
    if (R) task.target = *R;
  }
  std::get<ik::PostureTask>(items.back().task).target = q_;
  if (ahead.size() > 0) q_ = integrate(model_, q_, ahead);
  const int rounds = fresh_ ? kFirstRounds : 1;
  for (int r = 0; r < rounds; ++r) {
    solver_->solve(q_, report_);
    q_ = report_.q;
  }
  fresh_ = false;
  return q_;
}

}  // namespace kansetsu::retargeting
