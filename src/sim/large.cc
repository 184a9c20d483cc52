#include <algorithm>

#include "sim/impl.h"

/// Islands of many contacts: heaps of bodies. No matrix over all rows; the solver sweeps over the patches, each with its rows
/// on the velocities of the one or two figures it touches.
namespace kansetsu {

bool World::Impl::is_large(const IslandWork& w, const RowCount& rows) const {
  if (rows.others <= threshold::kDenseRows || w.figures.size() < 2) return false;
  int connected = 0;
  for (const int i : w.connections) {
    if (connections[size_t(i)].soft != 0) return false;  // springs go by the matrix
    connected += connections[size_t(i)].rows;
  }
  return rows.bilateral == connected && rows.bilateral < rows.others;  // held motions and couplings go by the matrix
}

/// J and Y = M⁻¹·Jᵀ of all blocks, figure by figure: each has its own mechanics.
void World::Impl::write_blocks(IslandWork& w) {
  const int figures_here = int(w.figures.size());
  w.job_begin.assign(size_t(figures_here) + 1, 0);
  const auto place = [&](const IslandWork::RowJob& job) {
    return size_t(std::ranges::lower_bound(w.figures, job.figure) - w.figures.begin());
  };
  for (const IslandWork::RowJob& job : w.row_jobs) ++w.job_begin[place(job) + 1];
  for (size_t i = 1; i < w.job_begin.size(); ++i) w.job_begin[i] += w.job_begin[i - 1];
  w.job_order.resize(w.row_jobs.size());
  for (size_t k = w.row_jobs.size(); k-- > 0;) w.job_order[size_t(--w.job_begin[place(w.row_jobs[k]) + 1])] = int(k);
  for_each(figures_here, [&](int i) {
    const int begin = w.job_begin[size_t(i) + 1];
    const int end = i + 2 < int(w.job_begin.size()) ? w.job_begin[size_t(i) + 2] : int(w.job_order.size());
    for (int k = begin; k < end; ++k) write_block(w, w.row_jobs[size_t(w.job_order[size_t(k)])]);
  });
}

void World::Impl::write_block(const IslandWork& w, const IslandWork::RowJob& job) {
  using Job = IslandWork::RowJob;
  Mechanics& m = figures[size_t(job.figure)]->mechanics;
  if (job.kind == Job::kConnection) {
    write_connection(connections[size_t(job.index)], m, job.body, job.sign, job.J);
  } else if (job.kind == Job::kContact) {
    const Touch& t = contacts.touches()[size_t(job.index)];
    m.write_frame(job.body, t.E, t.origin - m.origin(), job.sign, job.rows, job.J);
  } else if (const IslandWork::BoundedOrigin& o = w.bounded_origin[size_t(job.index)]; o.touch >= 0) {
    m.write_turn(job.body, job.sign * o.axis, job.J);
  } else {
    for_each_term(o, [&](int column, double coefficient) { job.J[column] += coefficient; });
  }
  std::copy(job.J, job.J + job.rows * m.nv(), job.Y);
  for (int r = 0; r < job.rows; ++r) m.solve(job.Y + r * m.nv());
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
  for_each(int(w.figures.size()), [&](int n) {
    const int i = w.figures[size_t(n)];
    FigureData& f = *figures[size_t(i)];
    const size_t at = size_t(w.offsets[size_t(i)]);
    f.mechanics.free_acceleration(f.vdot.data());
    f.add_turning(1);
    for (int k = 0; k < f.model.nv(); ++k) {
      w.v_now[at + size_t(k)] = f.v[k];
      w.v_next[at + size_t(k)] = f.v[k] + h * f.vdot[k];
    }
  });

  // Room for J and Y of every block; addresses must not change once they are handed out.
  const auto figure_of = [&](int shape) { return contacts.shapes()[size_t(shape)].figure; };
  size_t numbers = 0;
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    for (const int f : {figure_of(t.parent), figure_of(t.real)}) {
      if (f >= 0) numbers += 2 * size_t(t.patch.row_count) * size_t(figures[size_t(f)]->model.nv());
    }
  }
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    for (const BodyRef& body : {c.a, c.b}) {
      if (!body.is_world()) numbers += 2 * size_t(c.rows) * size_t(figures[size_t(body.figure.value())]->model.nv());
    }
  }
  for (const IslandWork::BoundedOrigin& o : w.bounded_origin) {
    numbers += 2 * size_t(figures[size_t(o.figure)]->model.nv());
    const int parent = o.touch < 0 ? -1 : figure_of(contacts.touches()[size_t(o.touch)].parent);
    if (parent >= 0) numbers += 2 * size_t(figures[size_t(parent)]->model.nv());
  }
  w.rows_memory.assign(numbers, 0.0);
  double* next = w.rows_memory.data();
  using Job = IslandWork::RowJob;
  w.row_jobs.clear();
  const auto add_block = [&](SparsePatch& patch, Job job) {
    const int nv = figures[size_t(job.figure)]->model.nv();
    job.J = next, job.Y = next + job.rows * nv;
    next = job.Y + job.rows * nv;
    patch.block[patch.block_count++] = {w.offsets[size_t(job.figure)], nv, job.J, job.Y};
    w.row_jobs.push_back(job);
  };

  w.blocks.clear(), w.sparse_bilateral.clear();
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    BilateralBlock& block = w.blocks.emplace_back();
    block.row = row, block.row_count = c.rows;
    row += c.rows;
    connection_forces(c, block.last_force.data());
    size_t next_row = 0;
    for (int k = 0; k < 6; ++k) {
      if (row_mask(c.mask()) >> k & 1) block.target[next_row++] = c.velocity[k] + 0.5 * h * c.acceleration[k];
    }
    SparsePatch& patch = w.sparse_bilateral.emplace_back();
    const auto end = [&](const BodyRef& body, const RowEnd& at, double sign) {
      if (body.is_world() || at.body < 0) return;
      add_block(patch, {.figure = body.figure.value(),
                        .rows = c.rows,
                        .kind = Job::kConnection,
                        .index = i,
                        .sign = sign,
                        .body = at.body});
    };
    end(c.a, c.end_a, -1);
    end(c.b, c.end_b, 1);
  }
  const int held = row;
  w.sparse_bounded.clear();
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    SparsePatch& patch = w.sparse_bounded.emplace_back();
    w.bounded[i].row = row++;
    const IslandWork::BoundedOrigin& o = w.bounded_origin[i];
    Job job{.figure = o.figure, .rows = 1, .kind = Job::kBounded, .index = int(i)};
    if (o.touch >= 0) {
      const Touch& t = contacts.touches()[size_t(o.touch)];
      if (const int parent = figure_of(t.parent); parent >= 0) {
        job.figure = parent, job.body = contacts.shapes()[size_t(t.parent)].body, job.sign = -1;
        add_block(patch, job);
      }
      job.figure = o.figure, job.body = contacts.shapes()[size_t(t.real)].body, job.sign = 1;
    }
    add_block(patch, job);
  }
  w.patches.clear(), w.memories.clear(), w.sparse.clear();
  for (const int i : w.touches) {
    Touch& t = contacts.touches()[size_t(i)];
    SparsePatch& patch = w.sparse.emplace_back();
    const auto end = [&](int shape, double sign) {
      if (figure_of(shape) < 0) return;
      add_block(patch, {.figure = figure_of(shape),
                        .rows = t.patch.row_count,
                        .kind = Job::kContact,
                        .index = i,
                        .sign = sign,
                        .body = contacts.shapes()[size_t(shape)].body});
    };
    end(t.parent, -1);
    end(t.real, 1);
    t.patch.row = row;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
  write_blocks(w);
  w.masses.clear();
  if (w.figures.size() <= threshold::kMostEliminated) {
    w.masses.resize(w.figures.size());
    for_each(int(w.figures.size()), [&](int n) {
      const int i = w.figures[size_t(n)];
      FigureData& f = *figures[size_t(i)];
      if (f.mass_matrix.size() == 0) f.mass_matrix = Eigen::MatrixXd::Zero(f.model.nv(), f.model.nv());
      crba(f.model, f.q, f.work, f.mass_matrix);
      if (f.has_extra) f.mass_matrix.diagonal() += f.extra;
      w.masses[size_t(n)] = {w.offsets[size_t(i)], f.model.nv(), f.mass_matrix.data()};
    });
  }
  SparseContactProblem problem;
  problem.bodies = w.masses;
  problem.patches = w.patches;
  problem.rows = w.sparse;
  problem.bounded = w.bounded;
  problem.bounded_rows = w.sparse_bounded;
  problem.bilateral = w.blocks;
  problem.bilateral_rows = w.sparse_bilateral;
  problem.rows_total = held + others;
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
  w.driven_work = 0;
  for (size_t k = 0; k < w.connections.size(); ++k) {
    ConnectionData& c = connections[size_t(w.connections[k])];
    c.wrench = connection_wrench(c, w.result.force.data() + w.blocks[k].row);
    for (int r = 0; r < w.blocks[k].row_count; ++r)
      w.driven_work += h * w.result.force[size_t(w.blocks[k].row + r)] * w.blocks[k].target[size_t(r)];
    c.is_new = false;
  }
  w.way.resize(w.v_now.size());
  if (w.solver.solve_positions_large(problem, w.way)) {
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.shift = Eigen::Map<const Eigen::VectorXd>(w.way.data() + w.offsets[size_t(i)], f.model.nv());
    }
    bound_shifts(w);
  }
  report_contacts(w, false);
  w.given = surface_work(w);
  w.work.bilateral = w.driven_work;
  for (size_t k = 0; k < w.touches.size(); ++k) contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  remember_bounds(w);
}

}  // namespace kansetsu
