#pragma once

#include <cstddef>

#include "kansetsu/scene/scene.h"
#include "sim/figure.h"

namespace kansetsu {

/// q[dependent] as a polynomial of q[driver]: a bilateral row.
struct CouplingData {
  PolynomialCoupling coupling;
  int figure = 0, dependent = 0, driver = -1;  ///< drives of the figure, or its tendons; −1: no driver

  /// Gap, slope of the polynomial, and its curvature.
  struct Value {
    double gap, slope, curvature;
  };
  Value value(const FigureData& f) const;
  double position(const FigureData& f, int index) const;
  double velocity(const FigureData& f, int index) const;
  /// visit(column, coefficient)
  template <class Visit>
  void for_each_term(const FigureData& f, int index, Visit&& visit) const {
    if (coupling.tendons) {
      const MomentRow row = f.actuators.actuation.tendon_moment(index);
      for (size_t k = 0; k < row.columns.size(); ++k) visit(row.columns[k], row.values[k]);
      return;
    }
    for (const auto& [column, ratio] : f.drives[size_t(index)].terms) visit(column, ratio);
  }
};

}  // namespace kansetsu
