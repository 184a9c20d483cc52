#include "kansetsu/model/configuration.h"

#include <fmt/format.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/is_rotation.h"
#include "kansetsu/spatial/rotations.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

/// A stretch of q and v: n numbers that just add up, a quaternion, or a pose.
struct CoordinateBlock {
  enum Kind { kVector, kBall, kFree } kind;
  int q, v, n;  ///< n position coordinates
};

/// Joint by joint; any model.
template <class F>
void for_each_joint_block(const Model& model, F&& f) {
  if (const CoordinateRange r = model.base_coordinates(); r.nv > 0)
    f(CoordinateBlock{CoordinateBlock::kFree, r.q, r.v, r.nq});
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange r = model.coordinates(JointId(j));
    if (r.nq == 0) continue;
    const bool vector = r.nq == r.nv;
    f(CoordinateBlock{vector      ? CoordinateBlock::kVector
                      : r.nq == 4 ? CoordinateBlock::kBall
                                  : CoordinateBlock::kFree,
                      r.q, r.v, r.nq});
  }
}

/// Without couplings every quaternion in q belongs to one primitive of the tree, in order, and all that lies between two of
/// them adds up in one go.
template <class F>
void for_each_block(const Model& model, F&& f) {
  const Tree& tree = model.tree();
  if (!tree.simple) return for_each_joint_block(model, f);
  int q = 0, v = 0;
  for (const LargePrimitive& large : tree.large) {
    if (large.q > q) f(CoordinateBlock{CoordinateBlock::kVector, q, v, large.q - q});
    v += large.q - q;
    const bool ball = tree.bodies[std::size_t(large.body)].kind == PrimitiveKind::kBall;
    f(CoordinateBlock{ball ? CoordinateBlock::kBall : CoordinateBlock::kFree, large.q, v, ball ? 4 : 7});
    q = large.q + (ball ? 4 : 7);
    v += ball ? 3 : 6;
  }
  if (tree.nq > q) f(CoordinateBlock{CoordinateBlock::kVector, q, v, tree.nq - q});
}

Vec3<> vec3_at(const VectorRef& x, int i) { return {x[i], x[i + 1], x[i + 2]}; }
Quaternion<> quaternion_at(const VectorRef& q, int i) { return {q[i], q[i + 1], q[i + 2], q[i + 3]}; }
void put(const Vec3<>& a, Eigen::Ref<Eigen::VectorXd> x, int i) {
  x[i] = a.x;
  x[i + 1] = a.y;
  x[i + 2] = a.z;
}
void put(const Quaternion<>& a, Eigen::Ref<Eigen::VectorXd> x, int i) {
  put(a.vector(), x, i);
  x[i + 3] = a.w;
}

void check_q(const char* function, const Model& model, long size) { check_size(function, "q", size, model.nq()); }
void check_v(const char* function, const Model& model, long size) { check_size(function, "v", size, model.nv()); }

}  // namespace

Eigen::VectorXd neutral(const Model& model) {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(model.nq());
  normalise(model, q);
  return q;
}

void integrate(const Model& model, const VectorRef& q, const VectorRef& v, Eigen::Ref<Eigen::VectorXd> out) {
  check_q("integrate", model, q.size());
  check_v("integrate", model, v.size());
  check_size("integrate", "out", out.size(), model.nq());
  for_each_block(model, [&](const CoordinateBlock& b) {
    if (b.kind == CoordinateBlock::kVector) {
      for (int i = 0; i < b.n; ++i) out[b.q + i] = q[b.q + i] + v[b.v + i];
      return;
    }
    const Vec3<> w = vec3_at(v, b.v);
    const int rotation = b.kind == CoordinateBlock::kFree ? b.q + 3 : b.q;
    const Quaternion<> r = quaternion_at(q, rotation);
    if (b.kind == CoordinateBlock::kFree) {
      // SE(3): a constant twist in body axes moves along a screw, p + R·Jl(ω)·v
      put(vec3_at(q, b.q) + rotate(r, left_jacobian(w) * vec3_at(v, b.v + 3)), out, b.q);
    }
    put(normalised(r * exp_quaternion(w)), out, rotation);
  });
}

void difference(const Model& model, const VectorRef& a, const VectorRef& b, Eigen::Ref<Eigen::VectorXd> out) {
  check_size("difference", "a", a.size(), model.nq());
  check_size("difference", "b", b.size(), model.nq());
  check_size("difference", "out", out.size(), model.nv());
  for_each_block(model, [&](const CoordinateBlock& block) {
    if (block.kind == CoordinateBlock::kVector) {
      for (int i = 0; i < block.n; ++i) out[block.v + i] = b[block.q + i] - a[block.q + i];
      return;
    }
    const int rotation = block.kind == CoordinateBlock::kFree ? block.q + 3 : block.q;
    const Quaternion<> r = quaternion_at(a, rotation);
    const Vec3<> w = log_rotation(conjugate(r) * quaternion_at(b, rotation));
    put(w, out, block.v);
    if (block.kind == CoordinateBlock::kFree) {
      const Vec3<> p = inverse_rotate(r, vec3_at(b, block.q) - vec3_at(a, block.q));
      put(left_jacobian_inverse(w) * p, out, block.v + 3);
    }
  });
}

Eigen::VectorXd integrate(const Model& model, const VectorRef& q, const VectorRef& v) {
  Eigen::VectorXd out(model.nq());
  integrate(model, q, v, out);
  return out;
}

Eigen::VectorXd difference(const Model& model, const VectorRef& a, const VectorRef& b) {
  Eigen::VectorXd out(model.nv());
  difference(model, a, b, out);
  return out;
}

Eigen::VectorXd interpolate(const Model& model, const VectorRef& a, const VectorRef& b, double s) {
  return integrate(model, a, s * difference(model, a, b));
}

void normalise(const Model& model, Eigen::Ref<Eigen::VectorXd> q) {
  check_q("normalise", model, q.size());
  for_each_block(model, [&](const CoordinateBlock& b) {
    if (b.kind == CoordinateBlock::kVector) return;
    const int i = b.kind == CoordinateBlock::kFree ? b.q + 3 : b.q;
    Quaternion<> r = quaternion_at(q, i);
    if (!is_rotation(r)) {  // no number holds its square
      const double largest = q.segment<4>(i).cwiseAbs().maxCoeff();
      r = largest > 0 ? Quaternion<>{r.x / largest, r.y / largest, r.z / largest, r.w / largest} : Quaternion<>{};
    }
    put(normalised(r), q, i);
  });
}

void position_rate(const Model& model, const VectorRef& q, const VectorRef& v, Eigen::Ref<Eigen::VectorXd> rate) {
  check_q("position_rate", model, q.size());
  check_v("position_rate", model, v.size());
  check_size("position_rate", "rate", rate.size(), model.nq());
  for_each_block(model, [&](const CoordinateBlock& b) {
    if (b.kind == CoordinateBlock::kVector) {
      rate.segment(b.q, b.n) = v.segment(b.v, b.n);
      return;
    }
    const int rotation = b.kind == CoordinateBlock::kFree ? b.q + 3 : b.q;
    const Quaternion<> r = quaternion_at(q, rotation);
    const Vec3<> w = vec3_at(v, b.v);
    put(0.5 * (r * Quaternion<>{w.x, w.y, w.z, 0}), rate, rotation);
    if (b.kind == CoordinateBlock::kFree) put(rotate(r, vec3_at(v, b.v + 3)), rate, b.q);
  });
}
Eigen::VectorXd position_rate(const Model& model, const VectorRef& q, const VectorRef& v) {
  Eigen::VectorXd rate(model.nq());
  position_rate(model, q, v, rate);
  return rate;
}

std::optional<std::string> configuration_problem(const Model& model, const VectorRef& q) {
  if (q.size() != model.nq()) return fmt::format("q has size {}, expected {}", q.size(), model.nq());
  for (int i = 0; i < model.nq(); ++i) {
    if (!std::isfinite(q[i])) return fmt::format("q[{}] is {}", i, q[i]);
  }
  std::optional<std::string> problem;
  for_each_block(model, [&](const CoordinateBlock& b) {
    if (b.kind == CoordinateBlock::kVector || problem) return;
    const int i = b.kind == CoordinateBlock::kFree ? b.q + 3 : b.q;
    const Quaternion<> r = quaternion_at(q, i);
    const double length = std::sqrt(dot(r, r));
    if (std::abs(length - 1) <= kUnitQuaternion) return;
    problem = fmt::format("the quaternion at q[{}…{}] has length {}, expected 1", i, i + 3, length);
  });
  return problem;
}

}  // namespace kansetsu
