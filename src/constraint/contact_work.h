#pragma once

#include "kansetsu/constraint/contact_types.h"

/// The public problem reduced to touching vertices and one common form,
///
///     w = c + G·r,   normal: 0 ≤ λ_i ⟂ w_i − t_i ≥ 0 per vertex,   friction: in its set, opposed to the slip.
///
/// Time steps, impacts and the acceleration level differ only in c, t and whether the slip is known.
namespace kansetsu::kernel {

inline constexpr int kMaxTouching = ContactPatch::kMaxVertices;

/// Whether friction opposes the slip that comes out, or one that is known beforehand: that of the velocities before the step
/// (acceleration level, the paper's law), or a turn about a centre that is held (the paper's spin mode).
enum class KnownSlip : unsigned char { kNone, kSlide, kSpin };

struct PatchWork {
  int row = 0, rows = 6;  ///< first row; 6 or 3
  int count = 0;          ///< touching vertices, in order around the polygon
  bool spans = false;     ///< three of them are not on one line
  double x[kMaxTouching], y[kMaxTouching];
  double t[kMaxTouching];  ///< least outcome of the vertex's normal
  unsigned char id[kMaxTouching];
  double turn = 1;             ///< +1: counterclockwise
  double arm = 0;              ///< of friction while the pressure is well inside
  double mu = 0, mu_spin = 0;  ///< mu_spin: of the moment in the paper's spin mode
  bool paper = false;          ///< the paper's friction cone
  KnownSlip known = KnownSlip::kNone;
  bool begins = false;  ///< acceleration level: at rest, and found to begin to slide
  double motion[3]{};   ///< the known slip: vx, vy, ωz at the origin
  double centre[2]{};   ///< around which friction acts: of pressure; of the turn in the paper's spin mode

  // Answer.
  ContactMode mode = ContactMode::kOpen;
  SlipMode slip = SlipMode::kStick;
  int i0 = 0, i1 = 0;               ///< vertices of a line; i0 that of a point
  bool three = false;               ///< surface: closed at corner[] only
  int corner[3]{};                  ///< in order around the polygon
  double force[kMaxTouching][3]{};  ///< of each touching vertex: pressure, friction along x and y
  int solves = 0, sweeps = 0;
  double residual = 0;
};

/// Normal velocity of a touching vertex by those of its patch's rows.
inline double contact_velocity(const PatchWork& p, const double* w, int i) {
  return p.rows == 3 ? w[2] : w[2] + w[3] * p.y[i] - w[4] * p.x[i];
}

struct BoundWork {
  int row = 0;
  double lower = 0, upper = 0, t = 0;
  double f = 0;  ///< to begin with
};

struct TreeRowsView;  // tree_rows.h

struct ContactWork {
  int n = 0;                  ///< rows
  const double* G = nullptr;  ///< row i at G + i·ldg; aligned, ldg a multiple of 8, padded with zeros
  int ldg = 0;
  const TreeRowsView* tree = nullptr;  ///< in place of G
  double* c = nullptr;
  PatchWork* patches = nullptr;
  int patch_count = 0;
  BoundWork* bounds = nullptr;
  int bound_count = 0;
  double *w = nullptr, *f = nullptr;  ///< outcome and forces

  int solves = 0;
  double residual = 0;
};

}  // namespace kansetsu::kernel
