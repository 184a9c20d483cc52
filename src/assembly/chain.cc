#define KANSETSU_ISA baseline
#include "assembly/chain.h"

#include <algorithm>
#include <bit>

#include "assembly/mechanism.h"
#include "kansetsu/base/error.h"
#include "kinematics/joint_kernel.h"

namespace kansetsu {

std::optional<std::string> simple_joints_problem(const Model& model) {
  Mechanism mechanism;
  if (auto problem = mechanism.add(model)) return problem;
  const Tree& tree = model.tree();
  if (mechanism.parts.empty()) return "it has no moving link";
  if (int(mechanism.parts.size()) != tree.body_count()) return "it has massless links";
  if (!mechanism.gears.empty() || !tree.simple) return "it has gears";
  for (int i = 0; i < tree.body_count(); ++i) {
    const Body& b = tree.bodies[size_t(i)];
    if (b.kind == PrimitiveKind::kFree && i == 0) continue;
    if (b.nu != 1) return "it has joints of several coordinates";
    if (tree.rotor_inertia[size_t(b.u)] != 0) return "it has rotors";
  }
  return std::nullopt;
}

std::optional<std::string> chain_problem(const Model& model) {
  if (auto problem = simple_joints_problem(model)) return problem;
  const Tree& tree = model.tree();
  for (int i = 0; i < tree.body_count(); ++i) {
    if (tree.bodies[size_t(i)].parent != i - 1) return "it has branches";
  }
  return std::nullopt;
}

namespace {

/// Body of an anchor (−1: the world), and the frame there.
std::pair<int, Transform<>> place(const Tree& tree, const ClosureAnchor& anchor) {
  if (!anchor.link) return {-1, anchor.X_LJ};
  const auto& link = tree.links[size_t(anchor.link->value())];
  return {link.body, link.X_BL * anchor.X_LJ};
}

ChainClosure make_closure(const Model& model, const Closure& closure) {
  const Tree& tree = model.tree();
  const auto [a, X_aJ] = place(tree, closure.a);
  const auto [b, X_bJ] = place(tree, closure.b);
  const int last = tree.body_count() - 1;
  ChainClosure out{};
  for (int k = 0; k < 6; ++k) {
    if (closure.rows >> k & 1) out.row[out.rows++] = k;
  }
  out.tip_is_plug = b == last;
  out.to_base = (b == last ? a : b) == 0;
  out.X_bJ = X_bJ;
  return out;
}

}  // namespace

std::optional<std::string> ring_problem(const Model& model, const Closure& closure) {
  const Tree& tree = model.tree();
  for (const ClosureAnchor* anchor : {&closure.a, &closure.b}) {
    if (anchor->figure != 0) return "it names figure " + std::to_string(anchor->figure) + " of 1";
    if (anchor->link && (anchor->link->value() < 0 || anchor->link->value() >= int(tree.links.size())))
      return "it names link " + std::to_string(anchor->link->value()) + " of " + std::to_string(tree.links.size());
  }
  const int rows = std::popcount(unsigned(closure.rows & kAllRows));
  if (rows == 0) return "its mask of rows is empty";
  const int a = place(tree, closure.a).first, b = place(tree, closure.b).first, last = tree.body_count() - 1;
  if ((a == last) == (b == last)) return "it does not hold the last link to another or the world";
  const int other = a == last ? b : a;
  if (other < 0) return std::nullopt;
  if (other > 0 || tree.bodies[0].kind != PrimitiveKind::kFree)
    return "it holds the last link neither to the world nor to a free base";
  if (rows == 6) return "it welds the last link to the base: six rows, but five are the most between two links";
  return std::nullopt;
}

std::vector<ChainLink> make_chain_links(const Model& model) {
  Mechanism mechanism;
  mechanism.add(model);
  const Tree& tree = model.tree();
  std::vector<ChainLink> links;
  for (int i = 0; i < tree.body_count(); ++i) {
    const Body& b = tree.bodies[size_t(i)];
    const Joint& joint = mechanism.joints[size_t(i)];
    ChainLink link{};
    link.X_PJ = b.X_PJ;
    link.M = b.M_B;
    link.kind = int(b.kind);
    link.axis = b.aligned_axis;
    link.pitch = b.pitch;
    std::copy_n(mechanism.columns.begin() + joint.columns, 6, link.columns);
    std::copy_n(mechanism.parts[size_t(i)].C_inv, 36, link.C_inv);
    link.S = kernel::subspace<double>(b, b.nu - 1);
    const CoordinateRow& row = tree.rows[size_t(b.u)];
    const CoordinateTerm& term = tree.terms[size_t(row.begin)];
    link.ratio = term.ratio;
    link.offset = row.offset;
    link.position = std::max(0, term.position);
    link.column = term.column;
    links.push_back(link);
  }
  return links;
}

Chain make_chain(const Model& model, const std::optional<Closure>& closure) {
  if (const auto problem = chain_problem(model))
    throw Error("model \"" + model.name() + "\" is not a chain of simple joints: " + *problem);
  if (const auto problem = closure ? ring_problem(model, *closure) : std::nullopt)
    throw Error("the closure makes no ring of model \"" + model.name() + "\": " + *problem);
  const Tree& tree = model.tree();
  Chain chain;
  if (closure) chain.closure = make_closure(model, *closure);
  chain.gravity = tree.gravity;
  chain.nq = tree.nq;
  chain.nv = tree.nv;
  chain.free_base = tree.bodies[0].kind == PrimitiveKind::kFree;
  chain.links = make_chain_links(model);
  const int before = chain.free_base ? 1 : 0;  // 7 positions and 6 velocities of the base stand for one of each
  for (int i = before; i < tree.body_count(); ++i) {
    const ChainLink& link = chain.links[size_t(i)];
    if (link.position != i + 6 * before || link.column != i + 5 * before) chain.in_order = false;
  }
  return chain;
}

int chain_pieces(int links, int blocks) {
  constexpr int kFewest = 8;  // pieces of fewer links only move work up
  int pieces = 1;
  while (2 * pieces <= std::min(links / kFewest, blocks)) pieces *= 2;
  return pieces;
}

int chain_group(int pieces) {
  constexpr int kAtOnce = 16;  // so many clusters are joined in as many levels as in two steps, with one wait less
  return std::min(pieces, kAtOnce);
}

}  // namespace kansetsu
