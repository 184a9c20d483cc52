#pragma once

#include "assembly/clusters.h"
#include "assembly/kernel_table.h"
#include "base/spin_pool.h"
#include "model/scratch.h"

/// The numerical part of an assembly: parts and bonds at a state, and the sweeps over the clusters.
namespace kansetsu {

/// A closure, in the frames of the bodies it holds.
struct ClosureData {
  Closure closure;
  int bond = -1;
  int figure_a = 0, figure_b = 0;
  int body_a = -1, body_b = -1;  ///< in their figures; −1: the ground
  Transform<> X_aJ, X_bJ;
  Motion<> bias{};
  bool alive = false;
  int row[6];                        ///< direction of each row of the bond
  Force<> wrench_a[6], wrench_b[6];  ///< per row, in the frames of the bodies
};

/// A joint at a state. See Joint.
struct JointData {
  Transform<> X_PB;  ///< child in carrier
  Motion<> C;        ///< with the acceleration of the ground, if that carries it
  Force<> drive;     ///< E·τ on the child
  Force<> relayed;   ///< external wrench on massless bodies between, on the carrier, in its frame
};

/// Numbers that one sweep writes: forces of the rows and accelerations of the parts.
struct Unknowns {
  std::vector<double> n, s;
};

/// Memory of one thread.
struct SweepScratch {
  std::vector<double> a;
  std::vector<Pack<double, 8>> lanes;  ///< aligned rows
  double largest = 0;                  ///< acceleration
  double residual = 0;
  int dropped = 0;   ///< redundant rows
  int singular = 0;  ///< rows of tree joints without inertia
};

/// The work of the threads in a sweep. Every cluster is computed by one thread from its children alone: the result does not
/// depend on the distribution.
struct SweepPlan {
  std::vector<std::vector<int>> subtrees;  ///< per thread: roots of whole subtrees
  std::vector<int> top;                    ///< clusters above them, children first
  struct Stage {
    int begin, end;  ///< in `top`
    bool shared;     ///< several threads, and a barrier after it
  };
  std::vector<Stage> stages;
};

/// The carriers of stretches of bodies, or of nodes of the level before. See scan.cc.
struct ScanLevel {
  std::vector<int> source{};     ///< per node: which body, or node of the level before, it is
  std::vector<int> parent{};     ///< its parent in this level; −1: the ground
  std::vector<int> carrier{};    ///< node of the next level that carries its stretch; −1: the ground
  std::vector<Transform<>> X{};  ///< pose in the carrier of its stretch; at the end in the world
  std::vector<Motion<>> V{};     ///< velocity relative to the same, in own axes
};

/// Six numbers, `stride` apart.
inline void store(const Force<>& F, double* out, int stride) {
  out[0] = F.t.x, out[stride] = F.t.y, out[2 * stride] = F.t.z;
  out[3 * stride] = F.f.x, out[4 * stride] = F.f.y, out[5 * stride] = F.f.z;
}

class Solver {
 public:
  Solver(const std::vector<Model>& figures, const Mechanism& mechanism, Clusters& clusters,
         const AssemblyOptions& options);

  /// After the structure has changed.
  void resize();
  void load(std::span<const FigureInput> inputs, std::vector<ClosureData>& closures);
  /// From the parts to the root; then back, for given forces of the open rows in `n`.
  void assemble();
  void disassemble();
  void write(AssemblyResult& out);
  Force<> closure_force(const ClosureData& closure, const Force<>* wrench) const;
  Unknowns& unknowns() { return x_; }
  const double* right_side() const { return h_.data(); }
  /// Levels and nodes of the scan of poses and velocities, in `out`.
  void describe_scan(Assembly::Shape& out) const;

 private:
  struct Figure {
    const Model* model;
    int first_body;
    Workspace work;
    std::vector<int> joint_of_body{};          ///< joint in the mechanism whose chain holds the body; −1: tip
    std::vector<int> fixed_links{};            ///< descending
    std::vector<std::vector<int>> links_on{};  ///< per link: its child links
    struct Passive {
      int u, q;
      double sign, stiffness, rest, damping;
    };
    std::vector<Passive> passive{};
    FigureInput input{};
    std::vector<int> link_begin{}, links_of{};  ///< per body: its links, in links_of
    std::vector<Force<>> wrenches{};
    Force<>* external =
        nullptr;  ///< wrenches on bodies, in their frames, or none; those of tips are also in their carriers'
    std::vector<Force<>> body_force{}, link_force{};  ///< of the result, see write_reactions
    // The scan of poses and velocities: bodies in stretches, see scan.cc.
    int stretch = 1;             ///< bodies in each
    std::vector<int> carrier{};  ///< per body: the carrier of its stretch, in levels[0]; −1: the ground
    std::vector<ScanLevel> levels{};
    int stretches() const { return (int(carrier.size()) + stretch - 1) / stretch; }
  };

  void add_figure(const Model& model);
  void set_stretches(Figure& figure) const;
  void load_figures();
  void load_stretch(Figure& figure, int n);
  void gather_level(Figure& figure, size_t level, int worker);
  void spread_level(Figure& figure, size_t level, int worker);
  void load_torques(Figure& figure, int worker);
  void load_external(Figure& figure, int worker);
  void load_springs(Figure& figure, int worker);
  void pass_on_tips(Figure& figure);
  void load_joint(int j);
  void load_part(int p);
  void load_gear(int g);
  void load_closure(ClosureData& closure);
  const Force<>* joint_columns(int j) const;
  /// Wrench on a part, in its frame, per unit force of each row of a bond
  void bond_wrenches(int bond, int part, Force<>* out) const;
  void put_columns(const Cluster& c, const IntList& bonds, int column) const;

  void up(int c, SweepScratch& scratch);
  void up_body(Cluster& c);
  void up_merge(Cluster& c);
  void close_rows(Cluster& c, SweepScratch& scratch);
  void free_mobility(const Cluster& c, double* out) const;
  void rake_up(Cluster& c, SweepScratch& scratch);
  void refine_up(int c);
  void down(int c, bool further, SweepScratch& scratch, Unknowns& x);
  Motion<> acceleration(int part) const;
  Motion<> joint_acceleration(int joint) const;
  double residuals(int first_bond, int last_bond);
  void sweep_up(int worker, bool further);
  void sweep_down(int worker, bool further, Unknowns& x);
  void subtree_up(int root, bool further, SweepScratch& scratch);
  void subtree_down(int root, bool further, SweepScratch& scratch, Unknowns& x);
  void share_out();
  bool worth_refining() const;
  /// The part of n things that is worker's: [first, last)
  std::pair<int, int> part_of(int worker, size_t n) const {
    const size_t w = size_t(worker), all = size_t(pool_->workers());
    return {int(n * w / all), int(n * (w + 1) / all)};
  }

  void find_poses();
  void find_poses(int worker);
  void find_gear_torques();
  void recover_joint(int j);
  bool recover_tips(int f);
  void write_vdot(int f, int worker, Eigen::VectorXd& vdot) const;
  void find_body_forces(int f, int worker);
  void write_reactions(int f, int worker, Reactions& out);
  void write_fixed_links(int f, Reactions& out);
  Force<> inertial_force(const Figure& figure, int link) const;
  Force<> joint_force(int j) const;

  const std::vector<Model>& models_;
  const Mechanism& mechanism_;
  Clusters& clusters_;
  const AssemblyOptions& options_;
  const kernel::AssemblyKernels& kernels_;
  std::vector<Figure> figures_;

  // over all bodies and tree coordinates of all figures
  std::vector<Transform<>> X_PB_, X_EB_, X_WB_;
  std::vector<Motion<>> V_;
  std::vector<std::vector<double>> u_, tau_, udot_, gear_;
  // over joints, parts, rows
  std::vector<JointData> joints_;
  std::vector<Force<>> compound_;  ///< six columns per joint that is not simple
  std::vector<int> compound_at_;
  std::vector<std::vector<int>> joints_on_;  ///< per part: joints that it carries
  std::vector<double> t_;
  std::vector<double> h_, compliance_, rho_;
  std::vector<ClosureData>* closures_ = nullptr;
  Unknowns x_, dx_;
  std::unique_ptr<SpinPool> pool_;
  SweepPlan plan_;
  std::vector<int> front_;             ///< scratch of share_out
  std::vector<SweepScratch> scratch_;  ///< per thread
  double residual_ = 0;
};

}  // namespace kansetsu
