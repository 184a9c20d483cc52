#include <algorithm>

#include "sim/impl.h"

/// Islands of many contacts: heaps of bodies. No matrix over all rows; the solver sweeps over the patches, each with its rows
/// on the velocities of the one or two figures it touches.
namespace kansetsu {

bool World::Impl::is_large(const IslandWork& w, int bilateral, int others) const {
  constexpr int kDenseRows = 120;  // beyond, sweeps are faster than factorising
  return bilateral == 0 && others > kDenseRows && w.figures.size() > 1;
}

void World::Impl::solve_large(IslandWork& w, int others) {
  const double h = step_length;
  w.offsets.assign(figures.size(), -1);
  int size = 0;
  for (const int i : w.figures) {
    w.offsets[size_t(i)] = size;
    size += figures[size_t(i)]->model.nv();
  }
  w.v_now.assign(size_t(size), 0);
  w.v_next.assign(size_t(size), 0);
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    const size_t at = size_t(w.offsets[size_t(i)]);
    f.mechanics.free_acceleration(f.vdot.data());
    f.add_turning(1);
    for (int k = 0; k < f.model.nv(); ++k) {
      w.v_now[at + size_t(k)] = f.v[k];
      w.v_next[at + size_t(k)] = f.v[k] + h * f.vdot[k];
    }
  }

  // Room for J and Y of every block; addresses must not change once they are handed out.
  const auto figure_of = [&](int shape) { return contacts.shapes()[size_t(shape)].figure; };
  size_t numbers = 0;
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    for (const int f : {figure_of(t.parent), figure_of(t.real)}) {
      if (f >= 0) numbers += 2 * size_t(t.patch.row_count) * size_t(figures[size_t(f)]->model.nv());
    }
  }
  for (const IslandWork::BoundedOrigin& o : w.bounded_origin)
    numbers += 2 * size_t(figures[size_t(o.figure)]->model.nv());
  w.rows_memory.assign(numbers, 0.0);
  double* next = w.rows_memory.data();
  const auto add_block = [&](SparsePatch& patch, int figure, int rows, auto&& fill) {
    Mechanics& m = figures[size_t(figure)]->mechanics;
    double *J = next, *Y = next + rows * m.nv();
    next = Y + rows * m.nv();
    fill(m, J);
    std::copy(J, J + rows * m.nv(), Y);
    for (int r = 0; r < rows; ++r) m.solve(Y + r * m.nv());
    patch.block[patch.block_count++] = {w.offsets[size_t(figure)], m.nv(), J, Y};
  };

  int row = 0;
  w.sparse_bounded.clear();
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    SparsePatch& patch = w.sparse_bounded.emplace_back();
    w.bounded[i].row = row++;
    add_block(patch, w.bounded_origin[i].figure, 1, [&](Mechanics&, double* J) {
      for_each_term(w.bounded_origin[i], [&](int column, double coefficient) { J[column] += coefficient; });
    });
  }
  w.patches.clear(), w.memories.clear(), w.sparse.clear();
  for (const int i : w.touches) {
    Touch& t = contacts.touches()[size_t(i)];
    SparsePatch& patch = w.sparse.emplace_back();
    const auto end = [&](int shape, double sign) {
      if (figure_of(shape) < 0) return;
      add_block(patch, figure_of(shape), t.patch.row_count, [&](Mechanics& m, double* J) {
        m.write_frame(contacts.shapes()[size_t(shape)].body, t.E, t.origin - m.origin(), sign, t.patch.row_count, J);
      });
    };
    end(t.parent, -1);
    end(t.real, 1);
    t.patch.row = row;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
  SparseContactProblem problem;
  problem.patches = w.patches;
  problem.rows = w.sparse;
  problem.bounded = w.bounded;
  problem.bounded_rows = w.sparse_bounded;
  problem.rows_total = others;
  problem.v_now = w.v_now;
  problem.h = h;
  problem.gravity = norm(options.gravity);
  w.solver.solve_contact_large(problem, w.memories, w.v_next, w.result);
  w.residual = w.result.residual;
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    const size_t at = size_t(w.offsets[size_t(i)]);
    for (int k = 0; k < f.model.nv(); ++k) f.vdot[k] = (w.v_next[at + size_t(k)] - w.v_now[at + size_t(k)]) / h;
    f.add_turning(-1);
  }
  double work = 0;  // of the forces with the mean velocity of their rows
  for (size_t k = 0; k < w.sparse.size(); ++k) {
    for (int b = 0; b < w.sparse[k].block_count; ++b) {
      const BodyBlock& block = w.sparse[k].block[b];
      for (int r = 0; r < w.patches[k].row_count; ++r) {
        double u = 0;
        for (int c = 0; c < block.size; ++c) {
          u += block.J[r * block.size + c] * 0.5 *
               (w.v_now[size_t(block.offset + c)] + w.v_next[size_t(block.offset + c)]);
        }
        work += h * w.result.force[size_t(w.patches[k].row + r)] * u;
      }
    }
  }
  w.work = {0, work};
  report_contacts(w, false);
  for (size_t k = 0; k < w.touches.size(); ++k) contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  remember_bounds(w);
}

}  // namespace kansetsu
