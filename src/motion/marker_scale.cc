#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>

#include "kansetsu/base/error.h"
#include "kansetsu/model/edit.h"
#include "motion/marker_solver.h"

/// Sizes of segments, places of markers and postures of a few frames, all at once: each frame's posture is eliminated, so that what is
/// left has as many unknowns as sizes and places. docs/theory/markers.md.
namespace kansetsu {
namespace {

/// [m] that markers stray from their places on a person, by skin and by noise; frames of one trial stray alike, so that all of them together
/// count as so many.
constexpr double kMarkerNoise = 0.01, kIndependent = 8;
constexpr int kSizeRounds = 30;

/// The name without its side: segments of both sides are alike.
std::string without_side(const std::string& name) {
  for (const auto& [mark, at_end] : {std::pair{"_r", true},
                                     {"_l", true},
                                     {"_R", true},
                                     {"_L", true},
                                     {".r", true},
                                     {".l", true},
                                     {"R", true},
                                     {"L", true}}) {
    const std::string_view m(mark);
    if (at_end && name.size() > m.size() && name.ends_with(m)) return name.substr(0, name.size() - m.size());
  }
  for (const std::string_view side : {"left", "right", "Left", "Right"})
    if (const std::size_t at = name.find(side); at != std::string::npos)
      return name.substr(0, at) + name.substr(at + side.size());
  return name;
}

class FigureFit {
 public:
  FigureFit(const MarkerFigure& figure, const Markers& seen, double mass, const FitOptions& options)
      : given_(figure), options_(options), mass_(mass > 0 ? mass / figure.model.mass() : 1), current_(figure) {
    find_groups();
    choose_frames(seen);
    const std::size_t markers = figure.markers.size();
    size_ = 1 + int(deviations_.size()) + (options.move_markers ? int(3 * markers) : 0);
    offsets_.assign(markers, {});
  }

  ScaledFigure run() {
    size_of_body();
    postures();
    double damping = 1e-3, now = cost();
    for (int k = 0; k < kSizeRounds; ++k) {
      const Eigen::VectorXd step = newton_step(damping);
      const State before = state();
      apply(step);
      const double then = cost();
      if (then < now) {
        const bool still = now - then < 1e-6 * now;
        now = then, damping *= 0.2;
        if (still) break;
      } else {
        restore(before);
        damping = 10 * std::max(damping, 1e-6);
        if (damping > 1e6) break;
      }
    }
    ScaledFigure out{.figure = current_, .scales = {}, .moved = offsets_};
    for (int i = 0; i < given_.model.link_count(); ++i)
      if (const LinkDescription& link = given_.model.link(LinkId(i)); link.inertial)
        out.scales.push_back({link.name, scale_of(i)});
    out.rms = std::sqrt(2 * residual_ / std::max(1.0, count_));
    return out;
  }

 private:
  struct State {
    double body;
    std::vector<double> deviations;
    std::vector<Vec3<>> offsets;
    std::vector<Eigen::VectorXd> postures;
  };
  State state() const { return {body_, deviations_, offsets_, postures_}; }
  void restore(const State& s) {
    body_ = s.body, deviations_ = s.deviations, offsets_ = s.offsets, postures_ = s.postures;
    rebuild();
  }

  /// Links without mass are parts of joints, which grow with the parent.
  void find_groups() {
    const Model& model = given_.model;
    std::map<std::string, int> known;
    for (int i = 0; i < model.link_count(); ++i) {
      const LinkDescription& link = model.link(LinkId(i));
      const std::optional<LinkId> parent = model.parent(LinkId(i));
      if (!link.inertial && parent) {
        groups_.push_back(groups_[std::size_t(parent->value())]);
        continue;
      }
      const auto [found, fresh] = known.try_emplace(without_side(link.name), int(deviations_.size()));
      if (fresh) deviations_.push_back(0);
      groups_.push_back(found->second);
    }
  }

  void choose_frames(const Markers& seen) {
    const std::vector<int> columns = columns_of(given_, seen);
    const int n = seen.frames(), wanted = std::min(n, std::max(1, options_.frames));
    for (int k = 0; k < wanted; ++k) {
      std::vector<Vec3<>> points;
      double count = 0;
      for (const int c : columns) points.push_back(seen.point(int((k + 0.5) * n / wanted), c));
      for (const Vec3<>& p : points) count += Markers::seen(p) ? 1 : 0;
      if (count < 3 || count < 0.7 * double(columns.size())) continue;
      seen_.push_back(std::move(points));
      count_ += count;
    }
    if (seen_.empty()) throw Error("markers: no frame has most of the figure's markers");
    weight_ = std::min(1.0, kIndependent / double(seen_.size())) / (kMarkerNoise * kMarkerNoise);
  }

  double scale_of(int link) const { return body_ * (1 + deviations_[std::size_t(groups_[std::size_t(link)])]); }

  void rebuild() {
    std::vector<double> lengths;
    for (int i = 0; i < given_.model.link_count(); ++i) lengths.push_back(scale_of(i));
    Model scaled = scale_links(given_.model, lengths, mass_);
    ModelDescription description = scaled.description();
    current_.markers = given_.markers;
    for (std::size_t i = 0; i < current_.markers.size(); ++i) {
      ModelMarker& m = current_.markers[i];
      m.p_L = lengths[std::size_t(m.link.value())] * m.p_L + offsets_[i];
      for (FrameDescription& frame : description.frames)
        if (frame.name == m.name) frame.origin.p = m.p_L;
    }
    current_.model = value_or_throw(Model::build(std::move(description)));
    if (!given_.map) return;
    current_.map = given_.map;
    current_.map->base_plug.p = lengths[0] * current_.map->base_plug.p;
    for (auto& [name, axis] : current_.map->joints) {
      const JointId joint = given_.model.joint_id(name);
      if (given_.model.joint(joint).type == JointType::kPrismatic)
        axis.function.scale *= lengths[std::size_t(given_.model.parent_link(joint).value())];
    }
  }

  /// The whole body alike, from one frame: the scale at which its markers fit best.
  void size_of_body() {
    const auto cost_at = [&](double body) {
      body_ = body;
      rebuild();
      MarkerSolver solver(current_);
      start_ = solver.begin(seen_.front());
      return solver.cost(seen_.front());
    };
    double best = 1, least = kInfinity;
    for (const double body : {0.6, 0.8, 1.0, 1.2})
      if (const double c = cost_at(body); c < least) least = c, best = body;
    double low = best - 0.2, high = best + 0.2;
    for (int k = 0; k < 8; ++k) {
      const double a = low + 0.4 * (high - low), b = low + 0.6 * (high - low);
      (cost_at(a) < cost_at(b) ? high : low) = cost_at(a) < cost_at(b) ? b : a;
    }
    cost_at(0.5 * (low + high));
  }

  void postures() {
    MarkerSolver solver(current_);
    Eigen::VectorXd x = start_;
    for (const auto& points : seen_) {
      solver.solve(points, x, 100);
      postures_.push_back(x);
    }
  }

  /// What is left of markers, and how unlikely sizes and places are.
  double cost() {
    MarkerSolver solver(current_);
    residual_ = 0;
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      solver.configure(postures_[k]);
      residual_ += solver.cost(seen_[k]);
    }
    double prior = 0;
    for (const double d : deviations_) prior += 0.5 * d * d / (options_.scale * options_.scale);
    for (const Vec3<>& o : offsets_) prior += 0.5 * dot(o, o) / (options_.offset * options_.offset);
    return weight_ * residual_ + prior;
  }

  /// Of one marker's place by the body's size, the segments' deviations and the markers' own places.
  void parameter_jacobian(std::size_t i, const LinkPoses& poses, Eigen::Ref<Eigen::MatrixXd> J) const {
    const Model& model = current_.model;
    const ModelMarker& m = current_.markers[i];
    J.setZero();
    const auto joint_of = [&](int link) {
      const Transform<>& X = poses[LinkId(link)];
      if (link > 0) return X * model.joint(JointId(link - 1)).plug.p;
      return current_.map ? X * current_.map->base_plug.p : X.p;
    };
    const auto add = [&](int link, const Vec3<>& part) {
      const int g = groups_[std::size_t(link)];
      const Eigen::Vector3d p(part.x, part.y, part.z);
      J.col(0) += p / body_;
      J.col(1 + g) += p / (1 + deviations_[std::size_t(g)]);
    };
    const Transform<>& X = poses[m.link];
    int link = m.link.value();
    add(link, X * (m.p_L - offsets_[i]) - joint_of(link));
    for (std::optional<LinkId> up = model.parent(LinkId(link)); up; up = model.parent(LinkId(link))) {
      add(up->value(), joint_of(link) - joint_of(up->value()));
      link = up->value();
    }
    if (!options_.move_markers) return;
    const long own = 1 + long(deviations_.size() + 3 * i);
    J.col(own) << X.R.x.x, X.R.y.x, X.R.z.x;
    J.col(own + 1) << X.R.x.y, X.R.y.y, X.R.z.y;
    J.col(own + 2) << X.R.x.z, X.R.y.z, X.R.z.z;
  }

  /// A step of Gauss and Newton in sizes and places; postures_ follow in apply().
  Eigen::VectorXd newton_step(double damping) {
    MarkerSolver solver(current_);
    const int n = solver.unknowns();
    Eigen::MatrixXd S = Eigen::MatrixXd::Zero(size_, size_), Jp(3, size_), Jx(3, n);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(size_);
    back_.clear();
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      solver.configure(postures_[k]);
      solver.expand(seen_[k]);
      Eigen::MatrixXd A = solver.curvature().selfadjointView<Eigen::Lower>(), B = Eigen::MatrixXd::Zero(n, size_);
      A.diagonal().array() += 1e-6;
      for (std::size_t i = 0; i < seen_[k].size(); ++i) {
        if (!Markers::seen(seen_[k][i])) continue;
        const ModelMarker& m = current_.markers[i];
        const Vec3<> p = solver.poses()[m.link] * m.p_L, e = p - seen_[k][i];
        parameter_jacobian(i, solver.poses(), Jp);
        solver.point_jacobian(m.link, p, Jx);
        B += m.weight * Jx.transpose() * Jp;
        S += weight_ * m.weight * Jp.transpose() * Jp;
        right += weight_ * m.weight * Jp.transpose() * Eigen::Vector3d(e.x, e.y, e.z);
      }
      const Eigen::LLT<Eigen::MatrixXd> llt(A);
      const Eigen::MatrixXd AB = llt.solve(B);
      const Eigen::VectorXd Ag = llt.solve(solver.gradient());
      S -= weight_ * B.transpose() * AB;
      right -= weight_ * B.transpose() * Ag;
      back_.push_back({AB, Ag});
    }
    for (std::size_t g = 0; g < deviations_.size(); ++g) {
      const double w = 1 / (options_.scale * options_.scale);
      S(1 + long(g), 1 + long(g)) += w, right[1 + long(g)] += w * deviations_[g];
    }
    for (std::size_t i = 0; options_.move_markers && i < offsets_.size(); ++i) {
      const double w = 1 / (options_.offset * options_.offset);
      const long own = 1 + long(deviations_.size() + 3 * i);
      for (long a = 0; a < 3; ++a) S(own + a, own + a) += w;
      right.segment<3>(own) += w * Eigen::Vector3d(offsets_[i].x, offsets_[i].y, offsets_[i].z);
    }
    S.diagonal().array() += 1e-9 + damping * S.diagonal().array();
    return -S.ldlt().solve(right);
  }

  void apply(const Eigen::VectorXd& step) {
    const double most = 0.1;  // a segment grows by a tenth at most in one step
    double shorter = 1;
    for (long i = 0; i <= long(deviations_.size()); ++i)
      shorter = std::min(shorter, most / std::max(most, std::abs(step[i])));
    const Eigen::VectorXd s = shorter * step;
    body_ += s[0];
    for (std::size_t g = 0; g < deviations_.size(); ++g) deviations_[g] += s[1 + long(g)];
    for (std::size_t i = 0; options_.move_markers && i < offsets_.size(); ++i) {
      const long own = 1 + long(deviations_.size() + 3 * i);
      offsets_[i] += {s[own], s[own + 1], s[own + 2]};
    }
    rebuild();
    MarkerSolver solver(current_);
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      solver.advance(postures_[k], -(back_[k].second + back_[k].first * s));
      solver.follow(seen_[k], postures_[k]);
    }
  }

  const MarkerFigure& given_;
  FitOptions options_;
  double mass_ = 1;
  MarkerFigure current_;
  std::vector<int> groups_;  ///< of links
  int size_ = 0;
  double body_ = 1;
  std::vector<double> deviations_;  ///< of segments from the body's size
  std::vector<Vec3<>> offsets_;
  std::vector<std::vector<Vec3<>>> seen_;
  double count_ = 0, weight_ = 1, residual_ = 0;
  Eigen::VectorXd start_;
  std::vector<Eigen::VectorXd> postures_;
  std::vector<std::pair<Eigen::MatrixXd, Eigen::VectorXd>> back_;  ///< ∂posture/∂parameters, and its own step
};

}  // namespace

ScaledFigure fit_figure(const MarkerFigure& figure, const Markers& seen, double mass, const FitOptions& options) {
  if (figure.markers.size() < 3)
    throw Error(fmt::format("{} of the markers of '{}' were measured, three are needed", figure.markers.size(),
                            figure.model.name()));
  return FigureFit(figure, seen, mass, options).run();
}

}  // namespace kansetsu
