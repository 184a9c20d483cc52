#include "sim/lane_worlds.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/aligned_memory.h"

namespace kansetsu {

using kernel::kMostSoles;
using kernel::kSoleCorners;
using kernel::kSoleRows;

namespace {

constexpr long kLine = 8;  // numbers

/// visit(part) of everything in a block, and how many packs it has.
template <class Visit>
void for_each_part(kernel::LaneBlock& b, int nq, int nv, Visit&& visit) {
  visit(b.q, nq), visit(b.v, nv), visit(b.vdot, nv), visit(b.effort, nv), visit(b.torque, nv);
  visit(b.gain_p, nv), visit(b.gain_d, nv), visit(b.aim, nv);
  visit(b.wrench, kMostSoles * kSoleRows), visit(b.corners, kMostSoles * kSoleCorners * 3);
  for (int k = 0; k < 2; ++k) visit(b.polygon[k], kMostSoles * kSoleCorners * 2), visit(b.arm[k], kMostSoles);
  visit(b.gap, kMostSoles);
  for (double** x : {&b.work_torque, &b.work_contact, &b.residual, &b.worst_residual, &b.worst_gap}) visit(*x, 1);
}

}  // namespace

LaneWorlds::LaneWorlds(const LanePlan& plan, int count, const kernel::LaneKernels& kernels)
    : plan_(plan), width_(kernels.width), blocks_((count + width_ - 1) / width_) {
  const TreeView& tree = *plan.figure().tree;
  for_each_part(parts_, tree.nq, tree.nv, [&](double*&, int packs) { stride_ += long(packs) * width_; });
  stride_ = (stride_ + kLine - 1) / kLine * kLine;
  memory_ = Eigen::VectorXd::Zero(stride_ * blocks_ + kLine);
  double* next = aligned(memory_.data());
  for_each_part(parts_, tree.nq, tree.nv, [&](double*& part, int packs) { part = next, next += long(packs) * width_; });
}

kernel::LaneBlock LaneWorlds::block(int b) const {
  kernel::LaneBlock out = parts_;
  const TreeView& tree = *plan_.figure().tree;
  for_each_part(out, tree.nq, tree.nv, [&](double*& part, int) { part += b * stride_; });
  return out;
}

void LaneWorlds::set_torque(int i, const double* tau) {
  double* to = &at(parts_.torque, i, 0);
  const int nv = plan_.figure().tree->nv, width = width_;
  for (int k = 0; k < nv; ++k) to[k * width] = tau[k];
}

namespace {

/// Column by column, so that a line of memory is written once.
template <int kWidth>
void interleave(int count, const double* rows, long stride, double* to) {
  for (int k = 0; k < count; ++k, to += kWidth) {
    for (int i = 0; i < kWidth; ++i) to[i] = rows[i * stride + k];
  }
}

}  // namespace

void LaneWorlds::set_torques(int b, const double* tau, long stride) {
  double* to = parts_.torque + b * stride_;
  const int nv = plan_.figure().tree->nv;
  if (width_ == 8) return interleave<8>(nv, tau, stride, to);
  if (width_ == 4) return interleave<4>(nv, tau, stride, to);
  for (int i = 0; i < width_; ++i) set_torque(b * width_ + i, tau + i * stride);
}

void LaneWorlds::load(const World::Impl& world, int stance, int i) {
  const FigureData& f = *world.figures[0];
  for (int k = 0; k < f.q.size(); ++k) at(parts_.q, i, k) = f.q[k];
  for (int k = 0; k < f.v.size(); ++k) {
    at(parts_.v, i, k) = f.v[k];
    at(parts_.vdot, i, k) = f.vdot[k];
    at(parts_.torque, i, k) = f.torque[k];
    at(parts_.gain_p, i, k) = at(parts_.gain_d, i, k) = at(parts_.aim, i, k) = 0;
  }
  for (const PassiveDrive& p : f.springs) {
    const auto& [column, ratio] = f.drives[size_t(p.drive)].terms[0];
    at(parts_.gain_d, i, column) += ratio * ratio * p.damping;
  }
  for (const Controller& c : world.controllers) {
    if (!c.state.active) continue;
    for (const JointSignal& s : c.joints) {
      at(parts_.gain_p, i, s.column) += s.ratio * s.ratio * s.kp;
      at(parts_.gain_d, i, s.column) += s.ratio * s.ratio * s.kd;
      at(parts_.aim, i, s.column) += s.ratio * s.kp * (s.value - s.offset);
    }
  }
  for (double* sum : {parts_.work_torque, parts_.work_contact, parts_.residual, parts_.worst_residual})
    at(sum, i, 0) = 0;
  at(parts_.worst_gap, i, 0) = std::numeric_limits<double>::infinity();
  load_contacts(world, stance, i);
}

void LaneWorlds::load_contacts(const World::Impl& world, int stance, int i) {
  const ContactFinder::Carried& carried = world.contacts.carried();
  for (int s = 0; s < plan_.key(stance).count; ++s) {
    const size_t slot = size_t(carried.cache.id(s).slot);
    for (int r = 0; r < kSoleRows; ++r)
      at(parts_.wrench, i, s * kSoleRows + r) = carried.remembered[slot].wrench[size_t(r)];
    for (int n = 0; n < 2; ++n) {
      const ContactFinder::KnownArm& known = carried.arms[slot][size_t(n)];
      const bool fits = known.count == kSoleCorners && known.arm > 0;
      at(parts_.arm[n], i, s) = known.arm;
      for (int k = 0; k < kSoleCorners; ++k) {
        const ContactVertex& corner = known.polygon[size_t(k)];
        const int to = 2 * (s * kSoleCorners + k);
        at(parts_.polygon[n], i, to) = fits ? corner.x : std::nan("");
        at(parts_.polygon[n], i, to + 1) = fits ? corner.y : std::nan("");
      }
    }
  }
}

void LaneWorlds::store(World::Impl& world, int stance, int i, int steps, double time) {
  FigureData& f = *world.figures[0];
  for (int k = 0; k < f.q.size(); ++k) f.q[k] = at(parts_.q, i, k);
  for (int k = 0; k < f.v.size(); ++k) {
    f.v[k] = at(parts_.v, i, k);
    f.vdot[k] = at(parts_.vdot, i, k);
    f.effort[k] = at(parts_.effort, i, k);
  }
  store_account(world, stance, i, steps, time);
}

void LaneWorlds::store_account(World::Impl& world, int stance, int i, int steps, double time) {
  if (plan_.key(stance).count > 0) world.figures[0]->bound_force.setZero();
  world.time = time;
  world.is_current = false;
  WorldTotals& totals = world.reports.totals;
  const int soles = plan_.key(stance).count;
  const auto count = std::uint64_t(steps) * std::uint64_t(soles);
  totals.steps += std::uint64_t(steps);
  totals.contacts += count;
  totals.tiers[int(ContactTier::kNewton)] += count;
  totals.worst_residual = std::max(totals.worst_residual, at(parts_.worst_residual, i, 0));
  totals.worst_penetration = std::max(totals.worst_penetration, -at(parts_.worst_gap, i, 0));
  totals.work_torque += at(parts_.work_torque, i, 0);
  totals.work_contact += at(parts_.work_contact, i, 0);
  at(parts_.work_torque, i, 0) = at(parts_.work_contact, i, 0) = at(parts_.worst_residual, i, 0) = 0;
  at(parts_.worst_gap, i, 0) = std::numeric_limits<double>::infinity();
  store_contacts(world, stance, i, steps);
}

/// Memory and report of each contact, as a World writes them for soles that hold.
void LaneWorlds::store_contacts(World::Impl& world, int stance, int i, int steps) {
  const kernel::LaneStance& table = plan_.stance(stance);
  ContactFinder::Carried& carried = world.contacts.change_carried();
  world.reports.step = {};
  world.reports.contacts.clear();
  world.reports.connections.clear();
  for (int s = 0; s < table.sole_count; ++s) {
    const PairKey& key = carried.cache.key(s);
    const int slot = carried.cache.id(s).slot;
    ContactMemory& memory = carried.remembered[size_t(slot)];
    for (int n = std::min(steps, 256); n > 0; --n) {  // as contact::remember()
      if (holds(memory)) {
        memory.steady = std::uint8_t(std::min(memory.steady + n, 255));
        break;
      }
      memory.stood = std::uint8_t(std::max<int>(memory.steady, memory.stood / 2));
      memory.mode = ContactMode::kSurface, memory.slip = SlipMode::kStick, memory.closed = 0b1111;
      memory.steady = 0;
    }
    Vec3<> corners[kSoleCorners], sum{};
    for (int k = 0; k < kSoleCorners; ++k) {
      const int from = 3 * (s * kSoleCorners + k);
      corners[k] = {at(parts_.corners, i, from), at(parts_.corners, i, from + 1), at(parts_.corners, i, from + 2)};
      sum += corners[k];
    }
    carried.cache.repeat(s, steps, corners);
    memory.force = {};  // of the whole sole only
    std::array<double, 6>& w = memory.wrench;
    for (int r = 0; r < kSoleRows; ++r) w[size_t(r)] = at(parts_.wrench, i, s * kSoleRows + r);

    const std::vector<WorldShape>& shapes = world.contacts.shapes();
    const bool swapped = shapes[size_t(key.b)].figure < 0;
    const Mat3<>& E = table.soles[s].E;
    ContactReport& r = world.reports.contacts.emplace_back();
    const int plane = swapped ? key.b : key.a, box = swapped ? key.a : key.b;
    r.shape_a = ShapeId(plane), r.shape_b = ShapeId(box);
    r.a = kWorldBody, r.b = {FigureId(0), shapes[size_t(box)].link};
    r.id = slot;
    r.p = (1.0 / kSoleCorners) * sum;
    r.normal = E.column_z();
    r.wrench = {E * Vec3<>{w[3], w[4], w[5]}, E * Vec3<>{w[0], w[1], w[2]}};
    r.pressure = r.p + E * Vec3<>{-w[4] / w[2], w[3] / w[2], 0};
    r.mode = ContactMode::kSurface, r.slip = SlipMode::kStick, r.tier = ContactTier::kNewton;
    r.solves = 1;
    r.residual = at(parts_.residual, i, 0);
    r.gap = at(parts_.gap, i, s);
    world.reports.step.penetration = std::max(world.reports.step.penetration, -r.gap);
    world.reports.step.residual = r.residual;
  }
  world.reports.step.tiers[int(ContactTier::kNewton)] = table.sole_count;
  world.reports.step.time = world.time;
  world.reports.step.contacts = world.reports.contacts;
}

}  // namespace kansetsu
