#include "kansetsu/motion/contacts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/retarget.h"
#include "motion/feet.h"
#include "motion/hull.h"
#include "motion/needed_force.h"

/// The most likely sequence of contacts: each frame has a cost in each state, each change has one, and the cheapest way through the
/// clip is found by dynamic programming [Viterbi 1967]. A state is which of four ends of soles are down, and which one thing
/// beside them carries.
namespace kansetsu {
namespace {

using namespace retargeting;

constexpr double kUnitTime = 0.01;   ///< [s] for which a cost of one is counted once
constexpr double kUnsupported = 50;  ///< most that a need which nothing meets costs
constexpr double kOutside = 12;      ///< most that a force outside of the soles costs: figures are not the actor
constexpr double kFar = 400;         ///< most that a contact of something far away costs
/// What beside the feet begins to carry costs so much more than a foot: 0.1 s of a fall where it lies on the floor, and 0.2 s
/// where it holds on to something that nobody sees.
constexpr double kOtherFloor = 50, kOtherObject = 500;
constexpr std::size_t kFootStates = 16;

/// What may carry beside the soles.
enum class Place { kFloor, kObject };
struct Other {
  std::string name;
  LinkId link{0};
  Vec3<> point{};
  Place place = Place::kFloor;
  double size = 0;   ///< [m] of what presses: half its width
  double prior = 0;  ///< cost of being down at all: it is rarer than a foot
};
/// Of `others`, those that are down in one state.
using OtherState = std::vector<std::size_t>;

double square(double x) { return x * x; }
/// Its square near zero, beyond two a straight line: what is far off is wrong rather than impossible [Huber].
double deviation(double x) { return std::abs(x) < 2 ? x * x : 4 * std::abs(x) - 4; }

/// Positions and velocities of a point.
struct PointPath {
  std::vector<Vec3<>> p{}, v{};
};

class Segmentation {
 public:
  Segmentation(const Model& model, const Clip& clip, std::vector<FootContacts>& feet, const ContactCosts& options)
      : model_(model),
        clip_(clip),
        smooth_(smoothed(model, clip, 1.5 * options.cutoff)),
        feet_(feet),
        options_(options) {
    need_ = needed_force(model, clip, options.cutoff);
    for (const FootContacts& foot : feet_)
      for (const Vec3<>& end : {foot.heel, foot.toe}) ends_.push_back(path_of(foot.link, end));
    if (options.others) find_others();
    other_states_ = {{}};
    for (std::size_t i = 0; i < others_.size(); ++i) other_states_.push_back({i});
    // Both hands, both knees: neighbours in the list.
    for (std::size_t i = 0; i + 1 < others_.size(); ++i)
      if (others_[i].place == others_[i + 1].place && others_[i].size == others_[i + 1].size && i % 2 == 0)
        other_states_.push_back({i, i + 1});
    for (const OtherState& s : other_states_) {
      double cost = 1;
      for (const std::size_t i : s)
        cost = std::max(cost, others_[i].place == Place::kObject ? kOtherObject : kOtherFloor);
      entry_.push_back(cost);
    }
  }

  Contacts run() {
    end_costs();
    const std::vector<std::size_t> states = cheapest_way();
    Contacts out;
    for (std::size_t f = 0; f < feet_.size(); ++f) {
      feet_[f].heel_down.assign(states.size(), 0), feet_[f].toe_down.assign(states.size(), 0);
      for (std::size_t k = 0; k < states.size(); ++k) {
        const std::size_t bits = states[k] % kFootStates;
        feet_[f].heel_down[k] = bits >> (2 * f) & 1, feet_[f].toe_down[k] = bits >> (2 * f + 1) & 1;
      }
    }
    for (std::size_t i = 0; i < others_.size(); ++i) {
      BodyContact contact{others_[i].name, others_[i].link, others_[i].point, others_[i].place == Place::kObject, {}};
      contact.down.assign(states.size(), 0);
      bool any = false;
      for (std::size_t k = 0; k < states.size(); ++k) {
        const OtherState& s = other_states_[states[k] / kFootStates];
        contact.down[k] = std::find(s.begin(), s.end(), i) != s.end();
        any |= contact.down[k] != 0;
      }
      if (any) out.others.push_back(std::move(contact));
    }
    out.feet = feet_;
    return out;
  }

 private:
  std::size_t frames() const { return clip_.times.size(); }

  PointPath path_of(LinkId link, const Vec3<>& point) const {
    PointPath out;
    Workspace work(model_);
    LinkPoses poses(model_);
    for (int k = 0; k < smooth_.frames(); ++k) {
      fk(model_, smooth_.q.col(k), work, poses);
      out.p.push_back(poses[link] * point);
    }
    for (std::size_t k = 0; k < frames(); ++k) {
      const std::size_t a = k > 0 ? k - 1 : 0, b = std::min(k + 1, frames() - 1);
      const double time = clip_.times[b] - clip_.times[a];
      out.v.push_back(time > 0 ? (1 / time) * (out.p[b] - out.p[a]) : Vec3<>{});
    }
    return out;
  }

  /// Where landmarks tell them.
  void find_others() {
    const std::map<Landmark, LinkPoint> marks = find_landmarks(model_);
    const auto add = [&](const char* name, Landmark landmark, Place place, double size, double prior) {
      const auto found = marks.find(landmark);
      if (found == marks.end()) return;
      others_.push_back({name, model_.link_id(found->second.link), found->second.at, place, size, prior});
      // Hands hold by frames of these names, where the figure has them.
      const char* grip = landmark == Landmark::kWristL ? "gripL" : landmark == Landmark::kWristR ? "gripR" : "";
      if (model_.find_frame(grip)) {
        const ik::FrameOn frame = ik::frame_on(model_, grip);
        others_.back().link = frame.link, others_.back().point = frame.X_LF.p;
      }
      other_paths_.push_back(path_of(others_.back().link, others_.back().point));
    };
    using L = Landmark;
    add("left palm", L::kWristL, Place::kFloor, 0.1, 3), add("right palm", L::kWristR, Place::kFloor, 0.1, 3);
    add("left hand", L::kWristL, Place::kObject, 0.1, 8), add("right hand", L::kWristR, Place::kObject, 0.1, 8);
    if (others_.size() % 2 != 0) others_.clear(), other_paths_.clear();  // one arm only: none
    add("left knee", L::kKneeL, Place::kFloor, 0.08, 3), add("right knee", L::kKneeR, Place::kFloor, 0.08, 3);
    add("seat", L::kPelvis, Place::kObject, 0.2, 10), add("pelvis", L::kPelvis, Place::kFloor, 0.25, 4);
    add("chest", L::kChest, Place::kFloor, 0.3, 4), add("head", L::kHead, Place::kFloor, 0.2, 4);
  }

  /// Where an end stands is its own: shoes and markers differ. The median of what is slow and near the floor.
  double own_floor(const PointPath& path) const {
    constexpr double kNear = 0.05, kSlow = 0.3, kMost = 0.03;
    std::vector<double> heights;
    for (std::size_t k = 0; k < frames(); ++k)
      if (std::abs(path.p[k].z) < kNear && norm(path.v[k]) < kSlow) heights.push_back(path.p[k].z);
    if (heights.size() < std::max<std::size_t>(3, frames() / 50)) return 0;
    const auto middle = heights.begin() + long(heights.size() / 2);
    std::nth_element(heights.begin(), middle, heights.end());
    return std::clamp(*middle, -kMost, kMost);
  }

  void end_costs() {
    for (const PointPath& path : ends_) {
      const double floor = own_floor(path);
      std::vector<double>& costs = end_costs_.emplace_back();
      for (std::size_t k = 0; k < frames(); ++k) {
        const double h = path.p[k].z - floor;
        const bool slows = norm(path.v[std::min(k + 1, frames() - 1)]) < norm(path.v[k > 0 ? k - 1 : 0]);
        const double speed = slows ? options_.landing : options_.speed;
        // Below the floor is no reason against a contact: soles are soft and figures are not the actor.
        costs.push_back(
            std::min(kFar, deviation(std::max(h, 0.0) / options_.height) + deviation(norm(path.v[k]) / speed)));
      }
    }
  }

  double other_cost(std::size_t i, std::size_t k) const {
    const Other& o = others_[i];
    const PointPath& path = other_paths_[i];
    const double speed = square(norm(path.v[k]) / (o.place == Place::kObject ? 0.5 * options_.speed : options_.speed));
    // Bones are inside: what presses is as far below them as the body is thick.
    const double height = o.place == Place::kObject ? 0 : square(std::max(0.0, path.p[k].z - o.size) / (0.5 * o.size));
    return std::min(kFar, o.prior + speed + height);
  }

  /// What the motion needs and the state cannot give.
  double need_cost(std::size_t k, std::size_t bits, const OtherState& others) const {
    const double share = need_.share[k];
    if (bits == 0 && others.empty()) return std::min(kUnsupported, square(std::max(0.0, share) / options_.need));
    std::array<Vec3<>, 32> corners;
    std::size_t count = 0;
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      if (!(bits >> e & 1)) continue;
      const FootContacts& foot = feet_[e / 2];
      const Vec3<>&p = ends_[e].p[k], along = ends_[e | 1].p[k] - ends_[e & ~std::size_t(1)].p[k];
      const double length = std::hypot(along.x, along.y), half = 0.5 * foot.width;
      const Vec3<> side =
          length > 1e-6 ? Vec3<>{-half * along.y / length, half * along.x / length, 0} : Vec3<>{0, half, 0};
      corners[count++] = p + side, corners[count++] = p - side;
    }
    for (const std::size_t i : others) {
      if (others_[i].place == Place::kObject && others_[i].name != "seat") return 0;  // hands that hold give any force
      const Vec3<>& p = other_paths_[i].p[k];
      const double r = others_[i].size;
      for (const auto& [x, y] : {std::pair{r, 0.0}, {-r, 0.0}, {0.0, r}, {0.0, -r}})
        corners[count++] = p + Vec3<>{x, y, 0};
    }
    const double outside = distance_to_hull({corners.data(), count}, need_.point[k]);
    return std::min(kOutside, square(outside * std::max(0.0, share) / options_.lever));
  }

  std::vector<std::size_t> cheapest_way() const {
    const std::size_t feet = std::size_t{1} << ends_.size(), others = other_states_.size(), n = kFootStates * others;
    std::vector<double> cost(n);
    for (std::size_t s = 0; s < n; ++s) cost[s] = s < kFootStates ? 0 : options_.change * entry_[s / kFootStates];
    std::vector<std::vector<std::uint16_t>> from(frames(), std::vector<std::uint16_t>(n, 0));
    for (std::size_t k = 0; k < frames(); ++k) {
      if (k > 0) step(cost, from[k], feet);
      const std::size_t a = k > 0 ? k - 1 : 0, b = std::min(k + 1, frames() - 1);
      const double time = (clip_.times[b] - clip_.times[a]) / double(std::max<std::size_t>(b - a, 1)) / kUnitTime;
      // What soles give alone, they give with others, too: where that is enough, no hull has to be made.
      constexpr double kUnknown = -1;
      std::array<double, kFootStates> alone, need;
      alone.fill(kUnknown);
      for (std::size_t o = 0; o < others; ++o) {
        need.fill(kUnknown);
        const auto given_by_fewer = [&](std::size_t bits) {
          bool enough = alone[bits] == 0;
          for (std::size_t bit = 1; bit < feet; bit <<= 1) enough = enough || (bits & bit && need[bits ^ bit] == 0);
          return enough;
        };
        // Two together are hardly rarer than one; a hand that stays beside one that holds, holds, too.
        double own = 0;
        for (const std::size_t i : other_states_[o]) own += other_cost(i, k);
        if (other_states_[o].size() == 2) own -= others_[other_states_[o][0]].prior + 0.5;
        for (std::size_t bits = 0; bits < kFootStates; ++bits) {
          double& c = cost[kFootStates * o + bits];
          if (bits >= feet || own >= kFar) {
            c += time * 10 * kFar;
            continue;
          }
          double ends = 0;
          for (std::size_t e = 0; e < ends_.size(); ++e) ends += bits >> e & 1 ? end_costs_[e][k] : 1;
          if (ends < kFar) need[bits] = given_by_fewer(bits) ? 0 : need_cost(k, bits, other_states_[o]);
          c += time * (own + ends + std::max(need[bits], 0.0));
        }
        if (o == 0) alone = need;
      }
    }
    std::vector<std::size_t> way(frames());
    std::size_t state = std::size_t(std::min_element(cost.begin(), cost.end()) - cost.begin());
    for (std::size_t k = frames(); k-- > 0;) {
      way[k] = state;
      state = from[k][state];
    }
    return way;
  }

  /// The cheapest way into every state: changes of ends add up, so that one end after the other finds all of them.
  void step(std::vector<double>& cost, std::vector<std::uint16_t>& from, std::size_t feet) const {
    const std::size_t n = cost.size();
    for (std::size_t s = 0; s < n; ++s) from[s] = std::uint16_t(s);
    for (std::size_t bit = 1; bit < feet; bit <<= 1) {
      for (std::size_t s = 0; s < n; ++s) {
        if (s & bit) continue;
        const std::size_t t = s | bit;
        if (cost[t] + options_.change < cost[s])
          cost[s] = cost[t] + options_.change, from[s] = from[t];
        else if (cost[s] + options_.change < cost[t])
          cost[t] = cost[s] + options_.change, from[t] = from[s];
      }
    }
    for (std::size_t bits = 0; bits < kFootStates; ++bits) {
      std::size_t best = bits;
      for (std::size_t s = bits; s < n; s += kFootStates)
        if (cost[s] < cost[best]) best = s;
      const double least = cost[best];
      const std::uint16_t origin = from[best];
      for (std::size_t s = bits; s < n; s += kFootStates) {
        const double in = least + options_.change * entry_[s / kFootStates];
        if (in < cost[s]) cost[s] = in, from[s] = origin;
      }
    }
  }

  const Model& model_;
  const Clip& clip_;
  Clip smooth_;
  std::vector<FootContacts>& feet_;
  const ContactCosts& options_;
  NeededForce need_;
  std::vector<PointPath> ends_, other_paths_;
  std::vector<std::vector<double>> end_costs_;
  std::vector<Other> others_;
  std::vector<OtherState> other_states_;
  std::vector<double> entry_;  ///< of each of them, in changes
};

}  // namespace

std::vector<FootContacts> find_feet(const Model& model, const LandmarkTable& table) {
  return find_soles(model, find_landmarks(model, table));
}

Contacts find_all_contacts(const Model& model, const Clip& clip, std::vector<FootContacts> feet,
                           const ContactCosts& options) {
  if (const auto problem = clip_problem(model, clip)) throw Error("find_all_contacts(): " + *problem);
  if (feet.size() > 2) throw Error("find_all_contacts(): more than two feet");
  return Segmentation(model, clip, feet, options).run();
}

std::vector<FootContacts> find_contacts(const Model& model, const Clip& clip, const ContactCosts& options) {
  return find_all_contacts(model, clip, find_feet(model), options).feet;
}

}  // namespace kansetsu
