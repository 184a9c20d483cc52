#include <algorithm>
#include <cmath>

#include "sim/impl.h"

/// What is met within a step. What does not bounce is stopped at the surface by the forces of the step. What bounces does so where it
/// is, up to a step before the surface: so it keeps its energy, and passes nothing.
namespace kansetsu {
namespace {

/// Normal velocity of a vertex of a contact: how fast it opens.
struct Opening {
  explicit Opening(const Touch& t) : motion(frame_motion(*t.parent_end, *t.real_end, t.E, t.origin)) {}
  double operator()(const ContactVertex& x) const { return motion.u[2] + motion.u[3] * x.y - motion.u[4] * x.x; }
  FrameMotion6 motion;
};

}  // namespace

ContactFinder::Ahead World::Impl::ahead(double h) const {
  const ContactOptions& o = options.contact;
  return {o.anticipate && o.end_of_step ? h : 0, norm(options.gravity)};
}

/// Until the first vertex that does not touch yet is a little past its surface, at the velocities of now.
double World::Impl::time_to_touch() const {
  double first = kInfinity;
  for (const Touch& t : contacts.touches()) {
    const Opening opening(t);
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      const ContactVertex& x = t.patch.vertices[size_t(k)];
      const double u = opening(x);
      if (x.gap > options.contact.tol_gap && u < 0) first = std::min(first, (x.gap + options.contact.tol_gap) / -u);
    }
  }
  return first;
}

/// Vertices that bounce and would be past their surface in the middle of the next step count as touching.
void World::Impl::meet_impacts() {
  const ContactOptions& o = options.contact;
  if (!o.anticipate || !o.end_of_step) return;
  const double h = step_length, slow = std::max(o.rest_speed(norm(options.gravity), h), o.v_impact);
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

}  // namespace kansetsu
