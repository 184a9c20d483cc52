#pragma once

#include "kansetsu/constraint/contact_types.h"

/// What the kernels of the contact solver work on: the public problem reduced to touching vertices and one common form,
///
///     w = c + G·f,   normal: 0 ≤ λ_i ⟂ w_i − t_i ≥ 0 per vertex,   friction: in its set, opposed to w.
///
/// Time steps and impacts differ only in c, t and the meaning of f.
namespace kansetsu::kernel {

/// How close sliding friction comes to its limit before it is put there, relative: in sweeps that Newton steps follow, and alone.
inline constexpr double kRoughFriction = 1e-3, kExactFriction = 1e-10;
inline constexpr int kMaxTouching = ContactPatch::kMaxVertices;

struct PatchWork {
  int row = 0, rows = 6;  ///< first row; 6 or 3
  int count = 0;          ///< touching vertices, in order around the polygon
  bool spans = false;     ///< three of them are not on one line
  bool targets = false;   ///< some t is not zero
  bool planar = true;     ///< the targets lie in one plane; otherwise a surface rests on three of its vertices
  double x[kMaxTouching], y[kMaxTouching];
  double t[kMaxTouching];  ///< least outcome of the vertex's normal
  unsigned char id[kMaxTouching];
  double plane[3];                ///< t as a plane: t_i ≈ plane[0] + plane[1]·y − plane[2]·x
  double turn = 1;                ///< +1: counterclockwise
  double length = 0, along[2]{};  ///< of two vertices: distance and direction from the first to the second
  double mu_hold = 0, mu_slip = 0;
  double arm = 0;      ///< of friction while the pressure is well inside
  double band = 0;     ///< width of the rim where it falls to that of the edge
  bool given = false;  ///< the slip velocity is known beforehand (acceleration level, moving)
  double motion[3]{};  ///< that velocity: vx, vy, ωz at the origin
  double omega[3]{};   ///< angular velocity where the outcome is an acceleration and bends with it; else zero
  double centre[2]{};  ///< rotation centre of the paper's spin mode

  // hypothesis
  ContactMode mode = ContactMode::kOpen;
  SlipMode slip = SlipMode::kStick;
  int i0 = 0, i1 = 0;   ///< vertices of a line; i0 that of a point
  bool three = false;   ///< surface: closed at corner[] only
  int corner[3]{};      ///< in order around the polygon
  bool newton = false;  ///< sliding: the direction is an unknown, linearised about e, U0, fz0, p0, wz0
  double e[3]{};        ///< sliding direction in the metric of the friction set (third: arm·ωz)
  double U0 = 0, fz0 = 0, p0[2]{}, wz0 = 0;
  double d = 0, dx = 0, dy = 0;  ///< arm at p0 and its gradient
  bool stopped = false;          ///< has gone from slide to stick in this solve
  bool slid = false;             ///< has slid in a recent sweep
  double alpha = 0;              ///< of its last visit where it slid: U = −α·F
  // Of a patch of three rows: 1/G_zz, and 1/(G_xx·G_yy − G_xy²); 0 if it cannot move.
  double normal_inverse = 0, tangent_inverse = 0;

  // answer
  double f[6]{};
  int solves = 0, sweeps = 0;
  double residual = 0;
};

struct BoundWork {
  int row = 0;
  double lower = 0, upper = 0, t = 0;
  int side = 0;  ///< −1 at the lower bound, +1 at the upper, 0 between
  double f = 0;
  double inverse = 0;  ///< 1/G of the row, 0 if it cannot move; sweeps
  int changes = 0;
};

struct ContactWork {
  int n = 0;                  ///< rows
  const double* G = nullptr;  ///< row i at G + i·ldg; aligned, ldg a multiple of 8, padded with zeros
  int ldg = 0;
  const double* c = nullptr;
  double scale = 1;           ///< outcome and force times this are m/s and N·s
  double push_tolerance = 0;  ///< outcome of an open vertex that still counts as not inwards
  PatchWork* patches = nullptr;
  int patch_count = 0;
  BoundWork* bounds = nullptr;
  int bound_count = 0;
  FrictionSet set = FrictionSet::kEllipse;
  double tolerance = 1e-9, rank_tolerance = 1e-10;
  int max_passes = 8, max_sweeps = 500;
  double close = kRoughFriction;

  // scratch: vectors of ld (≥ columns + 2, a multiple of 8), matrices of as many rows
  int ld = 0;
  int column_capacity = 0;
  double* matrix = nullptr;
  double* matrix2 = nullptr;
  double* columns = nullptr;    ///< per block 6 × 8: column c is the wrench of a unit of the block's unknown c
  double* equations = nullptr;  ///< per block 8 × 8: row c holds the combination of outcomes that its equation sets
  /// What the unknowns of a block are: wrenches by `columns`; forces of its rows; of a sliding point the normal force with its
  /// friction, and the friction across it.
  enum class Unknowns : unsigned char { kMixed, kRows, kSlide };
  struct Block {  ///< of a patch or of a bounded row
    int row, rows, first, count, patch, bound;
    Unknowns kind;
    const signed char* place;  ///< kRows: which of its rows, per unknown
    int normals;               ///< kMixed: so many unknowns and equations come first that are across the patch
  };
  Block* blocks = nullptr;
  double *x = nullptr, *w = nullptr, *f = nullptr, *g = nullptr, *best = nullptr, *cut = nullptr;
  double *start = nullptr, *record = nullptr;  ///< forces that sweeps begin with; the best they found
  double* near = nullptr;                      ///< forces before the last pass
  int* order = nullptr;
  PatchWork* saved = nullptr;  ///< as many as patches
  BoundWork* saved_bounds = nullptr;
  unsigned long long* seen = nullptr;  ///< hashes of the hypotheses tried
  int seen_capacity = 0;

  // answer
  int solves = 0, sweeps = 0, rank_deficiency = 0;
  double residual = 0;
  bool accepted = false, indefinite = false;
  bool changeable = false;  ///< states changed in the last step: it is no use to begin with them
  int polishes = 0;         ///< Newton steps from sweeps that have been tried
  double expected = 0;      ///< residual that Newton steps begin with, where those before have failed; else 0
  bool damped = false;      ///< the last pass solved a system that was damped
  bool exact = false;       ///< passes are not to be damped
  bool swept = false;       ///< f is an iterate of the sweeps, to be gone on with
};

/// A problem too large for a matrix: rows as blocks on body velocities. Forces are impulses here, outcomes velocities.
struct LargeRow {
  struct Part {
    int offset, size;
    const double *J, *Y;
  };
  Part part[2];
  int parts = 0;
  double D[36];  ///< own block of G, rows × rows with 6 per line
  double f[6];
};
struct LargeWork {
  PatchWork* patches = nullptr;
  LargeRow* rows = nullptr;  ///< patch_count, then bound_count
  int patch_count = 0;
  BoundWork* bounds = nullptr;
  int bound_count = 0;
  double* v = nullptr;
  FrictionSet set = FrictionSet::kEllipse;
  double push_tolerance = 0;
  double sweep_tolerance = 0;  ///< largest change of a contact velocity in a sweep that ends the sweeps
  int max_sweeps = 0;
  int sweeps = 0;
  double residual = 0;
  bool converged = false;
};

/// Entry points of one instruction set.
struct ContactKernels {
  /// Hypothesis and check from the hypotheses in the patches; what is rejected is replaced by what two sweeps over the
  /// patches find. True: accepted.
  bool (*fast)(ContactWork&);
  /// Active set on the normals of all vertices, friction states as guessed.
  bool (*active_set)(ContactWork&);
  /// Sweeps and Newton steps on the complementarity problem; false: the best iterate is in the patches.
  bool (*complementarity)(ContactWork&);
  /// Sweeps over patches on body velocities.
  void (*large)(LargeWork&);
};
const ContactKernels& contact_kernels();

}  // namespace kansetsu::kernel
