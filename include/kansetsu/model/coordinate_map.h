#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/coordinate_function.h"
#include "kansetsu/model/model.h"

/// Models whose joints move by functions of other coordinates: a knee whose axis slides as it bends, a kneecap that follows. The
/// model has every motion as a coordinate of its own; the map makes them from the coordinates that a file has.
/// docs/formats/osim.md.
namespace kansetsu {

struct MapCoordinate {
  std::string name{};
  bool rotational = true;
  double value = 0;  ///< where the motion does not give it
  double lower = -kInfinity, upper = kInfinity;
  bool locked = false;
  /// Follows another coordinate: which one, and how.
  int follows = -1;
  CoordinateFunction function{};
};

/// One motion: along or about an axis, by a function of a coordinate; −1: a constant.
struct MapAxis {
  int coordinate = -1;
  CoordinateFunction function{};
  Vec3<> axis{};
};

struct CoordinateMap {
  std::vector<MapCoordinate> coordinates{};
  /// Of the root in the world: turns about three axes, one after the other on the body, then shifts; used where the base is free.
  std::array<MapAxis, 3> base_turns{}, base_shifts{};
  Transform<> base_socket{}, base_plug{};
  /// Of the model's joints, by name: each has one coordinate.
  std::vector<std::pair<std::string, MapAxis>> joints{};

  std::optional<int> find(std::string_view coordinate) const;
  /// Default values of all coordinates.
  Eigen::VectorXd neutral() const;
};

/// A map for one model, ready to use. Throws Error if a joint is not there.
class MappedModel {
 public:
  MappedModel(Model model, CoordinateMap map);
  const Model& model() const { return model_; }
  const CoordinateMap& map() const { return map_; }
  int size() const { return static_cast<int>(map_.coordinates.size()); }

  /// The model's configuration from the file's coordinates [rad, m]. Those that follow others are taken from them.
  Eigen::VectorXd configuration(const Eigen::VectorXd& x) const;
  /// The same without allocating, where q has been a configuration before.
  void configuration(const Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  /// Coordinate i, from the one that it follows, if it does.
  double value(const Eigen::VectorXd& x, int i) const {
    const MapCoordinate& c = map_.coordinates[static_cast<std::size_t>(i)];
    return c.follows >= 0 ? c.function(x[c.follows]) : x[i];
  }

  /// The model's state and acceleration from the coordinates' rates, by central differences of 10⁻⁴ s.
  struct Rates {
    Eigen::VectorXd q, v, vdot;
  };
  Rates rates(const Eigen::VectorXd& x, const Eigen::VectorXd& xd, const Eigen::VectorXd& xdd) const;
  /// ∂v/∂ẋ, nv × size(); coordinates that follow others have zero columns; their effect is in the columns of those they follow.
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& x) const;

 private:
  void add_base(const Eigen::VectorXd& x, Eigen::MatrixXd& J) const;

  Model model_;
  CoordinateMap map_;
  std::vector<int> joint_q_, joint_v_;
};

}  // namespace kansetsu
