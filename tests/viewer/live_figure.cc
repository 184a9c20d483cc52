/// live_figure [PORT]: a figure that floats, to watch and to pull at in the viewer; prints the address. What a World does
/// with connections is done here by springs, which is enough to test the way from the mouse to the body and back.

#include <cstdio>
#include <cstdlib>
#include <map>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "serve/server.h"

namespace kansetsu {
namespace {

constexpr double kStep = 1.0 / 480;
constexpr double kDragStiffness = 400, kGrabStiffness = 6000, kGrabDamping = 160, kAirDamping = 6;

class FloatingFigure final : public serve::LiveSource {
 public:
  FloatingFigure() { reset(); }

  const io::RecordingHeader& header() const override { return header_; }

  io::RecordedFrame advance(double seconds) override {
    due_ += seconds;
    for (; due_ >= kStep; due_ -= kStep) step();
    io::RecordedFrame frame{.time = time_, .states = {state_}, .numbers = {state_.v.norm()}};
    for (const auto& [link, grip] : grips_) {
      frame.connections.push_back({"grip", {0, link}, {}, grip.target, {{}, grip.force}});
    }
    if (drag_)
      frame.connections.push_back(
          {"drag", {0, drag_link_}, {}, point_of(drag_link_, drag_->point), {{}, drag_->force}});
    return frame;
  }
  void reset() override {
    state_ = State(model_);
    state_.q[2] = 1;
    time_ = due_ = 0;
    grips_.clear();
    drag_.reset();
  }

  void drag(const io::BodyRef& body, const Vec3<>& point, const Vec3<>& target) override {
    drag_ = Spring{point, target, kDragStiffness, 0.1 * kDragStiffness, {}};
    drag_link_ = body.link;
  }
  void drop() override { drag_.reset(); }
  void grab(const io::BodyRef& body, const Vec3<>& point) override {
    grips_[body.link] = Spring{point, point_of(body.link, point), kGrabStiffness, kGrabDamping, {}};
  }
  void release(const io::BodyRef& body) override { grips_.erase(body.link); }

  Vec3<> gravity() const override { return gravity_; }
  void set_gravity(const Vec3<>& gravity) override { gravity_ = gravity; }
  std::vector<serve::LiveControl> controls() const override { return {{"stiffness", 0, 200, stiffness_}}; }
  void set_control(const std::string&, double value) override { stiffness_ = value; }

 private:
  struct Spring {
    Vec3<> point, target;
    double stiffness, damping;
    Vec3<> force;
  };

  Vec3<> point_of(int link, const Vec3<>& point) const { return fk(model_, state_.q)[LinkId(link)] * point; }

  void pull(Spring& spring, int link, const LinkMotions& motions, ExternalForces& external) const {
    const Transform<>& X = motions.poses[LinkId(link)];
    const Motion<>& V = motions.V[std::size_t(link)];
    const Vec3<> arm = X.R * spring.point, at = X.p + arm, velocity = V.v + cross(V.w, arm);
    spring.force = spring.stiffness * (spring.target - at) - spring.damping * velocity;
    Force<>& wrench = external[LinkId(link)];
    wrench = wrench + Force<>{cross(arm, spring.force), spring.force};
  }

  void step() {
    const LinkMotions motions = link_motions(model_, state_, Eigen::VectorXd::Zero(model_.nv()));
    ExternalForces external(model_);
    for (int i = 0; i < model_.link_count(); ++i) {  // the model has no gravity of its own here
      const auto& inertial = model_.link(LinkId(i)).inertial;
      if (!inertial) continue;
      const Vec3<> weight = inertial->mass * gravity_ - kAirDamping * inertial->mass * motions.V[std::size_t(i)].v;
      const Vec3<> arm = motions.poses[LinkId(i)].R * inertial->origin.p;
      external[LinkId(i)] = external[LinkId(i)] + Force<>{cross(arm, weight), weight};
    }
    if (drag_) pull(*drag_, drag_link_, motions, external);
    for (auto& [link, grip] : grips_) pull(grip, link, motions, external);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(model_.nv());
    for (int k = 6; k < model_.nv(); ++k) tau[k] = -stiffness_ * state_.q[k + 1] - 4 * state_.v[k];
    state_.v += kStep * aba(model_, state_, tau, &external).vdot;
    state_.q = integrate(model_, state_.q, kStep * state_.v);
    normalise(model_, state_.q);
    time_ += kStep;
  }

  Model model_ = with_gravity(human28(), {0, 0, 0});
  io::RecordingHeader header_{
      .figures = {{"human", model_}}, .numbers = {{"speed", ""}}, .notes = {{"title", "Floating"}}};
  State state_;
  Vec3<> gravity_{0, 0, 0};
  double time_ = 0, due_ = 0, stiffness_ = 60;
  std::optional<Spring> drag_;
  int drag_link_ = 0;
  std::map<int, Spring> grips_;
};

}  // namespace
}  // namespace kansetsu

int main(int argc, char** argv) {
  kansetsu::FloatingFigure figure;
  const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  kansetsu::serve::Server server({.name = "floating figure", .live = &figure}, {.port = port});
  std::printf("%s\n", server.url().c_str());
  std::fflush(stdout);
  server.run();
}
