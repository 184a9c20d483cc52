#include "sim/couplings.h"

namespace kansetsu {

CouplingData::Value CouplingData::value(const FigureData& f) const {
  double p = 0, slope = 0, curvature = 0;
  if (driver >= 0) {
    const double x = position(f, driver) - coupling.driver_reference;
    for (size_t k = coupling.coefficient.size(); k-- > 0;) {  // Horner's scheme for all three
      curvature = curvature * x + 2 * slope;
      slope = slope * x + p;
      p = p * x + coupling.coefficient[k];
    }
  } else {
    p = coupling.coefficient[0];
  }
  return {position(f, dependent) - coupling.reference - p, slope, curvature};
}

double CouplingData::position(const FigureData& f, int index) const {
  return coupling.tendons ? f.actuators.actuation.tendon_length(index) : f.drives[size_t(index)].position(f.q);
}
double CouplingData::velocity(const FigureData& f, int index) const {
  return coupling.tendons ? f.actuators.actuation.tendon_velocity(index) : f.drives[size_t(index)].velocity(f.v);
}

}  // namespace kansetsu
