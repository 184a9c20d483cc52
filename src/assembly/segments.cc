#define KANSETSU_ISA baseline
#include <Eigen/Cholesky>
#include <algorithm>
#include <cstring>

#include "assembly/chain.h"
#include "assembly/kernel_table.h"
#include "base/aligned_memory.h"
#include "base/spin_pool.h"
#include "kansetsu/assembly/forward.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using RowMat6 = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;

Vec6 vec6(const Motion<>& m) { return (Vec6() << m.w.x, m.w.y, m.w.z, m.v.x, m.v.y, m.v.z).finished(); }
Vec6 vec6(const Force<>& f) { return (Vec6() << f.t.x, f.t.y, f.t.z, f.f.x, f.f.y, f.f.z).finished(); }
Motion<> motion(const Vec6& x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
Force<> force(const Vec6& x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
Mat6 matrix(const ArticulatedInertia<>& P) {
  Mat6 out;
  out << P.A.xx, P.A.xy, P.A.xz, P.B.x.x, P.B.x.y, P.B.x.z,  //
      P.A.xy, P.A.yy, P.A.yz, P.B.y.x, P.B.y.y, P.B.y.z,     //
      P.A.xz, P.A.yz, P.A.zz, P.B.z.x, P.B.z.y, P.B.z.z,     //
      P.B.x.x, P.B.y.x, P.B.z.x, P.M.xx, P.M.xy, P.M.xz,     //
      P.B.x.y, P.B.y.y, P.B.z.y, P.M.xy, P.M.yy, P.M.yz,     //
      P.B.x.z, P.B.y.z, P.B.z.z, P.M.xz, P.M.yz, P.M.zz;
  return out;
}
/// Six motions of a carrier, seen from a body at X: the columns of X⁻¹.
Mat6 to_child(const Transform<>& X) {
  Mat6 out;
  for (int k = 0; k < 6; ++k) out.col(k) = vec6(inverse_times(X, motion(Vec6::Unit(k))));
  return out;
}
/// L with A = L·Lᵀ; A may be singular, as what a hinge passes on always is.
Mat6 semidefinite_factor(const Mat6& A) {
  Mat6 L = Mat6::Zero();
  const double floor = 1e-15 * A.trace();
  for (int j = 0; j < 6; ++j) {
    const double d = A(j, j) - L.row(j).head(j).squaredNorm();
    if (!(d > floor)) continue;
    L(j, j) = std::sqrt(d);
    for (int i = j + 1; i < 6; ++i) L(i, j) = (A(i, j) - L.row(i).head(j).dot(L.row(j).head(j))) / L(j, j);
  }
  return L;
}

}  // namespace

/// What the middle pass keeps of a segment.
struct SegmentMiddle {
  Mat6 W, X;  ///< X⁻¹ of its first link
  Mat6 P;
  Vec6 right, ZJ, U, Z;
  double D_inv, e;
};

static AlignedMemory aligned_zeros(size_t size) {
  AlignedMemory memory = make_aligned(size);
  std::memset(memory.get(), 0, size);
  return memory;
}

struct SegmentDynamics::Impl {
  Chain chain;
  int nq, nv, threads, groups, segments, length;  ///< groups of lanes; links of the longest segment
  bool floating;
  const kernel::SegmentKernels& kernels;
  struct Group {
    AlignedMemory links, steps;
    AlignedMemory numbers;  ///< q, rate, u, qdd: `length` rows of `width`
    double shorter[8] = {};
    double* row(int which, int links_in_lane, int width) const {
      return reinterpret_cast<double*>(numbers.get()) + size_t(which * links_in_lane * width);
    }
  };
  std::vector<Group> group;
  std::vector<SegmentShare> shares;
  std::vector<SegmentMiddle> middle;
  SpinPool pool;

  Impl(const Model& model, int thread_count, int wanted)
      : chain(make_chain(model)),
        nq(model.nq()),
        nv(model.nv()),
        threads(std::max(1, thread_count)),
        floating(chain.free_base),
        kernels(kernel::segments()),
        pool(threads) {
    const int n = int(chain.links.size()), width = kernels.width;
    groups = wanted > 0 ? std::max(1, wanted / width) : threads;
    groups = std::max(1, std::min(groups, n / (2 * width)));
    segments = groups * width;
    if (n < 2 * segments)
      throw Error("SegmentDynamics: " + std::to_string(n) + " links are too few for " + std::to_string(segments) +
                  " segments");
    length = (n + segments - 1) / segments;
    shares.resize(size_t(segments));
    middle.resize(size_t(segments));
    group.resize(size_t(groups));
    for (int g = 0; g < groups; ++g) {
      Group& out = group[size_t(g)];
      out.links = aligned_zeros(kernels.link_bytes * size_t(length));
      out.steps = aligned_zeros(kernels.step_bytes * size_t(length));
      out.numbers = aligned_zeros(sizeof(double) * size_t(4 * length * width));
      for (int lane = 0; lane < width; ++lane) {
        const int s = g * width + lane;
        out.shorter[lane] = size(s) < length;
        for (int k = 0; k < length; ++k)
          kernels.set_link(out.links.get(), k, lane, chain.links[size_t(std::min(first(s) + k, n - 1))]);
      }
    }
  }

  int first(int s) const { return int(long(chain.links.size()) * s / segments); }
  int size(int s) const { return first(s + 1) - first(s); }

  void place(int g, const double* q, const double* v, const double* tau) {
    const int width = kernels.width;
    Group& out = group[size_t(g)];
    double *angle = out.row(0, length, width), *rate = out.row(1, length, width), *u = out.row(2, length, width);
    for (int lane = 0; lane < width; ++lane) {
      const int s = g * width + lane;
      for (int k = 0; k < size(s); ++k) {
        const ChainLink& link = chain.links[size_t(first(s) + k)];
        const int at = k * width + lane;
        const bool free = floating && first(s) + k == 0;
        angle[at] = free ? 0.0 : madd(link.ratio, q[link.position], link.offset);
        rate[at] = free ? 0.0 : link.ratio * v[link.column];
        u[at] = free ? 0.0 : link.ratio * tau[link.column];
      }
    }
    kernels.place(out.links.get(), out.steps.get(), length, angle, rate, u, out.shorter, shares.data() + g * width);
  }

  /// Velocity before each segment. A free base stands still in its own joint and gets its velocity from before it.
  void scan(const double* v) {
    Motion<> V{};
    if (floating) V = chain.links[0].X_PJ * Motion<>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    for (SegmentShare& share : shares) {
      share.V_before = V;
      V = inverse_times(share.carry.X, V) + share.carry.v;
    }
  }

  void reduce(int g) {
    kernels.reduce(group[size_t(g)].links.get(), group[size_t(g)].steps.get(), length, group[size_t(g)].shorter,
                   shares.data() + g * kernels.width);
  }

  /// Joins the segments from the tip, then finds what acts at their ends from the base.
  void join(const double* q, const double* tau, double* vdot) {
    Mat6 IJ = Mat6::Zero();
    Vec6 ZJ = Vec6::Zero();
    for (int s = segments - 1; s >= 0; --s) {
      const SegmentShare& share = shares[size_t(s)];
      SegmentMiddle& m = middle[size_t(s)];
      const Mat6 Gamma = Eigen::Map<const RowMat6>(share.Gamma), E = Eigen::Map<const RowMat6>(share.E);
      const Mat6 L = semidefinite_factor(IJ);
      const Mat6 K = Mat6::Identity() + L.transpose() * Gamma * L;
      m.W = L * K.llt().solve(Mat6(L.transpose()));
      m.ZJ = ZJ;
      m.right = Eigen::Map<const Vec6>(share.b) - Gamma * ZJ;
      m.P = matrix(share.P) + E.transpose() * m.W * E;
      m.Z = vec6(share.Z) + E.transpose() * (m.W * m.right + ZJ);
      if (s == 0 && floating) break;
      const ChainLink& link = chain.links[size_t(first(s))];
      const Vec6 S = vec6(share.S), C = vec6(share.C);
      m.U = m.P * S;
      const double D = S.dot(m.U);
      m.D_inv = D > 0 ? 1 / D : 0;
      m.e = link.ratio * tau[link.column] - S.dot(m.Z) - m.U.dot(C);
      m.X = to_child(share.X);
      IJ = m.X.transpose() * (m.P - m.D_inv * m.U * m.U.transpose()) * m.X;
      ZJ = m.X.transpose() * (m.Z + m.P * C + m.U * (m.D_inv * m.e));
    }
    Vec6 s_end = Vec6::Zero();
    s_end.tail<3>() << -chain.gravity.x, -chain.gravity.y, -chain.gravity.z;
    for (int s = 0; s < segments; ++s) {
      SegmentShare& share = shares[size_t(s)];
      const SegmentMiddle& m = middle[size_t(s)];
      Vec6 a;
      if (s == 0 && floating) {
        a = m.P.llt().solve(Eigen::Map<const Vec6>(tau) - m.Z);
        const Mat3<> R = chain.links[0].X_PJ.R * to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]});
        const Vec3<> g = transpose_times(R, chain.gravity);
        Eigen::Map<Vec6> base(vdot);
        base = a + (Vec6() << 0, 0, 0, g.x, g.y, g.z).finished();
      } else {
        const ChainLink& link = chain.links[size_t(first(s))];
        const Vec6 moved = m.X * s_end;
        const double qdd = m.D_inv * (m.e - m.U.dot(moved));
        vdot[link.column] = link.ratio * qdd;
        a = moved + vec6(share.C) + qdd * vec6(share.S);
      }
      const Mat6 Gamma = Eigen::Map<const RowMat6>(share.Gamma), E = Eigen::Map<const RowMat6>(share.E);
      const Vec6 r = E * a + m.right, w = m.W * r;
      share.s_first = motion(a);
      share.F_end = force(-(w + m.ZJ));
      s_end = r - Gamma * w;
    }
  }

  void finish(int g, double* vdot) {
    const int width = kernels.width;
    Group& out = group[size_t(g)];
    double* qdd = out.row(3, length, width);
    kernels.finish(out.links.get(), out.steps.get(), length, shares.data() + g * width, qdd);
    for (int lane = 0; lane < width; ++lane) {
      const int s = g * width + lane;
      for (int k = 1; k < size(s); ++k) {
        const ChainLink& link = chain.links[size_t(first(s) + k)];
        vdot[link.column] = link.ratio * qdd[k * width + lane];
      }
    }
  }

  void solve(const double* q, const double* v, const double* tau, double* vdot) {
    pool.run([&](int w) {
      for (int g = w; g < groups; g += threads) place(g, q, v, tau);
      pool.barrier();
      if (w == 0) scan(v);
      pool.barrier();
      for (int g = w; g < groups; g += threads) reduce(g);
      pool.barrier();
      if (w == 0) join(q, tau, vdot);
      pool.barrier();
      for (int g = w; g < groups; g += threads) finish(g, vdot);
    });
  }
};

SegmentDynamics::SegmentDynamics(const Model& model, int threads, int segments)
    : impl_(std::make_unique<Impl>(model, threads, segments)) {}

std::optional<std::string> SegmentDynamics::unsupported(const Model& model) {
  if (auto problem = chain_problem(model)) return problem;
  const int least = 2 * kernel::segments().width;
  if (model.tree().body_count() < least)
    return "it has fewer than " + std::to_string(least) + " links, two for each lane of a register";
  return std::nullopt;
}

int SegmentDynamics::segments() const { return impl_->segments; }

void SegmentDynamics::solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot) {
  check_size("solve", "q", state.q.size(), impl_->nq);
  check_size("solve", "v", state.v.size(), impl_->nv);
  check_size("solve", "tau", tau.size(), impl_->nv);
  check_size("solve", "the result", vdot.size(), impl_->nv);
  impl_->solve(state.q.data(), state.v.data(), tau.data(), vdot.data());
}

}  // namespace kansetsu
