#include "sim/rows.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {
namespace {

bool is_held_motion(const Controller& c) { return c.state.active && c.description.kind == ControlKind::kMotion; }

/// Where the rows of a contact begin, `row` or later. Of few contacts none goes across a block of eight, so that those of two
/// limbs meet only where the limbs do; the rows between them are zero.
int first_row(const IslandWork& w, int row, int count) {
  const int left = kernel::kRowBlock - row % kernel::kRowBlock;
  return w.touches.size() <= threshold::kFewContacts && count > left ? row + left : row;
}

}  // namespace

int RowBuilder::count_held(const IslandWork& w) const {
  int rows = 0;
  for (const Controller& c : world_.controllers) {
    if (is_held_motion(c) && w.holds(c.figure)) rows += int(c.drives.size());
  }
  return rows;
}

int RowBuilder::count_bilateral(const IslandWork& w) const {
  int rows = count_held(w);
  for (const int i : w.connections) rows += world_.connections[size_t(i)].rows;
  for (const CouplingData& c : world_.couplings) rows += w.holds(c.figure);
  return rows;
}

RowCount RowBuilder::count(IslandWork& w, double h, double ahead) const {
  RowCount out{.bilateral = count_bilateral(w)};
  w.bounded.clear(), w.bounded_origin.clear();
  for (const int i : w.figures) add_bounded(w, i, h, ahead);
  add_rolling(w);
  int row = out.bilateral + int(w.bounded.size());
  bool join = false;
  for (const int i : w.touches) {
    const Touch& t = world_.contacts.touches()[size_t(i)];
    const int count = t.patch.row_count;
    row = first_row(w, row, count) + count;
    join = join || (t.parent_end->figure && t.real_end->figure);
  }
  out.others = row - out.bilateral;
  out.alone = join ? 0 : out.others;
  return out;
}

void RowBuilder::fill_bilateral(IslandWork& w, Springs soft, double h) const {
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    add_connection_rows(c, row, w.island);
    int next = row;
    for_each_direction(c, [&](int k, int bit) {
      if (c.soft >> bit & 1) w.island.set_firmness(next, soft == Springs::kAct ? give_of(c, k, 0, h).firmness : 0);
      ++next;
    });
    row = next;
  }
  for (const Controller& c : world_.controllers) {
    if (!is_held_motion(c) || !w.holds(c.figure)) continue;
    FigureData& f = world_.figure(c.figure);
    for (const int drive : c.drives) {
      for (const auto& [column, ratio] : f.drives[size_t(drive)].terms) {
        w.island.add_dof(row, f.mechanics, column, ratio, f.v[column]);
      }
      ++row;
    }
  }
  for (const CouplingData& c : world_.couplings) {
    if (!w.holds(c.figure)) continue;
    FigureData& f = world_.figure(c.figure);
    const CouplingData::Value value = c.value(f);
    const auto add = [&](int drive, double scale) {
      c.for_each_term(f, drive, [&](int column, double ratio) {
        w.island.add_dof(row, f.mechanics, column, scale * ratio, f.v[column]);
      });
    };
    add(c.dependent, 1);
    if (c.driver >= 0) {
      add(c.driver, -value.slope);
      const double rate = c.velocity(f, c.driver);
      w.island.a()[row] -= value.curvature * rate * rate;
    }
    ++row;
  }
}

void RowBuilder::fill(IslandWork& w, Springs soft, double h) const {
  fill_bilateral(w, soft, h);
  const int first = w.island.bilateral();
  int row = first;
  for (size_t i = 0; i < w.bounded.size(); ++i, ++row) {
    const BoundedOrigin& origin = w.bounded_origin[i];
    w.bounded[i].row = row - first;
    if (origin.touch >= 0) {
      const Touch& t = world_.contacts.touches()[size_t(origin.touch)];
      w.island.add_turn(row, *t.parent_end, *t.real_end, origin.axis);
      continue;
    }
    FigureData& f = world_.figure(origin.figure);
    for_each_term(w.bounded_origin[i], [&](int column, double coefficient) {
      w.island.add_dof(row, f.mechanics, column, coefficient, f.v[column]);
    });
  }
  w.patches.clear();
  w.memories.clear();
  for (const int i : w.touches) {
    Touch& t = world_.contacts.touches()[size_t(i)];
    const unsigned mask = t.patch.row_count == 6 ? 0b111111 : 0b111;
    row = first_row(w, row, t.patch.row_count);
    w.island.add_frame(row, mask, *t.parent_end, *t.real_end, t.E, t.origin, Rate::kPlace);
    t.patch.row = row - first;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
}

/// An impact leaves bilateral rows at their prescribed velocity, or new ones at that of their rebound: with any other target the
/// impulses would do work. So does the end of a step: gaps are closed by positions alone, large ones by a share in each step, see
/// GapCloser. Between the stages of a smooth step the prescribed acceleration counts.
void RowBuilder::set_targets(IslandWork& w, Target kind, const StepPart& part) const {
  const double h = part.h;
  using namespace threshold;
  double* target = w.island.target();
  const bool step = kind == Target::kStep || kind == Target::kStepAcross;
  if (step) w.leave.assign(size_t(w.island.bilateral()), 0.0), w.driven.assign(size_t(w.island.bilateral()), 0.0);
  const double* u = w.island.u();
  const double rest = world_.options.contact.rest_speed(norm(world_.options.gravity), h);
  int row = 0;
  /// @param now, next  prescribed velocity at the beginning and the end of the step
  /// @param projected  its gap is closed by positions; else by the velocity of the step
  const auto put = [&](double gap, double now, double next, double acceleration, bool jumps, double restitution,
                       bool projected) {
    const double closing = std::clamp(-kClosingShare / h * gap, -kClosingSpeed, kClosingSpeed);
    if (step) w.driven[size_t(row)] = 0.5 * (now + next) + (projected ? 0 : closing);
    if (step && std::abs(gap) > kLargeGap) w.leave[size_t(row)] = gap + (kind == Target::kStep ? h * closing : 0.0);
    switch (kind) {
      case Target::kImpact:
        target[row] = jumps ? now - w.rebound_share * restitution * (u[row] - now) : now;
        break;
      case Target::kStep:
        target[row] = (next + (projected ? 0 : closing) - u[row]) / h + 0.5 * w.island.drift(row);
        break;
      case Target::kStepAcross:
        target[row] = (next - u[row]) / h + w.island.drift(row);
        break;
      case Target::kAcceleration:
        target[row] = acceleration;
        break;
      case Target::kVelocity:  // a rebound is left to the impact that makes the connection
        target[row] = jumps && restitution > 0 ? u[row] : now;
        break;
      case Target::kPosition:
        w.island.u()[row] = gap;
        break;
    }
    ++row;
  };
  for (const int i : w.connections) {
    const ConnectionData& c = world_.connections[size_t(i)];
    for_each_direction(c, [&](int k, int bit) {
      if (c.soft >> bit & 1) {  // its own law is its target
        const Give give = give_of(c, k, u[row], h);
        target[row] = step ? w.island.drift(row) + c.acceleration[k] - give.force_now / give.firmness : 0;
        if (kind == Target::kPosition) w.island.u()[row] = 0;
        ++row;
        return;
      }
      const bool jumps = c.is_new && std::abs(u[row] - c.velocity[k]) > rest;
      put(c.phi[k], c.velocity[k], c.velocity[k] + 0.5 * h * c.acceleration[k], c.acceleration[k], jumps,
          c.options.restitution[bit], true);
    });
  }
  for (const Controller& c : world_.controllers) {
    if (!is_held_motion(c) || !w.holds(c.figure)) continue;
    const FigureData& f = world_.figure(c.figure);
    for (size_t i = 0; i < c.drives.size(); ++i) {
      const Signal now = signal(c, i, part.begin), next = signal(c, i, part.begin + h);
      const double q = f.drives[size_t(c.drives[i])].position(f.q);  // in a step the gap is what it would leave
      put(step ? q + 0.5 * h * next.rate - next.value : q - now.value, now.rate, next.rate, now.acceleration, false, 0,
          false);
    }
  }
  for (const CouplingData& c : world_.couplings) {
    if (w.holds(c.figure)) put(c.value(world_.figure(c.figure)).gap, 0, 0, 0, false, 0, true);
  }
}

}  // namespace kansetsu
