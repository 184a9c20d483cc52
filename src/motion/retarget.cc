#include "kansetsu/motion/retarget.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kansetsu/base/error.h"
#include "kansetsu/base/suggest.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/ball_view.h"
#include "motion/body_targets.h"
#include "motion/bone_jumps.h"
#include "motion/capture_doubts.h"
#include "motion/feet.h"
#include "motion/follower.h"
#include "motion/retarget_codes.h"

namespace kansetsu {
namespace {

using namespace retargeting;
using L = Landmark;

constexpr std::array kNeeded{L::kPelvis, L::kHipL, L::kKneeL, L::kAnkleL, L::kHipR, L::kKneeR, L::kAnkleR};

/// The links of both sides, from hip to toe and from shoulder to wrist: their names end with the mark of the side.
void add_sides(LandmarkTable& table, const char* left, const char* right, const std::array<LinkPoint, 7>& limbs) {
  constexpr std::array<std::pair<L, L>, 7> kSides{{{L::kHipL, L::kHipR},
                                                   {L::kKneeL, L::kKneeR},
                                                   {L::kAnkleL, L::kAnkleR},
                                                   {L::kToeL, L::kToeR},
                                                   {L::kShoulderL, L::kShoulderR},
                                                   {L::kElbowL, L::kElbowR},
                                                   {L::kWristL, L::kWristR}}};
  for (std::size_t k = 0; k < kSides.size(); ++k) {
    table.links[kSides[k].first] = {limbs[k].link + left, limbs[k].at};
    table.links[kSides[k].second] = {limbs[k].link + right, limbs[k].at};
  }
}

LandmarkTable human28_table() {
  LandmarkTable t{.name = "human28"};
  t.links = {
      {L::kPelvis, {"Body", {}}}, {L::kChest, {"UpperBody", {}}}, {L::kNeck, {"Head", {}}}, {L::kHead, {"Head", {}}}};
  add_sides(t, "L", "R",
            {{{"UpperLeg"},
              {"LowerLeg"},
              {"Foot"},
              {"Foot", {0.14, 0, -0.08}},
              {"UpperArm"},
              {"LowerArm"},
              {"LowerArm", {0, 0, -0.27}}}});
  return t;
}

/// The built-in human of published tables.
LandmarkTable human_table() {
  LandmarkTable t{.name = "human"};
  t.links = {
      {L::kPelvis, {"pelvis", {}}}, {L::kChest, {"thorax", {}}}, {L::kNeck, {"head", {}}}, {L::kHead, {"head", {}}}};
  add_sides(t, "_l", "_r", {{{"thigh"}, {"shank"}, {"foot"}, {"toes"}, {"upper_arm"}, {"forearm"}, {"hand"}}});
  return t;
}

/// Bodies of OpenSim's gait models. The heel bone begins at the back of the sole; the ankle is above it.
LandmarkTable opensim_table() {
  LandmarkTable t{.name = "opensim"};
  t.links = {{L::kPelvis, {"pelvis", {}}}, {L::kChest, {"torso", {}}}, {L::kHead, {"torso", {0, 0, 0.6}}}};
  add_sides(t, "l", "r",
            {{{"femur_"},
              {"tibia_"},
              {"calcn_", {0.05, 0, 0.042}},
              {"toes_", {0.06, 0, 0}},
              {"humerus_"},
              {"ulna_"},
              {"hand_"}}});
  return t;
}

/// One retargeting, step by step.
class Retargeter {
 public:
  Retargeter(const Model& model, const Capture& capture, const RetargetOptions& options)
      : model_(model),
        capture_(capture),
        options_(options),
        table_(options.table ? *options.table : best_table(capture)) {
    if (table_.bones.empty()) table_.bones = best_table(capture).bones;
  }

  Loaded<Retargeted> run() {
    check();
    if (has_errors(diagnostics_)) return {std::nullopt, std::move(diagnostics_)};
    out_.table = table_.name;
    out_.first_frame = options_.skip_first.value_or(begins_at_rest(capture_)) ? 1 : 0;
    maker_.emplace(capture_, bones_, figure_);
    if (!(maker_->leg_of_capture() > 0) || !std::isfinite(maker_->leg_of_capture())) {
      refuse(mapping::kNoLegs, fmt::format("the legs of the skeleton are {} m long", maker_->leg_of_capture()),
             "are hips, knees and ankles different bones?");
      return {std::nullopt, std::move(diagnostics_)};
    }
    for (CaptureDoubt& doubt : find_doubts(capture_, bones_, out_.first_frame, maker_->leg_of_capture()))
      warn(doubt.code, std::move(doubt.message), std::move(doubt.hint));
    bridge_bones();
    out_.feet = find_soles(model_, landmarks_);
    place();
    first_pass();
    level_floor();
    if (options_.pin_feet && !out_.feet.empty()) second_pass();
    measure();
    tell_jumps();
    return {std::move(out_), std::move(diagnostics_)};
  }

 private:
  void report(Severity severity, const char* code, std::string message, std::string hint) {
    diagnostics_.push_back({severity, code, capture_.file, 0, capture_.name, std::move(message), std::move(hint)});
  }
  void refuse(const char* code, std::string message, std::string hint) {
    report(Severity::kError, code, std::move(message), std::move(hint));
  }
  void warn(const char* code, std::string message, std::string hint) {
    report(Severity::kWarning, code, std::move(message), std::move(hint));
  }

  void check() {
    if (capture_.frames() < 2) refuse(mapping::kTooShort, "the capture has fewer than two frames", "nothing moves");
    if (model_.base() != Base::kFree)
      refuse(mapping::kFixedBase, fmt::format("{} has a fixed base", model_.name()), "give it a free one: --base free");
    check_table();
    landmarks_ = find_landmarks(model_, table_);
    figure_ = place_landmarks(model_, landmarks_);
    std::vector<std::string_view> no_bone, no_link;
    for (int l = 0; l < kLandmarkCount; ++l)
      bones_[static_cast<std::size_t>(l)] = find_bone_point(capture_, table_, Landmark(l));
    for (const L l : kNeeded) {
      if (!at(bones_, l)) no_bone.push_back(to_string(l));
      if (!at(figure_, l)) no_link.push_back(to_string(l));
    }
    if (!no_bone.empty()) {
      std::vector<std::string> names;
      for (const Bone& bone : capture_.bones)
        if (names.size() < 40) names.push_back(bone.name);
      refuse(mapping::kNoBone,
             fmt::format("the skeleton has no bone for {} (table {})", fmt::join(no_bone, ", "), table_.name),
             fmt::format("write a table of landmarks; its bones are {}", fmt::join(names, ", ")));
    }
    if (!no_link.empty())
      refuse(mapping::kNoLink, fmt::format("{} has no link for {}", model_.name(), fmt::join(no_link, ", ")),
             "name them under [links] in a table of landmarks");
    else
      check_stance();
  }

  /// A table that was asked for may name what is not there.
  void check_table() {
    for (auto entry = table_.links.begin(); entry != table_.links.end();) {
      const std::string link = entry->second.link;
      if (model_.find_link(link)) {
        ++entry;
        continue;
      }
      std::vector<std::string> known;
      for (int i = 0; i < model_.link_count(); ++i) known.push_back(model_.link(LinkId(i)).name);
      refuse(mapping::kNoLink, fmt::format("{} has no link '{}' for {}", model_.name(), link, to_string(entry->first)),
             nearest_name(link, known));
      entry = table_.links.erase(entry);
    }
    if (!options_.table) return;
    for (const auto& [landmark, bone] : table_.bones)
      if (!find_bone_point(capture_, table_, landmark))
        diagnostics_.push_back({Severity::kWarning, mapping::kUnusedBone, capture_.file, 0, capture_.name,
                                fmt::format("the skeleton has no bone '{}' for {}", bone, to_string(landmark)),
                                "correct the table of landmarks"});
  }

  /// Upright, looking along x.
  void check_stance() {
    const auto point = [&](L l) { return at(figure_, l)->neutral; };
    const Vec3<> left = point(L::kHipL) - point(L::kHipR), up = point(L::kHipL) - point(L::kAnkleL);
    if (!(left.y > 0.5 * norm(left)) || !(up.z > 0.8 * norm(up)))
      refuse(mapping::kStance,
             fmt::format("{} does not stand upright and look along x in its neutral configuration", model_.name()),
             "its left hip must be at +y and its ankles below its hips");
    for (const auto& [a, b] :
         {std::pair{L::kHipL, L::kKneeL}, {L::kKneeL, L::kAnkleL}, {L::kHipR, L::kKneeR}, {L::kKneeR, L::kAnkleR}})
      if (!(norm(point(a) - point(b)) > 1e-6))
        refuse(mapping::kStance, fmt::format("{} and {} of {} coincide", to_string(a), to_string(b), model_.name()),
               "give their points under [links]");
  }

  int frames() const { return capture_.frames() - out_.first_frame; }

  /// Of all bones that carry a landmark; toes and hands turn nothing.
  void bridge_bones() {
    std::vector<bool> moving(capture_.bones.size(), false);
    for (int l = 0; l < kLandmarkCount; ++l) {
      const auto& point = bones_[static_cast<std::size_t>(l)];
      const bool end =
          Landmark(l) == L::kToeL || Landmark(l) == L::kToeR || Landmark(l) == L::kWristL || Landmark(l) == L::kWristR;
      if (!point || end) continue;
      for (int b = point->bone; b >= 0; b = capture_.bones[std::size_t(b)].parent) moving[std::size_t(b)] = true;
    }
    for (const BoneJump& jump : bridge_jumps(capture_, moving, out_.first_frame))
      warn(mapping::kBoneJump,
           fmt::format("bone '{}' turns around within a frame; {} frames are interpolated, first frame {}",
                       capture_.bones[std::size_t(jump.bone)].name, jump.count, jump.first),
           "the skeleton jumps between two fits to its markers: forces there are inaccurate");
  }

  void place() {
    out_.scale = options_.scale.value_or(maker_->leg_of_figure() / maker_->leg_of_capture());
    placement_.scale = out_.scale;
    if (options_.move_to_origin) {
      placement_.R = exp_rotation(Vec3<>{0, 0, -maker_->heading(out_.first_frame)});
      const Vec3<> start = maker_->hips(out_.first_frame);
      placement_.origin = {start.x, start.y, 0};
    }
    if (options_.floor) placement_.origin.z = *options_.floor;
    maker_->set(placement_);
  }

  /// Frame by frame into the clip. What is there already from an earlier pass is expected to be much the same again.
  void solve(const std::vector<PinnedPath>& pinned) {
    const Eigen::MatrixXd before = out_.clip.q;
    const bool again = !pinned.empty();
    Follower follower(model_, figure_, again ? out_.feet : std::vector<FootContacts>{}, options_.limits);
    Targets targets;
    Eigen::VectorXd ahead;
    for (int k = 0; k < frames(); ++k) {
      maker_->make(k + out_.first_frame, targets);
      if (k == 0 && again) follower.start(before.col(0));
      if (k == 0 && !again) follower.start(targets);
      if (again && k > 0) ahead = difference(model_, before.col(k - 1), before.col(k));
      if (!again && k > 1) ahead = difference(model_, out_.clip.q.col(k - 2), out_.clip.q.col(k - 1));
      out_.clip.q.col(k) = follower.follow(targets, pinned, k, ahead);
    }
  }

  void first_pass() {
    out_.clip.name = capture_.name;
    out_.clip.q.resize(model_.nq(), frames());
    for (int k = 0; k < frames(); ++k) out_.clip.times.push_back(k * capture_.frame_time);
    solve({});
  }

  std::vector<SolePath> paths() const {
    std::vector<SolePath> out;
    for (const FootContacts& foot : out_.feet) out.push_back(sole_path(model_, out_.clip, foot));
    return out;
  }

  /// The floor becomes z = 0 and stands still, and feet on it are marked.
  void level_floor() {
    std::optional<Vec3<>> belt;
    if (options_.belt) belt = out_.scale * (placement_.R * *options_.belt);
    Ground ground = find_ground(model_, out_.clip, out_.feet, options_.largest_tilt, belt);
    if (options_.floor) ground.height = 0, ground.slope = {};
    level(ground);
    out_.floor = placement_.origin.z;
    Contacts contacts = find_all_contacts(model_, out_.clip, std::move(out_.feet), options_.contact);
    out_.feet = std::move(contacts.feet), out_.others = std::move(contacts.others);
  }

  /// Turns and moves capture and clip so that the floor becomes z = 0, and stands still.
  void level(const Ground& ground) {
    const Mat3<> R = swing({-ground.slope.x, -ground.slope.y, 1}, {0, 0, 1});
    placement_.drift = (capture_.frame_time / placement_.scale) * transpose_times(placement_.R, ground.belt);
    placement_.origin += (ground.height / placement_.scale) * transpose_times(placement_.R, Vec3<>{0, 0, 1}) -
                         double(out_.first_frame) * placement_.drift;
    placement_.R = R * placement_.R;
    maker_->set(placement_);
    out_.floor_tilt = std::atan(norm(ground.slope));
    out_.belt = ground.belt;
    out_.clip = on_ground(model_, out_.clip, ground);
  }

  void second_pass() {
    const std::vector<SolePath> soles = paths();
    for (std::size_t f = 0; f < soles.size(); ++f) {
      steady_.push_back(steady(out_.feet[f], soles[f], out_.clip.times));
      pinned_.push_back(pin(soles[f], steady_[f], out_.clip.times, options_.blend_time));
    }
    solve(pinned_);
  }

  /// Limits of the figure that the actor does not have make it jump from one way of following him to another.
  void tell_jumps() {
    constexpr double kFastest = 60;  // [rad/s]; kicks and sprints stay below 40
    const BallView view(model_);     // three hinges of a shoulder may be fast while the arm is not
    const Model& model = view.model();
    const Clip balls = view.to_balls(out_.clip);
    std::optional<int> first;
    int count = 0, worst = 0;
    double largest = 0;
    for (int k = 1; k < frames(); ++k) {
      const Eigen::VectorXd v = difference(model, balls.q.col(k - 1), balls.q.col(k)) / capture_.frame_time;
      Eigen::Index i = 0;
      const double speed = v.tail(v.size() - 6).cwiseAbs().maxCoeff(&i);
      if (!(speed > kFastest)) continue;
      if (!first) first = k;
      ++count;
      if (speed > largest) largest = speed, worst = int(i) + 6;
    }
    if (!first) return;
    std::string joint;
    for (int j = 0; j < model.joint_count(); ++j) {
      const CoordinateRange r = model.coordinates(JointId(j));
      if (worst >= r.v && worst < r.v + r.nv) joint = model.joint(JointId(j)).name;
    }
    warn(mapping::kJointJump,
         fmt::format("{} cannot follow: joints move faster than {:g} rad/s in {} frames, first in frame {}; '{}' with "
                     "{:.0f} rad/s",
                     model_.name(), kFastest, count, *first, joint, largest),
         "forces there are meaningless; another --figure may follow better");
  }

  void measure() {
    PerLandmark<JointResidual> sums;
    PerLandmark<int> counts{}, seen{};
    Workspace work(model_);
    LinkPoses poses(model_);
    Targets targets;
    for (int k = 0; k < frames(); ++k) {
      maker_->make(k + out_.first_frame, targets);
      fk(model_, out_.clip.q.col(k), work, poses);
      for (std::size_t l = 0; l < sums.size(); ++l) {
        if (!figure_[l] || !targets.points[l]) continue;
        const Vec3<> p = poses[figure_[l]->link] * figure_[l]->p_L;
        const double error = norm(p - *targets.points[l]);
        sums[l].rms += error * error;
        ++counts[l];
        if (error > sums[l].largest) sums[l].largest = error, sums[l].worst_frame = k;
        if (!targets.captured[l]) continue;
        const Vec3<> apart = p - *targets.captured[l];
        sums[l].from_capture += dot(apart, apart);
        ++seen[l];
      }
      for (std::size_t f = 0; f < pinned_.size(); ++f) {
        const FootContacts& foot = steady_[f];
        const auto i = static_cast<std::size_t>(k);
        const Transform<>& X = poses[foot.link];
        if (foot.heel_down[i]) out_.skate = std::max(out_.skate, norm(X * foot.heel - pinned_[f].heel[i]));
        if (foot.toe_down[i]) out_.skate = std::max(out_.skate, norm(X * foot.toe - pinned_[f].toe[i]));
      }
    }
    for (std::size_t l = 0; l < sums.size(); ++l) {
      if (counts[l] == 0) continue;
      JointResidual r = sums[l];
      r.landmark = Landmark(l);
      r.bone = bones_[l] ? capture_.bones[static_cast<std::size_t>(bones_[l]->bone)].name : "";
      r.link = model_.link(figure_[l]->link).name;
      r.rms = std::sqrt(r.rms / counts[l]);
      r.from_capture = seen[l] > 0 ? std::sqrt(r.from_capture / seen[l]) : 0;
      out_.residuals.push_back(std::move(r));
    }
  }

  const Model& model_;
  Capture capture_;  ///< its jumps are bridged
  const RetargetOptions& options_;
  LandmarkTable table_;
  std::map<Landmark, LinkPoint> landmarks_;
  BonePoints bones_{};
  FigurePoints figure_{};
  std::optional<TargetMaker> maker_;
  Placement placement_{};
  std::vector<FootContacts> steady_;  ///< as they are pinned
  std::vector<PinnedPath> pinned_;
  Retargeted out_;
  std::vector<Diagnostic> diagnostics_;
};

/// Of a table, what names links that are there.
LandmarkTable known_links(const Model& model, const std::optional<LandmarkTable>& table) {
  LandmarkTable out = table.value_or(LandmarkTable{});
  std::erase_if(out.links, [&](const auto& entry) { return !model.find_link(entry.second.link); });
  return out;
}

}  // namespace

std::map<Landmark, LinkPoint> find_landmarks(const Model& model, const LandmarkTable& table) {
  for (const auto& [landmark, point] : table.links)
    (void)model.link_id(point.link);  // throws, and names those it knows
  // The table that knows most links of this model, completed and overruled by what is asked for.
  std::map<Landmark, LinkPoint> best;
  std::vector<LandmarkTable> known{human28_table(), human_table(), opensim_table()};
  for (const LandmarkTable& skeleton : skeleton_tables()) {
    LandmarkTable links{.name = skeleton.name};
    for (const auto& [landmark, bone] : skeleton.bones) links.links[landmark] = {bone, {}};
    known.push_back(std::move(links));
  }
  for (const LandmarkTable& candidate : known) {
    std::map<Landmark, LinkPoint> found;
    for (const auto& [landmark, point] : candidate.links)
      if (model.find_link(point.link)) found[landmark] = point;
    if (found.size() > best.size()) best = std::move(found);
  }
  for (const auto& [landmark, point] : table.links) best[landmark] = point;
  return best;
}

Loaded<Retargeted> retarget(const Model& model, const Capture& capture, const RetargetOptions& options) {
  if (options.limits) return Retargeter(model, capture, options).run();
  // Without limits three hinges that meet are a ball: it has no pose in which two axes fall together.
  std::set<std::string> marked;
  for (const auto& [landmark, point] : find_landmarks(model, known_links(model, options.table)))
    marked.insert(point.link);
  const BallView view(model, std::move(marked));
  Loaded<Retargeted> out = Retargeter(view.model(), capture, options).run();
  if (!out.value) return out;
  out.value->clip = view.to_hinges(out.value->clip);
  for (FootContacts& foot : out.value->feet) foot.link = view.link_of_figure(foot.link);
  for (BodyContact& other : out.value->others) other.link = view.link_of_figure(other.link);
  return out;
}

}  // namespace kansetsu
