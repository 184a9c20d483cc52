#include <doctest/doctest.h>

#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

TEST_CASE("scenario 2: a block on a slope sticks up to tan a = mu_S and then slides with mu_D") {
  const double mu_s = 0.5, mu_d = 0.4, hc = 0.1;
  for (const bool end_of_step : {false, true}) {
    CAPTURE(end_of_step);
    ContactOptions o;
    o.end_of_step = end_of_step;
    ContactSolver solver(o);
    for (const double alpha : {0.0, 0.2, std::atan(mu_s) - 1e-6, std::atan(mu_s) + 1e-6, 0.5, 0.6}) {
      CAPTURE(alpha);
      Case k = box_on_floor(Body::box(2, 0.4, 0.3, 0.2), 0.4, 0.3, 0.2, mu_s, mu_d,
                            {kG * std::sin(alpha), 0, -kG * std::cos(alpha)});
      const ContactResult r = k.contact(solver);
      const Vector w = k.outcome(r);
      CHECK(r.tier == ContactTier::kFast);
      CHECK(r.patches[0].mode == ContactMode::kSurface);
      const bool slides = alpha > std::atan(mu_s);
      CHECK((r.patches[0].slip == SlipMode::kSlide) == slides);
      const double expected = slides ? kG * (std::sin(alpha) - mu_d * std::cos(alpha)) : 0;
      CHECK(std::abs(w[0] - expected) < 1e-12);
      CHECK(std::abs(r.patches[0].pressure_x - hc * (slides ? mu_d : std::tan(alpha))) < 1e-12);  // downhill
      CHECK(std::abs(r.patches[0].wrench[2] - 2 * kG * std::cos(alpha)) < 1e-11);
    }
  }
}
