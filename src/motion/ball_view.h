#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "kansetsu/model/clip.h"

namespace kansetsu {

/// A figure with a ball joint for each three hinges that meet in a point, links without mass between them. Angles of three hinges turn
/// around in an instant where two axes fall together (an arm that swings past its side), and neither filters nor differences of them
/// mean anything there; quaternions go on smoothly. Poses, forces and momenta are the same.
class BallView {
 public:
  /// @param kept  links that stay, though they have no mass
  explicit BallView(const Model& model, std::set<std::string> kept = {});

  bool same() const { return triples_.empty(); }  ///< there are no such hinges: nothing to do
  const Model& model() const { return balls_; }
  /// A link of the view; throws for the links within a joint.
  LinkId link(LinkId of_model) const;
  /// The figure's own link.
  LinkId link_of_figure(LinkId of_view) const;

  Clip to_balls(const Clip& clip) const;
  /// Angles nearest to those of `near`, frame by frame.
  Clip to_hinges(const Clip& balls, const Clip& near) const;
  /// The same without angles to be near to: each frame goes on from the one before, the first from zero.
  Clip to_hinges(const Clip& balls) const;
  /// Torques of all coordinates of the figure, from those of the view. @param q  of the figure
  void torques(const Eigen::VectorXd& q, const Eigen::VectorXd& of_balls, Eigen::Ref<Eigen::VectorXd> out) const;
  /// Velocities and accelerations likewise; where axes fall together, those of least size.
  void rates(const Eigen::VectorXd& q, const Eigen::VectorXd& v_balls, const Eigen::VectorXd& vdot_balls,
             Eigen::Ref<Eigen::VectorXd> v, Eigen::Ref<Eigen::VectorXd> vdot) const;

 private:
  struct Triple {
    std::string name{};           ///< of the ball
    std::array<int, 3> q{}, v{};  ///< of the figure's hinges
    std::array<Vec3<>, 3> axis{};
    std::array<Mat3<>, 3> socket{}, plug{};  ///< turns of their frames
    Mat3<> ball_plug{};
    int ball_q = 0, ball_v = 0;

    Mat3<> turn(const Vec3<>& angles) const;  ///< of the child link on the parent
    std::array<Vec3<>, 3> axes_on_child(const Vec3<>& angles) const;
    Vec3<> angles(const Mat3<>& target, Vec3<> from) const;
  };
  struct Kept {
    int q, ball_q, nq, v, ball_v, nv;
  };

  void hinges_of_frame(const Clip& balls, long k, const Eigen::VectorXd& near, Eigen::Ref<Eigen::VectorXd> out) const;

  Model balls_;
  int figure_nq_;
  std::vector<int> links_;  ///< of the view; −1 within a joint
  std::vector<Triple> triples_;
  std::vector<Kept> kept_;
};

}  // namespace kansetsu
