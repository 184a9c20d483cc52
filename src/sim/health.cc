#include "kansetsu/sim/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/impl.h"

namespace kansetsu {
namespace {

double explained(const WorldTotals& t) { return t.work_torque + t.work_contact + t.work_connection + t.impact_energy; }

/// Energy that went through the accounts between two moments.
double moved_between(const WorldTotals& a, const WorldTotals& b) {
  return std::abs(b.work_torque - a.work_torque) + std::abs(b.work_contact - a.work_contact) +
         std::abs(b.work_connection - a.work_connection) + std::abs(b.impact_energy - a.impact_energy);
}

/// The element with the largest value; null if there is none.
template <class List, class Value>
auto* worst_of(const List& list, const Value& value) {
  const auto found =
      std::max_element(list.begin(), list.end(), [&](const auto& a, const auto& b) { return value(a) < value(b); });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::string HealthFinding::text() const {
  const std::string place = where.empty() ? "" : fmt::format(" {}", where);
  return fmt::format("{}{} is {:.6g}{}{}, beyond {:.6g}", what, place, value, unit.empty() ? "" : " ", unit, limit);
}

void World::Impl::open_ledger(double kinetic, double potential) {
  ledger = Ledger{.time = time, .energy = kinetic + potential, .most_kinetic = kinetic, .totals = reports.totals};
}

std::string World::Impl::body_name(const BodyRef& body, int shape) const {
  if (body.is_world()) {
    const std::string& name = shape < 0 ? std::string() : contacts.shapes()[size_t(shape)].name;
    return name.empty() ? "the world" : fmt::format("'{}'", name);
  }
  const FigureData& f = *figures[size_t(body.figure.value())];
  return fmt::format("'{}/{}'", f.options.name, f.model.link(body.link).name);
}

WorldHealth World::health(const HealthLimits& limits) const {
  Impl& w = *impl_;
  const double kinetic = kinetic_energy(), potential = potential_energy();
  if (!w.ledger) w.open_ledger(kinetic, potential);
  Ledger& from = *w.ledger;
  from.most_kinetic = std::max(from.most_kinetic, kinetic);

  WorldHealth out;
  out.since = from.time, out.time = w.time;
  out.energy = kinetic + potential;
  out.energy_drift = out.energy - from.energy - (explained(w.reports.totals) - explained(from.totals));
  out.energy_moved = from.most_kinetic + moved_between(from.totals, w.reports.totals);
  out.penetration = w.reports.totals.worst_penetration, out.residual = w.reports.totals.worst_residual;
  out.gap = w.reports.step.loop_gap, out.angle = w.reports.step.loop_angle;
  out.unsolved = w.reports.totals.tiers[int(ContactTier::kUnsolved)];
  for (int tier = int(ContactTier::kNone) + 1; tier <= int(ContactTier::kUnsolved); ++tier)
    out.contacts += w.reports.totals.tiers[tier];

  const auto tell = [&](const char* what, double value, double limit, const char* unit, std::string where) {
    if (!(value <= limit)) out.findings.push_back({what, std::move(where), value, limit, unit});
  };
  const auto between = [&](const ContactReport* c, double value, double limit) {
    if (!c || !(value > limit)) return std::string();
    return fmt::format("between {} and {}", w.body_name(c->a, c->shape_a.value()),
                       w.body_name(c->b, c->shape_b.value()));
  };
  const auto at_connection = [&](const ConnectionReport* c) {
    return c && !c->name.empty() ? fmt::format("of connection '{}'", c->name) : std::string();
  };
  const auto depth = [](const ContactReport& c) { return -c.gap; };
  const auto residual = [](const ContactReport& c) { return c.residual; };
  const ContactReport* deepest = worst_of(w.reports.contacts, depth);
  tell("the penetration", out.penetration, limits.penetration, "m",
       between(deepest, deepest ? depth(*deepest) : 0, limits.penetration));
  tell("the gap", out.gap, limits.gap, "m",
       at_connection(worst_of(w.reports.connections, [](const ConnectionReport& c) { return c.position_gap; })));
  tell("the angle", out.angle, limits.angle, "rad",
       at_connection(worst_of(w.reports.connections, [](const ConnectionReport& c) { return c.angle_gap; })));
  const ContactReport* rough = worst_of(w.reports.contacts, residual);
  tell("the residual", out.residual, limits.residual, "", between(rough, rough ? rough->residual : 0, limits.residual));
  tell("the share of unsolved contacts", out.unsolved_share(), limits.unsolved_share, "",
       fmt::format("({} of {}, worst residual {:.3g})", out.unsolved, out.contacts, out.residual));

  double lift = 0;  // corrections of positions may lift everything by as much as it may be deep
  for (const auto& f : w.figures) lift += f->model.mass() * norm(w.options.gravity) * limits.penetration;
  tell("the unexplained energy", std::abs(out.energy_drift), limits.energy_share * out.energy_moved + lift, "J",
       fmt::format("({}; {:.3g} J were exchanged)", out.energy_drift > 0 ? "a gain" : "a loss", out.energy_moved));
  return out;
}

void World::set_strict(const std::optional<HealthLimits>& limits) { impl_->strict = limits; }

void World::step() {
  Impl& w = *impl_;
  if (!w.ledger) w.open_ledger(kinetic_energy(), potential_energy());
  w.step(*this);
  if (!w.strict || w.status == WorldStatus::kFailed) return;
  const WorldHealth now = health(*w.strict);
  if (now.ok()) return;
  w.status = WorldStatus::kFailed;
  w.failure = fmt::format("at {:.6f} s", w.time);
  for (const HealthFinding& finding : now.findings)
    w.failure += (&finding == now.findings.data() ? ": " : "; ") + finding.text();
}

}  // namespace kansetsu
