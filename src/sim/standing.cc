#include "sim/standing.h"

#include "base/aligned_memory.h"

namespace kansetsu {

World::Impl::~Impl() = default;
void World::Impl::changed() { standing->forget(); }

/// The choice depends on the contents of a snapshot alone, so that a restored world makes the same one.
int StandingStep::stance_of(const World::Impl& world) {
  const int touching = world.contacts.carried().cache.size();
  if (!world.options.standing_steps || world.sleeping.count() > 0 || world.figures.size() != 1 || touching == 0 ||
      touching > kernel::kMostSoles)
    return -1;
  if (!plan_ || !plan_->fits(world)) {
    lane_.reset();
    plan_ = std::make_unique<LanePlan>(world);
    refused_ = {};
    if (plan_->obstacle().empty()) {
      lane_ = std::make_unique<LaneWorlds>(*plan_, 1, kernel::one_lane());
      scratch_ = Eigen::VectorXd::Zero(long(kernel::one_lane().scratch(plan_->figure()) / sizeof(double)) + 8);
    }
  }
  StanceKey key;
  if (!lane_ || !plan_->stance_of(world, key) || key == refused_ || !plan_->is_plain(world)) return -1;
  if (const int known = plan_->find(key); known >= 0) return known;
  int added = plan_->add(world, key);
  if (added < 0) {
    plan_->forget_stances();
    added = plan_->add(world, key);
  }
  if (added < 0) refused_ = key;
  return added;
}

void StandingStep::look_at(const World::Impl& world) {
  known_ = true;
  stance_ = stance_of(world);
  if (stance_ >= 0) lane_->load(world, stance_, 0);
}

bool StandingStep::step(World::Impl& world) {
  if (!known_) look_at(world);
  if (stance_ < 0 || world.figures[0]->has_external) return false;
  FigureData& f = *world.figures[0];
  kernel::LaneBlock block = lane_->block(0);
  block.q = f.q.data(), block.v = f.v.data(), block.vdot = f.vdot.data(), block.effort = f.effort.data();
  block.torque = f.torque.data();
  double* scratch = aligned(scratch_.data());
  if (kernel::one_lane().step(plan_->figure(), plan_->stance(stance_), 1, scratch, block) == 0) return false;
  for (Controller& c : world.controllers) draw(c, world.time);
  lane_->store_account(world, stance_, 0, 1, world.time + plan_->figure().h);
  return true;
}

}  // namespace kansetsu
