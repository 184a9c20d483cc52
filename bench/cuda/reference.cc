#include "reference.h"

#include <cmath>
#include <limits>

namespace kansetsu::bench {

Reference::Reference(const Model& model)
    : model_(model), work_(model), poses_(model), rnea_(model), aba_(model), M_(model.nv(), model.nv()) {}

void Reference::append(const Eigen::VectorXd& v) { out_.insert(out_.end(), v.data(), v.data() + v.size()); }
void Reference::append(const Eigen::MatrixXd& m) {
  for (long r = 0; r < m.rows(); ++r) {
    for (long c = 0; c < m.cols(); ++c) out_.push_back(m(r, c));
  }
}

std::vector<double> Reference::operator()(const std::string& name, const State& s, const Eigen::VectorXd& x) {
  out_.clear();
  if (name == "fk") {
    fk(model_, s.q, work_, poses_);
    for (const Transform<>& X : poses_.X_WL) {
      const double numbers[] = {X.R.x.x, X.R.x.y, X.R.x.z, X.R.y.x, X.R.y.y, X.R.y.z,
                                X.R.z.x, X.R.z.y, X.R.z.z, X.p.x,   X.p.y,   X.p.z};
      out_.insert(out_.end(), numbers, numbers + 12);
    }
  } else if (name == "rnea") {
    Eigen::VectorXd tau(model_.nv());
    rnea(model_, s, x, work_, tau);
    append(tau);
  } else if (name == "aba") {
    aba(model_, s, x, work_, aba_.forward);
    append(aba_.forward.vdot);
  } else if (name == "crba") {
    crba(model_, s.q, work_, M_);
    append(M_);
  } else if (name == "mass_matrix_inverse") {
    mass_matrix_inverse(model_, s.q, work_, M_);
    append(M_);
  } else if (name == "rnea_derivatives") {
    rnea_derivatives(model_, s, x, work_, rnea_);
    append(rnea_.dq);
    append(rnea_.dv);
    append(rnea_.da);
  } else if (name == "aba_derivatives") {
    aba_derivatives(model_, s, x, work_, aba_);
    append(aba_.forward.vdot);
    append(aba_.dq);
    append(aba_.dv);
    append(aba_.dtau);
  }
  return out_;
}

State nudged(const State& s, std::mt19937_64& rng) {
  State out = s;
  for (Eigen::VectorXd* numbers : {&out.q, &out.v}) {
    for (double& x : *numbers) x = std::nextafter(x, rng() % 2 ? HUGE_VAL : -HUGE_VAL);
  }
  return out;
}

void DeviationSum::add(double difference, double size) {
  lost_ |= !(difference >= 0);
  difference_ += difference;
  size_ += size;
  worst_.worst = std::max(worst_.worst, std::sqrt(difference / size));
  ++worst_.checked;
}

void DeviationSum::add_sensitivity(double difference, double size) {
  moved_ += difference;
  moved_size_ += size;
  worst_.worst_sensitivity = std::max(worst_.worst_sensitivity, std::sqrt(difference / size));
}

void DeviationSum::add(const DeviationSum& other) {
  lost_ |= other.lost_;
  difference_ += other.difference_;
  size_ += other.size_;
  moved_ += other.moved_;
  moved_size_ += other.moved_size_;
  worst_.worst = std::max(worst_.worst, other.worst_.worst);
  worst_.worst_sensitivity = std::max(worst_.worst_sensitivity, other.worst_.worst_sensitivity);
  worst_.checked += other.worst_.checked;
}

Deviation DeviationSum::value() const {
  Deviation out = worst_;
  out.overall = lost_ ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(difference_ / size_);
  if (moved_size_ > 0) out.sensitivity = std::sqrt(moved_ / moved_size_);
  return out;
}

}  // namespace kansetsu::bench
