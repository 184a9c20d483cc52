#include "sim/large.h"

#include <algorithm>

#include "kansetsu/dynamics/dynamics.h"
#include "sim/positions.h"

namespace kansetsu {

bool LargeIslandSolver::takes(const IslandWork& w, const RowCount& rows) const {
  if (rows.others <= threshold::kDenseRows || w.figures.size() < 2) return false;
  int connected = 0;
  for (const int i : w.connections) {
    if (world_.connections[size_t(i)].soft != 0) return false;  // springs need the matrix
    connected += world_.connections[size_t(i)].rows;
  }
  return rows.bilateral == connected && rows.bilateral < rows.others;  // held motions and couplings need the matrix
}

/// Velocities of all figures now, and at the end of the step without the forces of rows.
void LargeIslandSolver::predict(IslandWork& w, double h) {
  LargeIslandWork& large = w.large;
  large.offsets.assign(world_.figures.size(), -1);
  int size = 0;
  for (const int i : w.figures) {
    large.offsets[size_t(i)] = size;
    size += world_.figure(i).model.nv();
  }
  large.v_now.assign(size_t(size), 0);
  large.v_next.assign(size_t(size), 0);
  world_.for_each(int(w.figures.size()), [&](int n) {
    const int i = w.figures[size_t(n)];
    FigureData& f = world_.figure(i);
    const size_t at = size_t(large.offsets[size_t(i)]);
    f.mechanics.free_acceleration(f.vdot.data());
    f.add_turning(1);
    for (int k = 0; k < f.model.nv(); ++k) {
      large.v_now[at + size_t(k)] = f.v[k];
      large.v_next[at + size_t(k)] = f.v[k] + h * f.vdot[k];
    }
  });
}

/// Room for J and Y of every block, so that addresses do not change once blocks point to them.
void LargeIslandSolver::reserve_rows(IslandWork& w) {
  size_t numbers = 0;
  const auto add = [&](int figure, int rows) {
    if (figure >= 0) numbers += 2 * size_t(rows) * size_t(world_.figure(figure).model.nv());
  };
  for (const int i : w.touches) {
    const Touch& t = world_.contacts.touches()[size_t(i)];
    for (const int shape : {t.parent, t.real}) add(figure_of(shape), t.patch.row_count);
  }
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    for (const BodyRef& body : {c.a, c.b}) add(body.figure.value(), c.rows);
  }
  for (const BoundedOrigin& o : w.bounded_origin) {
    add(o.figure, 1);
    if (o.touch >= 0) add(figure_of(world_.contacts.touches()[size_t(o.touch)].parent), 1);
  }
  w.large.rows_memory.assign(numbers, 0.0);
  w.large.jobs.clear();
}

void LargeIslandSolver::add_block(IslandWork& w, SparsePatch& patch, RowJob job) {
  const int nv = world_.figure(job.figure).model.nv();
  double* next = w.large.rows_memory.data();
  if (!w.large.jobs.empty()) {
    const RowJob& last = w.large.jobs.back();
    next = last.Y + last.rows * world_.figure(last.figure).model.nv();
  }
  job.J = next, job.Y = next + job.rows * nv;
  patch.block[patch.block_count++] = {w.large.offsets[size_t(job.figure)], nv, job.J, job.Y};
  w.large.jobs.push_back(job);
}

/// @return rows
int LargeIslandSolver::list_connections(IslandWork& w, double h) {
  LargeIslandWork& large = w.large;
  large.blocks.clear(), large.bilateral.clear();
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    BilateralBlock& block = large.blocks.emplace_back();
    block.row = row, block.row_count = c.rows;
    row += c.rows;
    connection_forces(c, block.last_force.data());
    size_t next_row = 0;
    for_each_direction(c, [&](int k, int) { block.target[next_row++] = c.velocity[k] + 0.5 * h * c.acceleration[k]; });
    SparsePatch& patch = large.bilateral.emplace_back();
    const auto end = [&](const BodyRef& body, const RowEnd& at, double sign) {
      if (body.is_world() || at.body < 0) return;
      add_block(w, patch,
                {.figure = body.figure.value(),
                 .rows = c.rows,
                 .kind = RowJob::kConnection,
                 .index = i,
                 .sign = sign,
                 .body = at.body});
    };
    end(c.a, c.end_a, -1);
    end(c.b, c.end_b, 1);
  }
  return row;
}

/// @return the row after the last one
int LargeIslandSolver::list_bounded(IslandWork& w, int row) {
  w.large.bounded.clear();
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    SparsePatch& patch = w.large.bounded.emplace_back();
    w.bounded[i].row = row++;
    const BoundedOrigin& o = w.bounded_origin[i];
    RowJob job{.figure = o.figure, .rows = 1, .kind = RowJob::kBounded, .index = int(i)};
    if (o.touch >= 0) {
      const Touch& t = world_.contacts.touches()[size_t(o.touch)];
      if (const int parent = figure_of(t.parent); parent >= 0) {
        job.figure = parent, job.body = world_.contacts.shapes()[size_t(t.parent)].body, job.sign = -1;
        add_block(w, patch, job);
      }
      job.figure = o.figure, job.body = world_.contacts.shapes()[size_t(t.real)].body, job.sign = 1;
    }
    add_block(w, patch, job);
  }
  return row;
}

void LargeIslandSolver::list_contacts(IslandWork& w, int row) {
  w.patches.clear(), w.memories.clear(), w.large.contacts.clear();
  for (const int i : w.touches) {
    Touch& t = world_.contacts.touches()[size_t(i)];
    SparsePatch& patch = w.large.contacts.emplace_back();
    const auto end = [&](int shape, double sign) {
      if (figure_of(shape) < 0) return;
      add_block(w, patch,
                {.figure = figure_of(shape),
                 .rows = t.patch.row_count,
                 .kind = RowJob::kContact,
                 .index = i,
                 .sign = sign,
                 .body = world_.contacts.shapes()[size_t(shape)].body});
    };
    end(t.parent, -1);
    end(t.real, 1);
    t.patch.row = row;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
}

/// J and Y = M⁻¹·Jᵀ of all blocks, figure by figure: each has its own mechanics.
void LargeIslandSolver::write_blocks(IslandWork& w) {
  const int figures_here = int(w.figures.size());
  std::vector<int>& begin = w.large.job_begin;
  std::vector<int>& order = w.large.job_order;
  begin.assign(size_t(figures_here) + 1, 0);
  const auto place = [&](const RowJob& job) {
    return size_t(std::ranges::lower_bound(w.figures, job.figure) - w.figures.begin());
  };
  for (const RowJob& job : w.large.jobs) ++begin[place(job) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  order.resize(w.large.jobs.size());
  for (size_t k = w.large.jobs.size(); k-- > 0;) order[size_t(--begin[place(w.large.jobs[k]) + 1])] = int(k);
  world_.for_each(figures_here, [&](int i) {
    const int first = begin[size_t(i) + 1];
    const int end = i + 2 < int(begin.size()) ? begin[size_t(i) + 2] : int(order.size());
    for (int k = first; k < end; ++k) write_block(w, w.large.jobs[size_t(order[size_t(k)])]);
  });
}

void LargeIslandSolver::write_block(const IslandWork& w, const RowJob& job) {
  Mechanics& m = world_.figure(job.figure).mechanics;
  if (job.kind == RowJob::kConnection) {
    write_connection(world_.connections[size_t(job.index)], m, job.body, job.sign, job.J);
  } else if (job.kind == RowJob::kContact) {
    const Touch& t = world_.contacts.touches()[size_t(job.index)];
    m.write_frame(job.body, t.E, t.origin - m.origin(), job.sign, job.rows, job.J);
  } else if (const BoundedOrigin& o = w.bounded_origin[size_t(job.index)]; o.touch >= 0) {
    m.write_turn(job.body, job.sign * o.axis, job.J);
  } else {
    rows_.for_each_term(o, [&](int column, double coefficient) { job.J[column] += coefficient; });
  }
  std::copy(job.J, job.J + job.rows * m.nv(), job.Y);
  for (int r = 0; r < job.rows; ++r) m.solve(job.Y + r * m.nv());
}

/// Mass matrices, for islands of so few figures that the solver eliminates their blocks.
void LargeIslandSolver::find_masses(IslandWork& w) {
  w.large.masses.clear();
  if (w.figures.size() > threshold::kMostEliminated) return;
  w.large.masses.resize(w.figures.size());
  world_.for_each(int(w.figures.size()), [&](int n) {
    const int i = w.figures[size_t(n)];
    FigureData& f = world_.figure(i);
    if (f.mass_matrix.size() == 0) f.mass_matrix = Eigen::MatrixXd::Zero(f.model.nv(), f.model.nv());
    crba(f.model, f.q, f.work, f.mass_matrix);
    if (f.has_extra) f.mass_matrix.diagonal() += f.extra;
    w.large.masses[size_t(n)] = {w.large.offsets[size_t(i)], f.model.nv(), f.mass_matrix.data()};
  });
}

void LargeIslandSolver::solve(IslandWork& w, int others, double h) {
  LargeIslandWork& large = w.large;
  predict(w, h);
  reserve_rows(w);
  const int held = list_connections(w, h);
  list_contacts(w, list_bounded(w, held));
  write_blocks(w);
  find_masses(w);
  const SparseContactProblem problem{.patches = w.patches,
                                     .rows = large.contacts,
                                     .bounded = w.bounded,
                                     .bounded_rows = large.bounded,
                                     .bilateral = large.blocks,
                                     .bilateral_rows = large.bilateral,
                                     .rows_total = held + others,
                                     .v_now = large.v_now,
                                     .bodies = large.masses,
                                     .h = h,
                                     .gravity = norm(world_.options.gravity)};
  w.solver.solve_contact_large(problem, w.memories, large.v_next, w.result);
  take_result(w, h);
  large.way.resize(large.v_now.size());
  if (w.solver.solve_positions_large(problem, large.way)) {
    for (const int i : w.figures) {
      FigureData& f = world_.figure(i);
      f.shift = Eigen::Map<const Eigen::VectorXd>(large.way.data() + large.offsets[size_t(i)], f.model.nv());
    }
    bound_shifts(w);
  }
}

/// Accelerations, forces and their work.
void LargeIslandSolver::take_result(IslandWork& w, double h) {
  const LargeIslandWork& large = w.large;
  IslandAccount& account = w.account;
  account.residual = w.result.residual;
  for (const int i : w.figures) {
    FigureData& f = world_.figure(i);
    const size_t at = size_t(large.offsets[size_t(i)]);
    for (int k = 0; k < f.model.nv(); ++k) f.vdot[k] = (large.v_next[at + size_t(k)] - large.v_now[at + size_t(k)]) / h;
    f.add_turning(-1);
  }
  double work = 0;  // of the forces with the mean velocity of their rows
  for (size_t k = 0; k < large.contacts.size(); ++k) {
    for (int b = 0; b < large.contacts[k].block_count; ++b) {
      const BodyBlock& block = large.contacts[k].block[b];
      for (int r = 0; r < w.patches[k].row_count; ++r) {
        double u = 0;
        for (int c = 0; c < block.size; ++c) {
          u += block.J[r * block.size + c] * 0.5 *
               (large.v_now[size_t(block.offset + c)] + large.v_next[size_t(block.offset + c)]);
        }
        work += h * w.result.force[size_t(w.patches[k].row + r)] * u;
      }
    }
  }
  account.driven_work = 0;
  for (size_t k = 0; k < w.connections.size(); ++k) {
    ConnectionData& c = world_.connections[size_t(w.connections[k])];
    c.wrench = connection_wrench(c, w.result.force.data() + large.blocks[k].row);
    for (int r = 0; r < large.blocks[k].row_count; ++r)
      account.driven_work += h * w.result.force[size_t(large.blocks[k].row + r)] * large.blocks[k].target[size_t(r)];
    c.is_new = false;
  }
  account.work = {account.driven_work, work};
  reports_.write_forces(w, world_.contacts);
  account.surface_work = reports_.surface_work(w, world_.contacts, h);
  for (size_t k = 0; k < w.touches.size(); ++k) world_.contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  rows_.remember_bounds(w);
}

}  // namespace kansetsu
