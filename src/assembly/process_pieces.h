#pragma once

#include <optional>
#include <vector>

#include "kansetsu/assembly/assembly.h"

/// How a figure is cut into connected pieces, one per process; see processes.cc.
namespace kansetsu {

/// A frame where a piece is connected to others: a joint that was cut, or a closure to another piece or the world.
struct PiecePort {
  LinkId link{0};  ///< of the whole figure
  Transform<> X_LJ{};
};

/// The joint that carries piece k + 1.
struct PieceCut {
  JointId joint{0};
  int carrier = 0;       ///< piece
  int carrier_port = 0;  ///< in that piece; in the one it carries it is the first
};

/// A closure between two pieces, or between a piece and the world.
struct PieceClosure {
  int piece_a = 0, port_a = 0, piece_b = 0, port_b = 0;  ///< a piece below 0: the world
  Transform<> X_world{};                                 ///< the frame there
  std::vector<int> rows{};
};

struct ProcessPieces {
  std::vector<int> piece_of_link{};
  std::vector<PieceCut> cuts{};
  std::vector<std::vector<PiecePort>> ports{};   ///< per piece
  std::vector<std::vector<Closure>> closures{};  ///< per piece: those within it, links of the whole figure
  /// All others, including those to the world except in the piece with the figure's base: a piece must be able to move freely, or the
  /// rows of its joint may have no mobility (a planar linkage that is hinged to the world at both ends).
  std::vector<PieceClosure> between{};

  std::size_t most_ports() const;
};

// The data of ports that pieces exchange.

/// A frame and its velocity, in its own axes, relative to the first link of its piece, or to the world.
struct PiecePlace {
  Transform<> X;
  Motion<> V;
};
/// The joint that carries a piece.
struct PieceJoint {
  Transform<> X_SP;  ///< plug in the socket before it
  Motion<> S, rate;  ///< rate: S·q̇
  double tau, rotor;
};

/// Joints where a figure can be cut, by the link they carry: revolute and prismatic ones between links with mass, spanned by no gear.
std::vector<char> cuttable_links(const Model& model);
/// Throws Error if there are too few of these, or a closure does not suit.
ProcessPieces cut_into_pieces(const Model& model, int pieces, const std::vector<Closure>& closures);

}  // namespace kansetsu
