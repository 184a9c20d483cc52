#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "kansetsu/geometry/surface.h"
#include "model/checks.h"

namespace kansetsu {
namespace {

/// Files carry about six digits, so moments that should be equal, or a plate's largest that should be the sum of the
/// others, are off by this much of the largest one.
constexpr double kTextRounding = 1e-6;
/// Moments below those of a micrometre-sized body of the same mass are the exporter's rounding of zero (iCub's links carry
/// −5e-20 kg·m²): the link is a point mass.
constexpr double kPointRadius = 1e-6;
/// [kg] Heavier than a link of any machine that joints move (a mining excavator's boom has 6e4): grams were taken for kilograms.
constexpr double kMostMass = 1e5;

bool all_finite(const Inertial& inertial) {
  const Sym3<>& I = inertial.inertia;
  return std::isfinite(inertial.mass + I.xx + I.xy + I.xz + I.yy + I.yz + I.zz);
}

void check_inertial(const LinkDescription& link, Report& report) {
  const Inertial& inertial = *link.inertial;
  const std::string path = link_path(link) + "/inertial";
  const auto add = [&](ModelCode code, const std::string& message) {
    report.add(code, link.line, path, fmt::format("link '{}': {}", link.name, message));
  };
  if (inertial.mass < 0) add(ModelCode::kNegativeMass, fmt::format("mass is {} kg", inertial.mass));
  if (inertial.mass > kMostMass && inertial.mass <= kLargestNumber) {
    add(ModelCode::kHugeMass, fmt::format("mass is {} kg", inertial.mass));
  }
  if (!all_finite(inertial)) return;

  const Sym3<>& I = inertial.inertia;
  if (inertial.mass == 0 && I != Sym3<>{}) {
    add(ModelCode::kInertiaWithoutMass, "has rotational inertia but no mass");
  }
  Eigen::Matrix3d matrix;
  matrix << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  // Ascending principal moments: the tests must not depend on how the link's axes are turned.
  const Eigen::Vector3d J =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  const double point = std::max(inertial.mass, 0.0) * kPointRadius * kPointRadius;
  const double tolerance = kTextRounding * J.cwiseAbs().maxCoeff() + point;
  const std::string moments = fmt::format("principal moments are {:.6g}, {:.6g}, {:.6g} kg·m²", J[0], J[1], J[2]);
  if (J[0] < -tolerance) {
    add(ModelCode::kIndefiniteInertia, moments);
  } else if (J[0] + J[1] < J[2] - tolerance) {
    add(ModelCode::kTriangleInequality, moments);
  }
}

double smallest_size(const Shape& shape) {
  return std::visit(
      [](const auto& s) {
        using S = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<S, Box>) return std::min({s.size.x, s.size.y, s.size.z});
        if constexpr (std::is_same_v<S, Sphere>) return s.radius;
        if constexpr (std::is_same_v<S, Cylinder> || std::is_same_v<S, Capsule>) return std::min(s.radius, s.length);
        if constexpr (std::is_same_v<S, HeightField>) return std::min(s.size_x, s.size_y);
        return 0.0;  // a mesh may be mirrored, a plane has no size, a hull any
      },
      shape);
}

void check_material(const Material& material, int line, const std::string& path, Report& report) {
  if (!material.rgba) return;
  const auto& rgba = *material.rgba;
  const bool in_range = std::ranges::all_of(rgba, [](double x) { return x >= 0 && x <= 1; });
  if (rgba.size() == 4 && in_range) return;
  report.add(ModelCode::kBadColour, line, path,
             fmt::format("colour of material '{}' is ({})", material.name, fmt::join(rgba, ", ")));
}

void check_shapes(const LinkDescription& link, const char* kind, const std::vector<LinkShape>& shapes, Report& report) {
  for (int i = 0; const LinkShape& shape : shapes) {
    const std::string path = fmt::format("{}/{}[{}]", link_path(link), kind, i++);
    if (const double size = smallest_size(shape.shape); size < 0) {
      report.add(ModelCode::kNegativeSize, link.line, path,
                 fmt::format("a shape of link '{}' has size {}", link.name, size));
    }
    if (const std::string problem = surface_problem(shape.shape); !problem.empty()) {
      report.add(ModelCode::kBadSurface, link.line, path, fmt::format("a shape of link '{}': {}", link.name, problem));
    }
    if (shape.material) check_material(*shape.material, link.line, path, report);
  }
}

}  // namespace

void check_links(const ModelDescription& d, Report& report) {
  double mass = 0;
  for (const LinkDescription& link : d.links) {
    if (link.inertial) {
      check_inertial(link, report);
      mass += link.inertial->mass;
    }
    check_shapes(link, "visual", link.visuals, report);
    check_shapes(link, "collision", link.collisions, report);
  }
  for (const Material& material : d.materials) {
    check_material(material, 0, fmt::format("material[{}]", material.name), report);
  }
  if (d.base == Base::kFree && !d.links.empty() && mass == 0) {
    report.add(ModelCode::kMasslessFreeBase, d.links.front().line, fmt::format("model[{}]", d.name),
               "the base is free, but no link has mass: it would fall with undefined acceleration");
  }
}

}  // namespace kansetsu
