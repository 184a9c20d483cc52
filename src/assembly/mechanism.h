#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/model.h"
#include "model/tree.h"

/// The figures as parts (bodies with mass) and bonds (rows of constraints between parts).
namespace kansetsu {

inline constexpr int kGround = -1;

/// A body with mass.
struct Part {
  int figure = 0, body = 0;
  int joint = -1;    ///< between it and its carrier
  double A[36];      ///< inertia
  double C_inv[36];  ///< inverse of its Cholesky factor
};

/// The way from a part up to the part that carries it: one primitive, or several with massless bodies between.
///
/// With the pose of the child in the carrier, its rate S·u̇ and the bias C:   s_c − X⁻¹·s_p = C + S·u̇.
/// Columns are wrenches on the child, in its frame: N spans the constraint forces (Nᵀ·S = 0), E is dual to S.
struct Joint {
  int figure = 0;
  int child = 0, carrier = kGround;  ///< parts
  int bodies = 0, body_count = 0;    ///< range in Mechanism::chain, carrier to child
  int d = 0;                         ///< coordinates
  int coordinates = 0;               ///< range in Mechanism::coordinates
  int bond = -1;                     ///< −1: it constrains nothing
  bool simple = true;                ///< one primitive: N and E are constant
  int columns = 0;                   ///< N (6 − d), then E (d): six in Mechanism::columns if simple
};

/// A tree coordinate of a joint.
struct JointCoordinate {
  int u = 0;
  double rotor = 0;
  int row = -1;  ///< in its bond: the rotor's; −1: none
};

enum class BondKind { kJoint, kGear, kClosure };

struct BondEnd {
  int part = kGround;
  int source = 0;  ///< joints: 0 the child, 1 the carrier; closures: 0 is b, 1 is a; gears: number of the term
};

/// Rows of constraints. The row of a rotor has the compliance 1/J: its force is the inertial torque of the rotor.
struct Bond {
  BondKind kind = BondKind::kJoint;
  int index = 0;  ///< joint, gear or closure
  int rows = 0;
  int first = 0;                ///< in the arrays over all rows
  int ends = 0, end_count = 0;  ///< range in Mechanism::ends; parts differ from each other, none is the ground
  bool grounded = false;        ///< one side is the ground
  bool alive = true;
};

/// u̇[u] = Σ ratio·u̇[…]: terms in Mechanism::gear_terms, the dependent coordinate first with ratio 1.
struct Gear {
  int terms = 0, term_count = 0;
  int bond = -1;
};
struct GearTerm {
  int joint = 0, coordinate = 0;  ///< index within the joint
  double ratio = 1;               ///< of the row: 1 for the dependent coordinate, −ratio for the others
};

struct Mechanism {
  std::vector<Part> parts;
  std::vector<std::vector<int>> part_of_body;  ///< per figure; −1: massless
  std::vector<Joint> joints;
  std::vector<int> chain;
  std::vector<JointCoordinate> coordinates;
  std::vector<Force<>> columns;
  std::vector<Gear> gears;
  std::vector<GearTerm> gear_terms;
  std::vector<Bond> bonds;
  std::vector<BondEnd> ends;
  int row_count = 0;
  /// Per figure and column of v: the tree coordinate that is ±v there, and the sign.
  struct Owner {
    int u = -1;
    double sign = 1;
  };
  std::vector<std::vector<Owner>> owners;
  /// Per figure: massless bodies with no mass behind them, ascending: u̇ = (τ + Sᵀ·F)/J, or undetermined if J = 0.
  std::vector<std::vector<int>> tips;

  /// Appends joints, gears and their bonds of a figure. Returns the reason if that is impossible.
  std::optional<std::string> add(const Model& model);

  /// Rows without ends yet; returns the number of the bond.
  int add_bond(BondKind kind, int index, int rows);

 private:
  std::optional<std::string> add_parts(const Model& model, int figure);
  std::optional<std::string> add_joint(const Model& model, int figure, int body);
  void add_joint_bond(Joint& joint);
  std::optional<std::string> add_gears(const Model& model, int figure);
};

}  // namespace kansetsu
