#include "dynamics/lean_limbs.h"

#include <cstring>

#include "model/limbs.h"

namespace kansetsu {
namespace {

LeanKind kind_of(NodeKind kind) { return kind == NodeKind::kFree ? LeanKind::kFree : LeanKind(kind); }

/// The trunk: as make_lean_tree() has it, but parks wherever limbs meet too. What hangs there is summed up from zero.
template <class Const>
std::vector<LeanNodeOf<Const>> trunk_nodes(const NodeTreeOf<double>& trunk, LeanTreeViewOf<Const>& shape) {
  std::vector<LeanNodeOf<Const>> out;
  for (std::size_t i = 0; i < trunk.nodes.size(); ++i) {
    const NodeOf<double>& from = trunk.nodes[i];
    const NodeCoordinate& coordinate = trunk.coordinates[std::size_t(from.u)];
    LeanNodeOf<Const> node;
    node.kind = kind_of(from.kind);
    node.chained = from.parent >= 0 && from.parent == int(i) - 1;
    node.leaf = from.leaf;
    node.massless = from.massless;
    node.reach = from.offset;
    if (node.leaf) node.tip = shape.tip_count++;
    if (from.gathers >= 0) node.park = shape.park_count++;
    if (!node.chained && from.parent >= 0) node.parent_park = out[std::size_t(from.parent)].park;
    node.column = coordinate.column;
    node.position = node.kind == LeanKind::kFree ? from.q : coordinate.position;
    node.ratio = Const(coordinate.ratio);
    node.offset = Const(coordinate.offset);
    node.rotor = Const(from.rotor[0]);
    node.p = lift<Const>(from.p);
    node.R0 = lift<Const>(from.R0);
    node.M = lift<Const>(from.M);
    out.push_back(node);
  }
  shape.node_count = int(out.size());
  return out;
}

Vec3<> lane_of(const Vec3<LimbConst>& a, int lane) { return {a.x[lane], a.y[lane], a.z[lane]}; }

template <class Const>
LeanNodeOf<Const> lane_node(const NodeTreeOf<LimbConst>& tree, std::size_t depth, int lane) {
  const NodeOf<LimbConst>& from = tree.nodes[depth];
  const LaneCoordinate& coordinate = tree.lane_coordinates[std::size_t(from.u)];
  LeanNodeOf<Const> node;
  node.kind = kind_of(from.kind);
  node.chained = depth > 0;
  node.leaf = depth + 1 == tree.nodes.size();
  node.massless = from.massless;
  node.reach = from.offset;
  if (node.leaf) node.tip = 0;
  node.column = coordinate.column[lane];
  node.position = coordinate.position[lane];
  node.ratio = Const(coordinate.ratio[lane]);
  node.offset = Const(coordinate.offset[lane]);
  node.rotor = Const(from.rotor[0][lane]);
  node.p = lift<Const>(lane_of(from.p, lane));
  node.R0 = lift<Const>(Mat3<>{lane_of(from.R0.x, lane), lane_of(from.R0.y, lane), lane_of(from.R0.z, lane)});
  const Sym3<LimbConst>& I = from.M.I;
  node.M = lift<Const>(Inertia<>{from.M.m[lane],
                                 lane_of(from.M.h, lane),
                                 {I.xx[lane], I.xy[lane], I.xz[lane], I.yy[lane], I.yz[lane], I.zz[lane]}});
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

/// Puts a stage after those that are there.
template <class Const>
LeanStageOf<Const>& add_stage(LeanLimbsImage<Const>& image, const Vec3<Const>& gravity) {
  LeanLimbsOf<Const>& limbs = image.limbs;
  LeanStageOf<Const>& out = limbs.stages[limbs.stage_count];
  if (limbs.stage_count > 0) {
    const LeanStageOf<Const>& last = limbs.stages[limbs.stage_count - 1];
    out.parks_before = last.parks_before + last.tree.park_count;
    out.tips_before = last.tips_before + last.tree.tip_count;
    out.nodes_before = last.nodes_before + last.tree.node_count;
  }
  out.tree.gravity = gravity;
  out.nodes = int(image.nodes.size());
  ++limbs.stage_count;
  return out;
}

template <class Const>
void add_set(const LimbSet& from, const std::vector<LeanNodeOf<Const>>& trunk, const Vec3<Const>& gravity,
             LeanLimbsImage<Const>& image) {
  LeanStageOf<Const>& out = add_stage(image, gravity);
  const std::size_t length = from.tree.nodes.size();
  out.tree.node_count = int(length);
  out.tree.tip_count = 1;
  out.lane_stride = lane_stride(length * sizeof(LeanNodeOf<Const>));
  for (int lane = 0; lane < kLeanLanes; ++lane) {
    const int carrier = from.carrier[lane];
    if (carrier >= 0) out.carrier[lane] = trunk[std::size_t(carrier)].park;
    std::vector<LeanNodeOf<Const>> nodes;
    for (std::size_t depth = 0; depth < length; ++depth) nodes.push_back(lane_node<Const>(from.tree, depth, lane));
    append(image.nodes, nodes, out.lane_stride);
  }
}

}  // namespace

template <class Const>
std::optional<LeanLimbsImage<Const>> make_lean_limbs(const Tree& tree) {
  static_assert(kLeanLanes == kLimbLanes);
  if (!make_lean_tree<Const>(tree)) return std::nullopt;
  const auto nodes = make_nodes(tree);
  if (!nodes || nodes->limbs.empty() || nodes->limbs.size() > std::size_t(kMostLeanSets)) return std::nullopt;
  LeanLimbsImage<Const> out;
  const Vec3<Const> gravity = lift<Const>(tree.gravity);
  LeanTreeViewOf<Const>& trunk = add_stage(out, gravity).tree;
  trunk.free_base = tree.free_base;
  const auto trunk_list = trunk_nodes<Const>(nodes->trunk, trunk);
  append(out.nodes, trunk_list, lane_stride(trunk_list.size() * sizeof(LeanNodeOf<Const>)));
  for (const LimbSet& set : nodes->limbs) add_set<Const>(set, trunk_list, gravity, out);
  return out;
}

template std::optional<LeanLimbsImage<float>> make_lean_limbs<float>(const Tree& tree);
template std::optional<LeanLimbsImage<double>> make_lean_limbs<double>(const Tree& tree);

}  // namespace kansetsu
