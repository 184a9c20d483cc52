#include "dynamics/lean_tree.h"

#include <cstring>

#include "model/limbs.h"

namespace kansetsu {
namespace {

/// A node without its place in the tree. @param pick  takes the number of one lane
template <class Const, class Node, class Coordinate, class Pick>
LeanNodeOf<Const> lean_node(const Node& from, const Coordinate& coordinate, const Pick& pick) {
  const auto vector = [&](const auto& a) { return lift<Const>(Vec3<>{pick(a.x), pick(a.y), pick(a.z)}); };
  LeanNodeOf<Const> node;
  node.kind = from.kind;
  node.leaf = from.leaf;
  node.massless = from.massless;
  node.offset = from.offset;
  node.column = pick(coordinate.column);
  node.position = node.kind == NodeKind::kFree ? from.q : pick(coordinate.position);
  node.ratio = Const(pick(coordinate.ratio));
  node.angle_offset = Const(pick(coordinate.offset));
  node.rotor = Const(pick(from.rotor[0]));
  node.p = vector(from.p);
  node.R0 = {vector(from.R0.x), vector(from.R0.y), vector(from.R0.z)};
  const auto& I = from.M.I;
  node.M = {Const(pick(from.M.m)), vector(from.M.h),
            lift<Const>(Sym3<>{pick(I.xx), pick(I.xy), pick(I.xz), pick(I.yy), pick(I.yz), pick(I.zz)})};
  return node;
}

/// @param carries  whether it carries limbs of other trees: nodes that gather are parked then, and summed up from zero
template <class Const>
LeanTreeOf<Const> lean_tree(const NodeTreeOf<double>& tree, const Vec3<>& gravity, bool carries) {
  LeanTreeOf<Const> out;
  LeanTreeViewOf<Const>& shape = out.shape;
  std::vector<int> children(tree.nodes.size(), 0), last_child(tree.nodes.size(), -1);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].parent < 0) continue;
    ++children[std::size_t(tree.nodes[i].parent)];
    last_child[std::size_t(tree.nodes[i].parent)] = int(i);
  }
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const NodeOf<double>& from = tree.nodes[i];
    LeanNodeOf<Const> node =
        lean_node<Const>(from, tree.coordinates[std::size_t(from.u)], [](const auto& x) { return x; });
    node.chained = from.parent >= 0 && from.parent == int(i) - 1;
    if (node.leaf) node.tip = shape.tip_count++;
    if (carries ? from.gathers >= 0 : children[i] > 1) node.park = shape.park_count++;
    if (!node.chained && from.parent >= 0) {
      node.parent_park = out.nodes[std::size_t(from.parent)].park;
      node.first_in = !carries && last_child[std::size_t(from.parent)] == int(i);
    }
    out.nodes.push_back(node);
  }
  shape.node_count = int(out.nodes.size());
  shape.free_base = tree.first_angle() > 0;
  shape.gravity = lift<Const>(gravity);
  return out;
}

/// Null if the tree has anything but hinges and a free base, or gears.
std::shared_ptr<const Nodes> hinge_nodes(const Tree& tree) {
  auto nodes = make_nodes(tree);
  const bool fits = nodes && !nodes->whole.nodes.empty() && nodes->whole.ball_count == 0;
  return fits ? nodes : nullptr;
}

template <class Const>
LeanNodeOf<Const> lane_node(const NodeTreeOf<LimbConst>& tree, std::size_t depth, int lane) {
  const NodeOf<LimbConst>& from = tree.nodes[depth];
  LeanNodeOf<Const> node =
      lean_node<Const>(from, tree.lane_coordinates[std::size_t(from.u)], [&](const auto& x) { return x[lane]; });
  node.chained = depth > 0;
  node.leaf = depth + 1 == tree.nodes.size();
  if (node.leaf) node.tip = 0;
  return node;
}

/// Bytes from lane to lane: whole 16-byte pieces, and 16 beyond a multiple of 128, so that the lanes of a state read different
/// banks of shared memory.
int lane_stride(std::size_t bytes) {
  std::size_t out = (bytes + 15) / 16 * 16;
  while (out % 128 != 16) out += 16;
  return int(out);
}

template <class Const>
void append(std::vector<std::byte>& bytes, const std::vector<LeanNodeOf<Const>>& nodes, int to_next) {
  const std::size_t at = bytes.size();
  bytes.resize(at + std::size_t(to_next));
  if (!nodes.empty()) std::memcpy(bytes.data() + at, nodes.data(), nodes.size() * sizeof(nodes[0]));
}

/// Appends a stage.
template <class Const>
LeanStageOf<Const>& add_stage(LeanLimbsImage<Const>& image) {
  LeanLimbsOf<Const>& limbs = image.limbs;
  LeanStageOf<Const>& out = limbs.stages[limbs.stage_count];
  if (limbs.stage_count > 0) {
    const LeanStageOf<Const>& last = limbs.stages[limbs.stage_count - 1];
    out.parks_before = last.parks_before + last.tree.park_count;
    out.tips_before = last.tips_before + last.tree.tip_count;
    out.nodes_before = last.nodes_before + last.tree.node_count;
  }
  out.nodes = int(image.nodes.size());
  ++limbs.stage_count;
  return out;
}

template <class Const>
void add_set(const LimbSet& from, const LeanTreeOf<Const>& trunk, LeanLimbsImage<Const>& image) {
  LeanStageOf<Const>& out = add_stage(image);
  out.tree.gravity = trunk.shape.gravity;
  const std::size_t length = from.tree.nodes.size();
  out.tree.node_count = int(length);
  out.tree.tip_count = 1;
  out.lane_stride = lane_stride(length * sizeof(LeanNodeOf<Const>));
  for (int lane = 0; lane < kLeanLanes; ++lane) {
    const int carrier = from.carrier[lane];
    if (carrier >= 0) out.carrier[lane] = trunk.nodes[std::size_t(carrier)].park;
    std::vector<LeanNodeOf<Const>> nodes;
    for (std::size_t depth = 0; depth < length; ++depth) nodes.push_back(lane_node<Const>(from.tree, depth, lane));
    append(image.nodes, nodes, out.lane_stride);
  }
}

}  // namespace

template <class Const>
std::optional<LeanTreeOf<Const>> make_lean_tree(const Tree& tree) {
  const auto nodes = hinge_nodes(tree);
  if (!nodes) return std::nullopt;
  return lean_tree<Const>(nodes->whole, tree.gravity, false);
}

template <class Const>
std::optional<LeanLimbsImage<Const>> make_lean_limbs(const Tree& tree) {
  static_assert(kLeanLanes == kLimbLanes);
  const auto nodes = hinge_nodes(tree);
  if (!nodes || nodes->limbs.empty() || nodes->limbs.size() > std::size_t(kMostLeanSets)) return std::nullopt;
  LeanLimbsImage<Const> out;
  const LeanTreeOf<Const> trunk = lean_tree<Const>(nodes->trunk, tree.gravity, true);
  add_stage(out).tree = trunk.shape;
  append(out.nodes, trunk.nodes, lane_stride(trunk.nodes.size() * sizeof(LeanNodeOf<Const>)));
  for (const LimbSet& set : nodes->limbs) add_set<Const>(set, trunk, out);
  return out;
}

#define KANSETSU_INSTANTIATE_LEAN(Const)                                             \
  template std::optional<LeanTreeOf<Const>> make_lean_tree<Const>(const Tree& tree); \
  template std::optional<LeanLimbsImage<Const>> make_lean_limbs<Const>(const Tree& tree);
KANSETSU_INSTANTIATE_LEAN(float)
KANSETSU_INSTANTIATE_LEAN(double)

}  // namespace kansetsu
