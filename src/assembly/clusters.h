#pragma once

#include "assembly/front_kernel.h"
#include "assembly/mechanism.h"
#include "assembly/pool.h"
#include "kansetsu/assembly/assembly.h"

/// The order in which parts are joined: a tree of clusters, made by rake and compress (docs/theory/assembly.md) and changed
/// locally by edits. Every bond is closed in the lowest cluster that contains all its ends.
namespace kansetsu {

enum class ClusterKind {
  kBody,   ///< a part; its children are raked into it
  kMerge,  ///< two clusters
  kSum,    ///< adds up the shares of raked clusters for their hub
  kRoot,   ///< the remaining clusters
};

struct Cluster {
  ClusterKind kind = ClusterKind::kBody;
  int parent = -1, first_child = -1, next_sibling = -1;
  int part = -1;       ///< of a body
  bool raked = false;  ///< it has one bond left, to the part of its hub, on which it acts as inertia
  int rake_bond = -1;
  int hub = -1;          ///< part it is (or, while promoted, was) raked into
  int home = -1;         ///< its parent before it was promoted
  int promoted = -1;     ///< of a merge that replaces a rake: the child that was raked
  int ground = 0;        ///< grounded bonds closed inside
  IntList kept, closed;  ///< bonds, ascending
  IntList rows, place;   ///< per kept bond: its rows, and its first column in the parent's front
  int kept_rows = 0, closed_rows = 0;
  bool by_rank = false;  ///< closes a loop: rows may be redundant
  int level = 0;
  double cost = 0, subtree_cost = 0;

  double* block = nullptr;
  int size_class = -1;
  // views into the block
  PivotRows pivot;
  KeptRows out;
  PivotRows rake;           ///< rows of the rake bond over the six accelerations of the hub
  KeptRows share;           ///< added to the hub's inertia and force: six rows of [Ia, ta]
  double* H = nullptr;      ///< of a body: wrench columns, 6 × pivot.ld
  double* C_inv = nullptr;  ///< of a body that others are raked into
  int* rank_order = nullptr;
  // further right side, of a refinement: see Sweep
  double *z2 = nullptr, *r2 = nullptr, *rake_z2 = nullptr, *share2 = nullptr, *y2 = nullptr;
};

class Clusters {
 public:
  static constexpr int kSumWidth = 8;  ///< raked clusters that one cluster adds up

  explicit Clusters(const Mechanism& mechanism) : mechanism_(mechanism) {}

  /// @param branch  whole branches of at most this many parts are raked first, part by part
  void build(AssemblyOrder order, int branch = 0);
  /// A bond has been added, or will be removed.
  void connect(int bond);
  void cut(int bond);

  const std::vector<Cluster>& all() const { return clusters_; }
  Cluster& operator[](int i) { return clusters_[size_t(i)]; }
  const Cluster& operator[](int i) const { return clusters_[size_t(i)]; }
  int root() const { return root_; }
  /// Calls each(c) for a cluster and all below it, children before parents. Without recursion: the tree may be deep.
  template <class Each>
  void for_subtree(int top, const Each& each) const {
    const auto deepest = [&](int c) {
      while ((*this)[c].first_child >= 0) c = (*this)[c].first_child;
      return c;
    };
    for (int c = deepest(top);;) {
      each(c);
      if (c == top) return;
      const int next = (*this)[c].next_sibling;
      c = next >= 0 ? deepest(next) : (*this)[c].parent;
    }
  }
  int body(int part) const { return part; }  ///< the first clusters are the bodies
  bool is_open(int bond) const { return open_[size_t(bond)] != 0; }
  void set_open(int bond, bool open);
  int touched() const { return int(touched_.size()); }
  bool degraded() const;
  Assembly::Shape shape() const;
  int most_rows() const { return most_rows_; }  ///< that a cluster has ever had

 private:
  int add(ClusterKind kind);
  void remove(int c);
  void link(int child, int parent);
  void unlink(int child);
  void replace(int old_child, int new_child);
  int part_count() const { return int(mechanism_.parts.size()); }
  const Bond& bond(int b) const { return mechanism_.bonds[size_t(b)]; }
  const BondEnd* ends(int b) const { return mechanism_.ends.data() + bond(b).ends; }

  // contraction
  void start();
  void rake_branches(int most);
  int rake_leaves();
  int compress(int most_open);
  int merge_cheapest();
  void merge(int a, int b);
  void finish();
  void build_serial();
  void rake(int x, int hub);
  void spread_rakes(int body);
  int other_cluster(int b, int cluster) const;
  int hub_of(int x) const;
  int top_of(int part) const;
  int open_after(int a, int b) const;

  // edits
  int hub_body(int c) const;
  void promote(int x);
  bool demote(int m);
  int lowest_common(int bond) const;
  void join_components(int bond);
  void update_paths(int bond);

  void plan(int c);
  void place_children(int c);
  void measure(int c);

  const Mechanism& mechanism_;
  NumberPool numbers_;
  std::vector<Cluster> clusters_;
  std::vector<int> unused_;
  std::vector<char> open_;
  int root_ = -1;
  double built_cost_ = 0;
  int built_levels_ = 0, most_rows_ = 0;
  mutable std::vector<int> stamp_;
  mutable int stamp_now_ = 0;
  std::vector<int> touched_;
  // while contracting
  std::vector<int> active_, cluster_of_, held_, round_;
  std::vector<std::pair<int, int>> candidates_;
  int round_now_ = 0;
};

}  // namespace kansetsu
