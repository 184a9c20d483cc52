#include "sim/meeting.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {
namespace {

/// Normal velocity of a vertex of a contact: how fast it opens.
struct Opening {
  explicit Opening(const Touch& t) : motion(frame_motion(*t.parent_end, *t.real_end, t.E, t.origin)) {}
  double operator()(const ContactVertex& x) const { return motion.u[2] + motion.u[3] * x.y - motion.u[4] * x.x; }
  FrameMotion6 motion;
};

}  // namespace

ContactFinder::Ahead look_ahead(const WorldOptions& options, double h) {
  const ContactOptions& o = options.contact;
  return {o.anticipate && o.end_of_step ? h : 0, norm(options.gravity)};
}

double time_to_touch(const ContactFinder& contacts, double tol_gap) {
  double first = kInfinity;
  for (const Touch& t : contacts.touches()) {
    const Opening opening(t);
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      const ContactVertex& x = t.patch.vertices[size_t(k)];
      const double u = opening(x);
      if (x.gap > tol_gap && u < 0) first = std::min(first, (x.gap + tol_gap) / -u);
    }
  }
  return first;
}

void meet_impacts(ContactFinder& contacts, const WorldOptions& options, double h) {
  const ContactOptions& o = options.contact;
  if (!o.anticipate || !o.end_of_step) return;
  const double slow = std::max(o.rest_speed(norm(options.gravity), h), o.v_impact);
  for (Touch& t : contacts.touches()) {
    if (!(t.patch.restitution > 0)) continue;
    const Opening opening(t);
    const double fall = dot(t.E.column_z(), options.gravity);
    const double a = std::min((t.real_end->figure ? fall : 0) - (t.parent_end->figure ? fall : 0), 0.0);
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      ContactVertex& x = t.patch.vertices[size_t(k)];
      const double u = opening(x);
      if (x.gap <= o.tol_gap || u > -slow || x.gap + h * (u + h * a) > 0) continue;
      x.gap = 0.5 * o.tol_gap, t.is_new = true;
    }
  }
}

bool all_separate(const ContactFinder& contacts, const WorldOptions& options) {
  for (const Touch& t : contacts.touches()) {
    const Opening opening(t);
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      const ContactVertex& x = t.patch.vertices[size_t(k)];
      const double u = opening(x);
      if (x.gap <= options.contact.tol_gap && u <= 0) return false;
      if (x.gap <= 0 && u <= std::max(2 * norm(options.gravity) * options.time_step, 1e-3)) return false;
    }
  }
  return true;
}

}  // namespace kansetsu
