#include "sim/soundness.h"

#include <fmt/format.h>

#include <cmath>

namespace kansetsu {

std::string torque_fault(const WorldState& world) {
  for (const std::unique_ptr<FigureData>& f : world.figures) {
    if (is_finite(f->torque) && (!f->has_external || is_finite(f->external))) continue;
    for (int k = 0; k < f->model.nv(); ++k) {
      const double torque = f->torque[k] + f->external[k];
      if (std::isfinite(torque)) continue;
      return fmt::format("at {:.6f} s: the torque on '{}' of figure '{}' is {}", world.time,
                         f->model.dof_names()[size_t(k)], f->options.name, torque);
    }
  }
  return {};
}

const FigureData* find_unsound(const WorldState& world) {
  using namespace threshold;
  const auto is_sound = [&](const FigureData& f) {
    const double base = f.model.base() == Base::kFree ? std::abs(f.v[3]) + std::abs(f.v[4]) + std::abs(f.v[5]) : 0;
    return is_finite(f.v) && is_finite(f.q) && world.options.time_step * f.fastest(0) < kMostTurning &&
           base < kFastestBase;
  };
  for (const std::unique_ptr<FigureData>& f : world.figures) {
    if (f->nap < 0 && !is_sound(*f)) return f.get();
  }
  return nullptr;
}

std::string describe_fault(const WorldState& world, const FigureData& f) {
  int worst = -1;
  for (int k = 0; k < f.model.nv(); ++k) {
    if (worst < 0 || !(std::abs(f.v[k]) <= std::abs(f.v[worst]))) worst = k;
    if (!std::isfinite(f.v[k])) break;
  }
  std::string out = fmt::format("at {:.6f} s: figure '{}'", world.time, f.options.name);
  if (worst >= 0 && !(std::isfinite(f.v[worst]) && !is_finite(f.q)))
    out += fmt::format(", '{}': the velocity is {:.6g}", f.model.dof_names()[size_t(worst)], f.v[worst]);
  else
    out += ": the position is not finite";
  double most = -1;  // below any load: a connection is named even if the step gave it none
  const ConnectionData* strongest = nullptr;
  for (const ConnectionData& c : world.connections) {
    const double pull = norm(c.wrench.f) + norm(c.wrench.t);
    if (c.active && !(pull <= most)) strongest = &c, most = pull;
  }
  if (!strongest) return out;
  const std::string name = strongest->options.name.empty() ? std::to_string(strongest - world.connections.data())
                                                           : "'" + strongest->options.name + "'";
  return out + fmt::format("; connection {} takes {:.6g} N, {:.6g} N·m", name, norm(strongest->wrench.f),
                           norm(strongest->wrench.t));
}

}  // namespace kansetsu
