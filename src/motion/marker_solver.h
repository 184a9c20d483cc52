#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/marker_fit.h"

/// Postures from markers. With markers as point masses, the curvature of half the sum of their squared distances is, up to
/// second order, the mass matrix: composite inertias over the tree give it, as in CRBA. docs/theory/markers.md.
namespace kansetsu {

/// Where each marker of the figure is among those seen; throws if one is not.
std::vector<int> columns_of(const MarkerFigure& figure, const Markers& seen);

/// Coordinates of a figure: the map's, or the model's own configuration.
class MarkerSolver {
 public:
  explicit MarkerSolver(const MarkerFigure& figure);

  int unknowns() const { return unknowns_; }
  /// A posture to begin with: the best of many directions that the root may have.
  Eigen::VectorXd begin(std::span<const Vec3<>> seen);
  /// From x, in place. @return  half the weighted sum of squares
  double solve(std::span<const Vec3<>> seen, Eigen::VectorXd& x, int iterations);
  /// The same without safeguards, for the next frame of a motion.
  void follow(std::span<const Vec3<>> seen, Eigen::VectorXd& x);

  /// The model's configuration, with link poses as they are then.
  const Eigen::VectorXd& configure(const Eigen::VectorXd& x);
  const LinkPoses& poses() const { return poses_; }
  double cost(std::span<const Vec3<>> seen) const;
  void advance(Eigen::VectorXd& x, const Eigen::VectorXd& step) const;

  /// Gradient and curvature at the configured posture, by the unknowns; the lower triangle. Locked ones have none.
  void expand(std::span<const Vec3<>> seen);
  const Eigen::MatrixXd& curvature() const { return H_; }
  const Eigen::VectorXd& gradient() const { return g_; }
  /// ∂p/∂x of a point on a link, 3 × unknowns(); after expand().
  void point_jacobian(LinkId link, const Vec3<>& p, Eigen::Ref<Eigen::MatrixXd> J) const;

 private:
  /// A motion of one joint, and the unknown that drives it.
  struct Column {
    int link = 0, unknown = 0, previous = -1;  ///< the one before it on the way to the root
    int v = -1;                                ///< of the model; −1: a motion of the mapped root
    int axis = -1;                             ///< of the map's joints
    double slope = 1;
    Vec3<> turn{}, shift{};  ///< at the world's origin
  };
  struct Composite {
    double mass = 0;
    Vec3<> first{};
    Sym3<> second{};
    Vec3<> moment{}, force{};
  };

  void plan();
  void update_columns();
  bool factor_and_step(double damping);

  const MarkerFigure& figure_;
  std::optional<MappedModel> mapped_;
  int unknowns_ = 0;
  Workspace work_;
  LinkPoses poses_;
  Eigen::Matrix<double, 6, Eigen::Dynamic> axes_;
  Eigen::VectorXd q_, x_, g_, step_;
  Eigen::MatrixXd H_, factor_;
  std::vector<Column> columns_;
  std::vector<int> last_column_, parents_;
  std::vector<bool> fixed_;  ///< locked
  bool only_root_ = false;
  std::vector<Composite> composite_;
};

}  // namespace kansetsu
