#pragma once

#include "constraint/contact_work.h"
#include "kansetsu/base/macros.h"

/// The contact problem of a step as Newton's method sees it, docs/theory/contact.md §4. Unknowns are impulses x: of each touching
/// vertex a pressure and its friction, of each bounded row one number.
///
///   symbol   code          meaning                                             unit
///   x        x             unknown impulses, one block after the other         N·s, N·m·s
///   r        r             impulses of the rows, r = Sᵀ·x                      N·s, N·m·s
///   w        w             velocities of the rows after the step, w = c + G·r  m/s, rad/s
///   Φ        phi           natural map: zero where the law holds               N·s
///   g, ρ     1/rho, rho    own response of an unknown, and its inverse         1/kg
namespace kansetsu::kernel {

/// What a vertex does at some unknowns and velocities.
struct VertexState {
  bool pressed = false, slides = false;
  double e[3] = {}, share = 1;  ///< direction of friction that slides, given where the slip is known; μ·z_n/|z_t|
  double grows[3] = {};         ///< derivative of |z_t| by z_t: e itself but for the paper's cone
};

/// A vertex of a patch that touches: it presses at (x, y) of the patch, its friction acts at (a, b). Friction points lie on a ring
/// around the last centre of pressure, so far inside the vertices that an even pressure resists a turn as it does on the whole
/// polygon; friction of the patch acts in its centre of pressure.
struct VertexLaw : VertexState {  // that of the last evaluation
  double x = 0, y = 0, t = 0;     ///< t: least normal velocity [m/s]
  double a = 0, b = 0, d = 0;     ///< d: arm of a moment against spin [m], of a patch with one vertex
  double rho = 0, rho_friction = 0;
  KnownSlip known = KnownSlip::kNone;
  VertexState linear{};  ///< at which its law was last linearised
};

struct PatchLaw {
  int row = 0, rows = 6;
  int at = 0;        ///< its first unknown: per vertex the pressure, then friction
  int count = 0;     ///< vertices
  int friction = 2;  ///< numbers of friction of a vertex: 2, or 3 with a moment
  double mu = 0, mu_spin = 0;
  bool paper = false;  ///< |(f_x, f_y)| + |n|/d ≤ μ·λ
  VertexLaw vertex[kMaxTouching];
  double H[36] = {};     ///< rows × rows: how its impulses answer velocities, dr = q − H·dw
  bool active = false;   ///< H is not zero
  bool follows = false;  ///< some friction follows the pressure: it slides
};

/// r += Sᵀ·x of a patch; r: its rows.
KANSETSU_HD void add_impulses(const PatchLaw& law, const double* x, double* r) {
  for (int i = 0; i < law.count; ++i, x += 1 + law.friction) {
    const VertexLaw& v = law.vertex[i];
    r[0] += x[1], r[1] += x[2], r[2] += x[0];
    if (law.rows == 3) continue;
    r[3] += v.y * x[0], r[4] -= v.x * x[0];
    r[5] += v.a * x[2] - v.b * x[1] + (law.friction == 3 ? v.d * x[3] : 0.0);
  }
}

/// lower ≤ x ≤ upper, w = t in between. Without bounds: a bilateral row.
struct BoundLaw {
  int row = 0, at = 0;
  double lower = 0, upper = 0, t = 0;
  double rho = 0;
  bool free = false;  ///< between its bounds
  double H = 0;       ///< 0: it was not when its law was last linearised
};

struct TreeRowsView;  // tree_rows.h

/// How rows answer impulses: by a dense matrix over all rows.
struct RowResponse {
  const double* G = nullptr;  ///< row i at G + i·stride; rows padded with zeros to whole packs
  int stride = 0;
};

struct LawWork {
  PatchLaw* patches = nullptr;
  BoundLaw* bounds = nullptr;
  int patch_count = 0, bound_count = 0, unknowns = 0, rows = 0;
  const double* c = nullptr;  ///< velocities of the rows without impulses
  double tolerance = 0;       ///< natural residual to be reached [m/s]
  double acceptable = 0;      ///< what counts as solved where rounding allows no better

  // Memory: `unknowns` numbers each.
  double *x = nullptr, *before = nullptr, *dx = nullptr, *phi = nullptr, *centre = nullptr, *best = nullptr;
  // `rows` numbers each, padded to whole packs.
  double *r = nullptr, *w = nullptr, *q = nullptr, *dr = nullptr, *dw = nullptr, *w_before = nullptr;

  int most_systems = 0;  ///< that are solved at most: proximal steps end there
  double softness = 0;   ///< of g: laws that yield by so much, about no force, are to be solved (positions)
  bool far = false;      ///< the start is too far off for Newton steps on the law itself: proximal steps come first
  double kappa = 0;      ///< how far laws yield to changes about `centre`, of g
  // Answer.
  int systems = 0;                        ///< linear systems that were solved
  double residual = 0;                    ///< natural residual [m/s]
  bool solved = false, proximal = false;  ///< proximal: Newton steps alone did not do
};

/// Rows of a heap: blocks on the velocities of one or two figures. Each figure has whole packs of velocities, those of no use are zero.
struct SweepRows {
  struct Part {
    int offset, size, padded;
    const double *J, *Y;    ///< count lines of `padded` numbers: row velocity = Σ J·v; Y = M⁻¹·Jᵀ of each row
    const double* columns;  ///< of J: size lines of eight
  };
  Part part[2];
  int parts = 0, count = 6;
  double D[48];  ///< own block of G, eight numbers per line
};
/// Bilateral rows of a connection.
struct SweepJoint {
  int at = 0;  ///< its first unknown
  double t[6] = {};
  double inverse[36] = {};  ///< of its own block
};
struct SweepWork {
  static constexpr int kDepth = 5;  ///< sweeps that the acceleration remembers
  PatchLaw* patches = nullptr;
  BoundLaw* bounds = nullptr;
  SweepJoint* joints = nullptr;
  SweepRows* rows = nullptr;  ///< of patches, then bounds, then joints
  int patch_count = 0, bound_count = 0, joint_count = 0, unknowns = 0, velocities = 0;
  const double* v_free = nullptr;  ///< velocities without impulses
  double *v = nullptr, *x = nullptr, *residual_of = nullptr;
  double *start = nullptr, *change = nullptr, *result = nullptr;  ///< unknowns numbers each
  double *changes = nullptr, *results = nullptr;                  ///< kDepth times as many
  int most = 0;                                                   ///< sweeps
  double tolerance = 0;                                           ///< velocity that may be off in a sweep [m/s]
  // Answer.
  int sweeps = 0, systems = 0;
  double residual = 0;
};

/// The order in which figures of a heap are eliminated, and where their blocks are. Lines of blocks are padded to whole packs.
struct BodyPlan {
  int figure_count = 0, block_count = 0;
  const int *offset = nullptr, *size = nullptr,
            *padded = nullptr;  ///< per figure: in v; numbers; the same in whole packs
  const int* order = nullptr;
  const int *begin = nullptr,
            *neighbour = nullptr;  ///< per figure: those after it in the order that it meets, in that order
  const long* diagonal = nullptr;  ///< per figure: its block
  const long *upper = nullptr, *lower = nullptr;  ///< per neighbour: A_fj and A_jf
  const long* inverse_at = nullptr;
  const double* const* M = nullptr;  ///< per figure: its mass matrix, size × size
  const int* row = nullptr;          ///< per block of rows: its first row
  const int* figure = nullptr;       ///< per block and part: the figure
  const long* place = nullptr;       ///< per block, 2 × 2: where Jᵀ·H·J of its parts goes
  long numbers = 0;
  long products = 0;  ///< that an elimination takes
  double *A = nullptr, *inverse = nullptr, *scratch = nullptr, *dv = nullptr;
};

/// Scratch of a system over rows.
struct RowScratch {
  double* matrix = nullptr;  ///< lines of `stride` numbers, one more than rows; stride: rows and at least nine more
  double* lower = nullptr;   ///< as many: factors by which lines below a pivot took it, a line per pivot
  int stride = 0;
  double *x = nullptr, *inverse = nullptr, *right = nullptr;
  int *order = nullptr, *row = nullptr;
};

/// Entry points of one instruction set: Newton's method and proximal steps on the natural map, and what goes with it.
struct NewtonKernels {
  void (*rows)(LawWork&, const RowResponse&, const RowScratch&);  ///< by a matrix over all rows
  void (*tree)(LawWork&, const TreeRowsView&);                    ///< by the recursion of the trees that rows act on
  void (*bodies)(LawWork&, SweepWork&, const BodyPlan&);          ///< through the velocities of the figures of a heap
  void (*sweeps)(SweepWork&);
  void (*own_block)(SweepRows&);  ///< G of rows by themselves
  bool (*finite)(const double* G, int lines, int columns, int stride);
};
const NewtonKernels& newton_kernels();

}  // namespace kansetsu::kernel
