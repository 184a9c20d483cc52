#include "model/limbs.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kansetsu {
namespace {

using Node = NodeOf<double>;
using Chain = std::vector<int>;  ///< nodes of the whole tree, from the trunk to the tip

/// Unbranched chains below branching nodes, and the ground if it carries several.
std::vector<Chain> find_chains(const NodeTreeOf<double>& tree) {
  std::vector<int> children(tree.nodes.size() + 1, 0);  // the last is the ground
  const auto slot = [&](int node) { return node < 0 ? tree.nodes.size() : size_t(node); };
  for (const Node& node : tree.nodes) ++children[slot(node.parent)];
  std::vector<Chain> out;
  for (int i = 0; i < int(tree.nodes.size()); ++i) {
    const Node& root = tree.nodes[size_t(i)];
    if (root.kind == NodeKind::kFree || children[slot(root.parent)] < 2) continue;
    Chain chain{i};
    while (children[size_t(chain.back())] == 1)
      chain.push_back(chain.back() + 1);  // depth first: the only child is next
    if (children[size_t(chain.back())] == 0) out.push_back(chain);
  }
  return out;
}

bool is_hinge(const Node& node) { return node.kind != NodeKind::kBall && node.kind != NodeKind::kFree; }

Vec3<> axis_of(const Node& node) {
  return {node.kind == NodeKind::kHingeX ? 1.0 : 0.0, node.kind == NodeKind::kHingeY ? 1.0 : 0.0,
          is_hinge(node) && node.kind >= NodeKind::kHingeZ ? 1.0 : 0.0};
}
bool is_aligned(const Node& node) { return node.kind <= NodeKind::kHingeZ; }

/// The four rotations by quarter turns that bring a coordinate axis to z.
std::array<Mat3<>, 4> turns_to_z(const Vec3<>& axis) {
  const Vec3<> next{axis.z, axis.x, axis.y}, last{axis.y, axis.z, axis.x};
  return {Mat3<>{next, last, axis}, Mat3<>{last, -next, axis}, Mat3<>{-next, -last, axis}, Mat3<>{-last, next, axis}};
}

/// Builds one set from chains that are hinges in the same places. Where the axes of the limbs differ, their frames are renamed:
/// the body frame of a lane is turned by Q against that of the whole tree, quarter turns only, so that no number is rounded.
class SetBuilder {
 public:
  SetBuilder(const NodeTreeOf<double>& whole, const std::vector<Chain>& chains) : whole_(whole), chains_(chains) {}

  LimbSet run() {
    set_.count = int(chains_.size());
    for (size_t depth = 0; depth < chains_.front().size(); ++depth) add(depth);  // the longest chain is the first
    fold_leaf(set_.tree.nodes.back());
    return std::move(set_);
  }

 private:
  const Node* at(int lane, size_t depth) const {
    if (lane >= int(chains_.size()) || depth >= chains_[size_t(lane)].size()) return nullptr;
    return &whole_.nodes[size_t(chains_[size_t(lane)][depth])];
  }

  /// Whether the hinge of a lane is about ±axis in the present frames.
  bool agrees(int lane, size_t depth, const Vec3<>& axis) const {
    const Node* node = at(lane, depth);
    return !node || (is_aligned(*node) && std::abs(dot(Q_[lane] * axis_of(*node), axis)) == 1);
  }

  /// The renaming of a lane that takes its hinge to z, and keeps up with the first lane for as long as possible.
  Mat3<> best_turn(int lane, size_t depth) const {
    Mat3<> best;
    int most = -1;
    for (const Mat3<>& Q : turns_to_z(axis_of(*at(lane, depth)))) {
      int score = Q == Q_[lane] ? 1 : 0;
      for (size_t d = depth + 1; at(lane, d) && at(0, d) && is_aligned(*at(lane, d)) && is_aligned(*at(0, d)); ++d) {
        if (std::abs(dot(Q * axis_of(*at(lane, d)), Q_[0] * axis_of(*at(0, d)))) != 1) break;
        score += 2;
      }
      if (score > most) most = score, best = Q;
    }
    return best;
  }

  void add(size_t depth) {
    NodeTreeOf<LimbConst>& tree = set_.tree;
    const Node& model = *at(0, depth);
    NodeOf<LimbConst> out;
    out.parent = int(depth) - 1;
    out.kind = model.kind;
    out.n = model.n;
    out.u = int(tree.lane_coordinates.size());
    out.massless = true;
    out.from = depth > 0 ? out.kHandedOn : out.kGround;
    out.rotor_share = 1;
    out.offset = out.centre = Offset::kNone;
    if (depth > 0) tree.nodes.back().leaf = false;
    tree.lane_coordinates.resize(tree.lane_coordinates.size() + size_t(out.n));
    const Mat3<> Q_before[kLimbLanes] = {Q_[0], Q_[1], Q_[2], Q_[3]};
    const Vec3<> axis = Q_[0] * axis_of(model);
    if (out.kind == NodeKind::kBall) {
      out.ball = tree.ball_count++;
      out.q = int(tree.quaternions.size()) / kLimbLanes;
      tree.quaternions.resize(tree.quaternions.size() + size_t(4 * kLimbLanes), -1);
      for (Mat3<>& Q : Q_) Q = Mat3<>::identity();
    } else if (agrees(0, depth, axis) && agrees(1, depth, axis) && agrees(2, depth, axis) && agrees(3, depth, axis)) {
      out.kind = axis.x != 0 ? NodeKind::kHingeX : axis.y != 0 ? NodeKind::kHingeY : NodeKind::kHingeZ;
    } else {
      out.kind = NodeKind::kHinge;
      for (int lane = 0; lane < set_.count; ++lane) {
        if (at(lane, depth)) Q_[lane] = best_turn(lane, depth);
      }
    }
    for (int lane = 0; lane < kLimbLanes; ++lane) {
      if (const Node* node = at(lane, depth)) {
        fill(*node, lane, Q_before[lane], out);
      } else {  // nothing hangs here: a rotor keeps the hinge regular
        for (LimbConst& rotor : out.rotor) rotor.set(lane, 1);
      }
    }
    tree.nodes.push_back(out);
  }

  /// What is still known when a lane is added.
  static void add_known(Offset mine, Offset& all) {
    if (mine != Offset::kNone) all = all == Offset::kNone || all == mine ? mine : Offset::kAny;
  }

  void fill(const Node& node, int lane, const Mat3<>& Q_parent, NodeOf<LimbConst>& out) {
    NodeTreeOf<LimbConst>& tree = set_.tree;
    const Mat3<>& Q = Q_[lane];
    out.body[lane] = node.body[0];
    out.massless &= node.massless;
    out.rotor_share = std::min(out.rotor_share, node.rotor_share);
    add_known(offset_of(Q_parent * node.p), out.offset);
    set(out.R0, lane, times_transpose(Q_parent * node.R0, Q));
    set(out.Q, lane, Q);
    set(out.p, lane, Q_parent * node.p);
    const Inertia<> M = Transform<>{Q, {}} * node.M;
    add_known(centre_of(M), out.centre);
    out.M.m.set(lane, M.m);
    set(out.M.h, lane, M.h);
    Sym3<LimbConst>& J = out.M.I;
    J.xx.set(lane, M.I.xx), J.xy.set(lane, M.I.xy), J.xz.set(lane, M.I.xz);
    J.yy.set(lane, M.I.yy), J.yz.set(lane, M.I.yz), J.zz.set(lane, M.I.zz);
    const Vec3<> axis = Q * axis_of(node);
    const double sign = is_hinge(node) ? axis.x + axis.y + axis.z : 1;  // one of them is ±1
    for (int k = 0; k < out.n; ++k) {
      out.rotor[k].set(lane, node.rotor[k]);
      const NodeCoordinate& from = whole_.coordinates[size_t(node.u + k)];
      LaneCoordinate& c = tree.lane_coordinates[size_t(out.u + k)];
      c.ratio.set(lane, sign * from.ratio);
      c.offset.set(lane, sign * from.offset);
      c.column[lane] = from.column;
      c.position[lane] = from.position;
    }
    if (out.kind != NodeKind::kBall) return;
    for (int k = 0; k < 4; ++k) tree.quaternions[size_t((out.q + k) * kLimbLanes + lane)] = node.q + k;
  }

  static void set(Vec3<LimbConst>& to, int lane, const Vec3<>& from) {
    to.x.set(lane, from.x);
    to.y.set(lane, from.y);
    to.z.set(lane, from.z);
  }
  static void set(Mat3<LimbConst>& to, int lane, const Mat3<>& from) {
    set(to.x, lane, from.x);
    set(to.y, lane, from.y);
    set(to.z, lane, from.z);
  }

  const NodeTreeOf<double>& whole_;
  const std::vector<Chain>& chains_;
  LimbSet set_;
  Mat3<> Q_[kLimbLanes] = {Mat3<>::identity(), Mat3<>::identity(), Mat3<>::identity(), Mat3<>::identity()};
};

}  // namespace

void split_limbs(Nodes& nodes) {
  const NodeTreeOf<double>& whole = nodes.whole;
  std::vector<Chain> chains = find_chains(whole);
  std::ranges::stable_sort(chains, [](const Chain& a, const Chain& b) { return a.size() > b.size(); });

  std::vector<std::vector<Chain>> sets;
  for (const Chain& chain : chains) {
    const auto fits = [&](const std::vector<Chain>& set) {
      if (set.size() >= size_t(kLimbLanes)) return false;
      for (const Chain& other : set) {
        for (size_t d = 0; d < std::min(chain.size(), other.size()); ++d) {
          if (is_hinge(whole.nodes[size_t(chain[d])]) != is_hinge(whole.nodes[size_t(other[d])])) return false;
        }
      }
      return true;
    };
    const auto at = std::ranges::find_if(sets, fits);
    if (at == sets.end())
      sets.push_back({chain});
    else
      at->push_back(chain);
  }
  std::erase_if(sets, [](const auto& set) { return set.size() < 2; });  // alone, a limb is quicker as part of the trunk

  if (sets.size() > size_t(kMostLimbSets)) sets.resize(size_t(kMostLimbSets));

  std::vector<bool> in_limb(whole.nodes.size(), false);
  for (const auto& set : sets) {
    for (const Chain& chain : set) {
      for (int i : chain) in_limb[size_t(i)] = true;
    }
  }
  std::vector<int> trunk_index(whole.nodes.size(), -1);
  for (size_t i = 0; i < whole.nodes.size(); ++i) {
    if (in_limb[i]) continue;
    Node node = whole.nodes[i];
    trunk_index[i] = int(nodes.trunk.nodes.size());
    node.parent = node.parent < 0 ? -1 : trunk_index[size_t(node.parent)];
    const auto from = whole.coordinates.begin() + node.u;
    node.u = int(nodes.trunk.coordinates.size());
    nodes.trunk.coordinates.insert(nodes.trunk.coordinates.end(), from, from + node.n);
    nodes.trunk.nodes.push_back(node);
  }
  std::vector<bool> gathers(nodes.trunk.nodes.size(), false);
  for (const auto& set : sets) {
    nodes.limbs.push_back(SetBuilder(whole, set).run());
    std::fill_n(nodes.limbs.back().carrier, kLimbLanes, -1);
    for (size_t lane = 0; lane < set.size(); ++lane) {
      const int parent = whole.nodes[size_t(set[lane].front())].parent;
      const int carrier = parent < 0 ? -1 : trunk_index[size_t(parent)];
      nodes.limbs.back().carrier[lane] = carrier;
      if (carrier >= 0) gathers[size_t(carrier)] = true;
    }
  }
  number_nodes(nodes.trunk, gathers);
}

}  // namespace kansetsu
