#include "kansetsu/assembly/assembly.h"

#include <algorithm>

#include "assembly/solver.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

FigureMotion::FigureMotion(const Model& model) : vdot(Eigen::VectorXd::Zero(model.nv())), reactions(model) {}

AssemblyResult::AssemblyResult(const Assembly& assembly) {
  for (int f = 0; f < assembly.figure_count(); ++f) figures.emplace_back(assembly.figure(f));
}

namespace {

// A closure's id: its slot, and how often the slot was used before.
constexpr int kSlotBits = 20, kGenerations = 1 << 11;
int slot_of(ClosureId id) { return id.value() & ((1 << kSlotBits) - 1); }
int generation_of(ClosureId id) { return id.value() >> kSlotBits; }

}  // namespace

struct Assembly::Impl {
  std::vector<Model> figures;
  AssemblyOptions options;
  Mechanism mechanism;
  Clusters clusters{mechanism};
  std::optional<Solver> solver;
  std::vector<ClosureData> closures;
  std::vector<int> generation;
  std::vector<int> unused[7];  ///< slots by number of rows
  std::vector<int> open;       ///< slots, in the order in which they were opened
  bool assembled = false;

  Impl(std::vector<Model> models, const AssemblyOptions& given) : figures(std::move(models)), options(given) {
    if (options.threads < 1 || options.threads > 256)
      throw Error("Assembly: threads is " + std::to_string(options.threads) + ", must be 1 to 256");
    if (options.refinements < 0)
      throw Error("Assembly: refinements is " + std::to_string(options.refinements) + ", must not be negative");
    for (const Model& model : figures) {
      if (const auto problem = mechanism.add(model))
        throw Error("Assembly: model \"" + model.name() + "\": " + *problem);
    }
    clusters.build(options.order);
    solver.emplace(figures, mechanism, clusters, options);
  }

  ClosureData& find(const char* function, ClosureId id) {
    const int slot = slot_of(id);
    if (slot < 0 || slot >= int(closures.size()) || !closures[size_t(slot)].alive ||
        generation[size_t(slot)] != generation_of(id))
      throw Error(std::string(function) + ": closure " + std::to_string(slot) + " does not exist or has been cut");
    return closures[size_t(slot)];
  }

  void check(const char* function, std::span<const FigureInput> inputs) const {
    if (inputs.size() != figures.size())
      throw Error(std::string(function) + ": " + std::to_string(inputs.size()) + " inputs for " +
                  std::to_string(figures.size()) + " figures");
    for (size_t f = 0; f < figures.size(); ++f) {
      if (!inputs[f].state) throw Error(std::string(function) + ": figure " + std::to_string(f) + " has no state");
      check_size(function, "q", inputs[f].state->q.size(), figures[f].nq());
      check_size(function, "v", inputs[f].state->v.size(), figures[f].nv());
      if (inputs[f].tau) check_size(function, "tau", inputs[f].tau->size(), figures[f].nv());
    }
  }
  void check(const char* function, const AssemblyResult& out) const {
    check_size(function, "figures of the result", long(out.figures.size()), long(figures.size()));
    for (size_t f = 0; f < figures.size(); ++f)
      check_size(function, "the result", out.figures[f].vdot.size(), figures[f].nv());
  }

  void place(const ClosureAnchor& anchor, const char* side, int& figure, int& body, Transform<>& X) {
    if (anchor.figure < 0 || anchor.figure >= int(figures.size()))
      throw Error("connect: side " + std::string(side) + " names figure " + std::to_string(anchor.figure) + " of " +
                  std::to_string(figures.size()));
    figure = anchor.figure;
    body = -1;
    X = anchor.X_LJ;
    if (!anchor.link) return;
    const Tree& tree = figures[size_t(figure)].tree();
    const int l = anchor.link->value();
    if (l < 0 || l >= int(tree.links.size()))
      throw Error("connect: side " + std::string(side) + " names link " + std::to_string(l) + " of " +
                  std::to_string(tree.links.size()));
    body = tree.links[size_t(l)].body;
    X = tree.links[size_t(l)].X_BL * anchor.X_LJ;
    if (body >= 0 && mechanism.part_of_body[size_t(figure)][size_t(body)] < 0)
      throw Error("connect: link \"" + figures[size_t(figure)].link(*anchor.link).name + "\" has no mass");
  }

  int take_slot(int rows) {
    std::vector<int>& free = unused[rows];
    if (!free.empty()) {
      const int slot = free.back();
      free.pop_back();
      return slot;
    }
    const int slot = int(closures.size());
    closures.emplace_back();
    generation.push_back(0);
    closures.back().bond = mechanism.add_bond(BondKind::kClosure, slot, rows);
    mechanism.ends.resize(mechanism.ends.size() + 2);
    return slot;
  }

  ClosureId connect(const Closure& closure, ClosureRole role) {
    ClosureData data;
    place(closure.a, "a", data.figure_a, data.body_a, data.X_aJ);
    place(closure.b, "b", data.figure_b, data.body_b, data.X_bJ);
    int rows = 0;
    for (int k = 0; k < 6; ++k) {
      if (closure.rows >> k & 1) data.row[rows++] = k;
    }
    if (rows == 0) throw Error("connect: the mask of rows is empty");
    if (data.body_a < 0 && data.body_b < 0) throw Error("connect: both sides are fixed to the world");
    const int slot = take_slot(rows);
    data.closure = closure;
    data.bond = closures[size_t(slot)].bond;
    data.alive = true;
    closures[size_t(slot)] = data;
    Bond& bond = mechanism.bonds[size_t(data.bond)];
    bond.alive = true;
    bond.end_count = 0;
    bond.grounded = data.body_a < 0 || data.body_b < 0;
    const auto add_end = [&](int figure, int body) {
      if (body < 0) return;
      const int part = mechanism.part_of_body[size_t(figure)][size_t(body)];
      BondEnd* ends = mechanism.ends.data() + bond.ends;
      if (bond.end_count == 0 || ends[0].part != part) ends[bond.end_count++] = {part, 0};
    };
    add_end(data.figure_b, data.body_b);
    add_end(data.figure_a, data.body_a);
    clusters.set_open(data.bond, role == ClosureRole::kOpen);
    if (role == ClosureRole::kOpen) open.push_back(slot);
    clusters.connect(data.bond);
    after_edit();
    return ClosureId(slot + (generation[size_t(slot)] << kSlotBits));
  }

  void cut(ClosureId id) {
    ClosureData& data = find("cut", id);
    const int slot = slot_of(id);
    clusters.cut(data.bond);
    mechanism.bonds[size_t(data.bond)].alive = false;
    clusters.set_open(data.bond, false);
    std::erase(open, slot);
    data.alive = false;
    generation[size_t(slot)] = (generation[size_t(slot)] + 1) % kGenerations;
    std::vector<int>& free = unused[mechanism.bonds[size_t(data.bond)].rows];
    if (free.size() == free.capacity()) free.reserve(2 * free.size() + 16);
    free.push_back(slot);
    after_edit();
  }

  void after_edit() {
    assembled = false;
    if (clusters.degraded()) clusters.build(options.order);
    solver->resize();
  }

  void assemble(std::span<const FigureInput> inputs) {
    solver->load(inputs, closures);
    solver->assemble();
    assembled = true;
  }

  /// First column of an open bond in what is left at the root.
  int root_column(int bond) const {
    const Cluster& root = clusters[clusters.root()];
    int column = 0;
    for (int b : root.kept) {
      if (b == bond) return column;
      column += mechanism.bonds[size_t(b)].rows;
    }
    return column;
  }
  const Bond& bond_of(int slot) const { return mechanism.bonds[size_t(closures[size_t(slot)].bond)]; }
  int rows_of(int slot) const { return bond_of(slot).rows; }
  int open_rows() const {
    int rows = 0;
    for (int slot : open) rows += rows_of(slot);
    return rows;
  }
  void check_assembled(const char* function) const {
    if (!assembled) throw Error(std::string(function) + ": assemble() has not been called since the last edit");
  }
};

Assembly::Assembly(std::vector<Model> figures, const AssemblyOptions& options)
    : impl_(std::make_unique<Impl>(std::move(figures), options)) {}
Assembly::Assembly(const Model& figure, const AssemblyOptions& options)
    : Assembly(std::vector<Model>{figure}, options) {}

std::optional<std::string> Assembly::unsupported(const Model& model) { return Mechanism{}.add(model); }

int Assembly::figure_count() const { return int(impl_->figures.size()); }
const Model& Assembly::figure(int index) const { return impl_->figures[size_t(index)]; }
ClosureId Assembly::connect(const Closure& closure, ClosureRole role) { return impl_->connect(closure, role); }
void Assembly::cut(ClosureId id) { impl_->cut(id); }
void Assembly::set_bias(ClosureId id, const Motion<>& bias) { impl_->find("set_bias", id).bias = bias; }
void Assembly::rebuild() {
  impl_->clusters.build(impl_->options.order);
  impl_->solver->resize();
  impl_->assembled = false;
}

void Assembly::solve(std::span<const FigureInput> inputs, AssemblyResult& out) {
  impl_->check("solve", inputs);
  impl_->check("solve", out);
  impl_->assemble(inputs);
  for (int slot : impl_->open) {
    const Bond& bond = impl_->bond_of(slot);
    std::fill_n(impl_->solver->unknowns().n.begin() + bond.first, bond.rows, 0.0);
  }
  impl_->solver->disassemble();
  impl_->solver->write(out);
}

void Assembly::solve(const State& state, const Eigen::VectorXd& tau, AssemblyResult& out,
                     const ExternalForces* external) {
  const FigureInput input{&state, &tau, external};
  solve({&input, 1}, out);
}

Force<> Assembly::wrench_on_b(ClosureId id) const {
  const ClosureData& c = impl_->find("wrench_on_b", id);
  const Force<> F = impl_->solver->closure_force(c, c.wrench_b);
  if (!c.closure.b.link) return F;
  return inverse_times(impl_->figures[size_t(c.figure_b)].tree().links[size_t(c.closure.b.link->value())].X_BL, F);
}

void Assembly::assemble(std::span<const FigureInput> inputs) {
  impl_->check("assemble", inputs);
  impl_->assemble(inputs);
}

int Assembly::open_rows() const { return impl_->open_rows(); }

int Assembly::open_row(ClosureId id) const {
  impl_->find("open_row", id);
  int row = 0;
  for (int slot : impl_->open) {
    if (slot == slot_of(id)) return row;
    row += impl_->rows_of(slot);
  }
  throw Error("open_row: closure " + std::to_string(slot_of(id)) + " is not open");
}

void Assembly::free_acceleration(Eigen::Ref<Eigen::VectorXd> out) const {
  impl_->check_assembled("free_acceleration");
  check_size("free_acceleration", "the result", out.size(), open_rows());
  const Cluster& root = impl_->clusters[impl_->clusters.root()];
  long row = 0;
  for (int slot : impl_->open) {
    const Bond& bond = impl_->bond_of(slot);
    const int from = impl_->root_column(impl_->closures[size_t(slot)].bond);
    for (int k = 0; k < bond.rows; ++k) {
      out[row++] = -root.out.row(from + k)[root.kept_rows] - impl_->solver->right_side()[bond.first + k];
    }
  }
}

void Assembly::delassus(Eigen::Ref<Eigen::MatrixXd> out) const {
  impl_->check_assembled("delassus");
  check_size("delassus", "rows of the result", out.rows(), open_rows());
  check_size("delassus", "columns of the result", out.cols(), open_rows());
  const Cluster& root = impl_->clusters[impl_->clusters.root()];
  long row = 0;
  for (int a : impl_->open) {
    const int from = impl_->root_column(impl_->closures[size_t(a)].bond);
    for (int k = 0; k < impl_->rows_of(a); ++k, ++row) {
      long column = 0;
      for (int b : impl_->open) {
        const int at = impl_->root_column(impl_->closures[size_t(b)].bond);
        for (int c = 0; c < impl_->rows_of(b); ++c) out(row, column++) = root.out.row(from + k)[at + c];
      }
    }
  }
}

void Assembly::apply(const VectorRef& forces, AssemblyResult& out) {
  impl_->check_assembled("apply");
  impl_->check("apply", out);
  check_size("apply", "forces", forces.size(), open_rows());
  long row = 0;
  for (int slot : impl_->open) {
    const Bond& bond = impl_->bond_of(slot);
    for (int k = 0; k < bond.rows; ++k) impl_->solver->unknowns().n[size_t(bond.first + k)] = forces[row++];
  }
  impl_->solver->disassemble();
  impl_->solver->write(out);
}

Assembly::Shape Assembly::shape() const {
  Shape out = impl_->clusters.shape();
  impl_->solver->describe_scan(out);
  return out;
}
int Assembly::last_edit() const { return impl_->clusters.touched(); }

}  // namespace kansetsu
