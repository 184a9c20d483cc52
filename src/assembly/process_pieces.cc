#include "assembly/process_pieces.h"

#include <algorithm>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

bool has_mass(const Model& model, int link) {
  const LinkDescription& l = model.link(LinkId(link));
  return l.inertial && l.inertial->mass > 0;
}

int parent_of(const Model& model, int link) { return model.parent_link(JointId(link - 1)).value(); }

/// All links between the joints of a gear stay in one piece.
void keep_gears_whole(const Model& model, std::vector<char>& cuttable) {
  const auto link_of = [&](const DofRef& dof) { return model.child_link(model.joint_id(dof.joint)).value(); };
  for (const Coupling& gear : model.description().couplings) {
    const int first = link_of(gear.dependent);
    cuttable[size_t(first)] = 0;
    for (const Coupling::Term& term : gear.terms) {
      int a = first, b = link_of(term.dof);
      cuttable[size_t(b)] = 0;
      while (a != b) {  // links are numbered depth first: the larger number is never above the other
        int& lower = a > b ? a : b;
        cuttable[size_t(lower)] = 0;
        lower = parent_of(model, lower);
      }
    }
  }
}

/// Links whose joints are cut so that a piece has at least `target` of them, tips first; at most `most`.
std::vector<int> cut_tips(const Model& model, const std::vector<char>& cuttable, int target, int most) {
  std::vector<int> size(size_t(model.link_count()), 1), cuts;
  for (int l = model.link_count() - 1; l > 0; --l) {
    if (cuttable[size_t(l)] && size[size_t(l)] >= target && int(cuts.size()) < most)
      cuts.push_back(l);
    else
      size[size_t(parent_of(model, l))] += size[size_t(l)];
  }
  return cuts;
}

std::vector<int> choose_cuts(const Model& model, int pieces) {
  const std::vector<char> cuttable = cuttable_links(model);
  for (int target = std::max(1, (model.link_count() + pieces / 2) / pieces); target > 0; target -= 1 + target / 16) {
    std::vector<int> cuts = cut_tips(model, cuttable, target, pieces - 1);
    if (int(cuts.size()) < pieces - 1) continue;
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }
  throw Error("AssemblyProcess: model \"" + model.name() + "\" can be cut at " +
              std::to_string(std::count(cuttable.begin(), cuttable.end(), 1)) + " joints, too few for " +
              std::to_string(pieces) + " processes");
}

/// A link that is fixed to the world counts as the world.
ClosureAnchor moving_anchor(const Model& model, const ClosureAnchor& anchor) {
  if (anchor.figure != 0)
    throw Error("AssemblyProcess: a closure names figure " + std::to_string(anchor.figure) + " of 1");
  if (!anchor.link) return anchor;
  const int l = anchor.link->value();
  if (l < 0 || l >= model.link_count())
    throw Error("AssemblyProcess: a closure names link " + std::to_string(l) + " of " +
                std::to_string(model.link_count()));
  const auto& link = model.tree().links[size_t(l)];
  if (link.body < 0) return {.figure = 0, .link = {}, .X_LJ = link.X_BL * anchor.X_LJ};
  if (!has_mass(model, l))
    throw Error("AssemblyProcess: a closure holds link \"" + model.link(*anchor.link).name + "\", which has no mass");
  return anchor;
}

void add_closure(const Model& model, Closure closure, ProcessPieces& out) {
  closure.a = moving_anchor(model, closure.a);
  closure.b = moving_anchor(model, closure.b);
  if (!closure.a.link && !closure.b.link)
    throw Error("AssemblyProcess: both sides of a closure are fixed to the world");
  if ((closure.rows & kAllRows) == 0) throw Error("AssemblyProcess: the mask of rows of a closure is empty");
  constexpr int kWorld = -1;
  const auto piece_of = [&](const ClosureAnchor& a) {
    return a.link ? out.piece_of_link[size_t(a.link->value())] : kWorld;
  };
  PieceClosure between;
  between.piece_a = piece_of(closure.a);
  between.piece_b = piece_of(closure.b);
  const int last = std::max(between.piece_a, between.piece_b);
  if (between.piece_a == between.piece_b || last == 0) {
    out.closures[size_t(last)].push_back(closure);
    return;
  }
  const auto open = [&](int piece, const ClosureAnchor& a) {
    if (piece == kWorld) {
      between.X_world = a.X_LJ;
      return 0;
    }
    std::vector<PiecePort>& ports = out.ports[size_t(piece)];
    ports.push_back({*a.link, a.X_LJ});
    return int(ports.size()) - 1;
  };
  between.port_a = open(between.piece_a, closure.a);
  between.port_b = open(between.piece_b, closure.b);
  for (int k = 0; k < 6; ++k) {
    if (closure.rows >> k & 1) between.rows.push_back(k);
  }
  out.between.push_back(std::move(between));
}

}  // namespace

std::size_t ProcessPieces::most_ports() const {
  std::size_t most = 0;
  for (const auto& own : ports) most = std::max(most, own.size());
  return most;
}

std::vector<char> cuttable_links(const Model& model) {
  std::vector<char> out(size_t(model.link_count()), 0);
  for (int l = 1; l < model.link_count(); ++l) {
    const JointType type = model.joint(JointId(l - 1)).type;
    const int carrier = parent_of(model, l);
    out[size_t(l)] = (type == JointType::kRevolute || type == JointType::kPrismatic) && has_mass(model, l) &&
                     has_mass(model, carrier) && model.tree().links[size_t(carrier)].body >= 0;
  }
  keep_gears_whole(model, out);
  return out;
}

ProcessPieces cut_into_pieces(const Model& model, int pieces, const std::vector<Closure>& closures) {
  ProcessPieces out;
  out.piece_of_link.assign(size_t(model.link_count()), 0);
  out.ports.resize(size_t(pieces));
  out.closures.resize(size_t(pieces));
  const std::vector<int> cuts = choose_cuts(model, pieces);
  for (int l = 1; l < model.link_count(); ++l) {
    const int carrier = out.piece_of_link[size_t(parent_of(model, l))];
    out.piece_of_link[size_t(l)] = carrier;
    if (!std::binary_search(cuts.begin(), cuts.end(), l)) continue;
    const JointDescription& joint = model.joint(JointId(l - 1));
    out.cuts.push_back({JointId(l - 1), carrier, 0});
    const int piece = int(out.cuts.size());
    out.piece_of_link[size_t(l)] = piece;
    out.ports[size_t(piece)].push_back({LinkId(l), to_transform(joint.plug)});
  }
  for (PieceCut& cut : out.cuts) {  // a piece's own plug is its first port
    std::vector<PiecePort>& ports = out.ports[size_t(cut.carrier)];
    cut.carrier_port = int(ports.size());
    ports.push_back({model.parent_link(cut.joint), to_transform(model.joint(cut.joint).socket)});
  }
  for (const Closure& closure : closures) add_closure(model, closure, out);
  return out;
}

}  // namespace kansetsu
