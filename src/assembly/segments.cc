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
#include "kansetsu/spatial/eigen.h"

namespace kansetsu {
namespace {

using RowMatrix6d = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;

/// L with A = L·Lᵀ; A may be singular, as the articulated inertia beyond a hinge always is.
Matrix6d semidefinite_factor(const Matrix6d& A) {
  Matrix6d L = Matrix6d::Zero();
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

/// Data of a segment between the two sweeps of join().
struct SegmentMiddle {
  Matrix6d W, X;  ///< X⁻¹ of its first link
  Matrix6d P;
  Vector6d right, ZJ, U, Z;
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

  /// Velocity before each segment. That of a free base is the velocity before the first segment; its own joint has none.
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

  /// Joins the segments from the tip, then computes the wrenches at their ends from the base.
  void join(const double* q, const double* tau, double* vdot) {
    Matrix6d IJ = Matrix6d::Zero();
    Vector6d ZJ = Vector6d::Zero();
    for (int s = segments - 1; s >= 0; --s) {
      const SegmentShare& share = shares[size_t(s)];
      SegmentMiddle& m = middle[size_t(s)];
      const Matrix6d Gamma = Eigen::Map<const RowMatrix6d>(share.Gamma), E = Eigen::Map<const RowMatrix6d>(share.E);
      const Matrix6d L = semidefinite_factor(IJ);
      const Matrix6d K = Matrix6d::Identity() + L.transpose() * Gamma * L;
      m.W = L * K.llt().solve(Matrix6d(L.transpose()));
      m.ZJ = ZJ;
      m.right = Eigen::Map<const Vector6d>(share.b) - Gamma * ZJ;
      m.P = to_eigen(share.P) + E.transpose() * m.W * E;
      m.Z = to_eigen(share.Z) + E.transpose() * (m.W * m.right + ZJ);
      if (s == 0 && floating) break;
      const ChainLink& link = chain.links[size_t(first(s))];
      const Vector6d S = to_eigen(share.S), C = to_eigen(share.C);
      m.U = m.P * S;
      const double D = S.dot(m.U);
      m.D_inv = D > 0 ? 1 / D : 0;
      m.e = link.ratio * tau[link.column] - S.dot(m.Z) - m.U.dot(C);
      m.X = motion_matrix(inverse(share.X));
      IJ = m.X.transpose() * (m.P - m.D_inv * m.U * m.U.transpose()) * m.X;
      ZJ = m.X.transpose() * (m.Z + m.P * C + m.U * (m.D_inv * m.e));
    }
    Vector6d s_end = Vector6d::Zero();
    s_end.tail<3>() << -chain.gravity.x, -chain.gravity.y, -chain.gravity.z;
    for (int s = 0; s < segments; ++s) {
      SegmentShare& share = shares[size_t(s)];
      const SegmentMiddle& m = middle[size_t(s)];
      Vector6d a;
      if (s == 0 && floating) {
        a = m.P.llt().solve(Eigen::Map<const Vector6d>(tau) - m.Z);
        const Mat3<> R = chain.links[0].X_PJ.R * to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]});
        const Vec3<> g = transpose_times(R, chain.gravity);
        Eigen::Map<Vector6d> base(vdot);
        base = a + (Vector6d() << 0, 0, 0, g.x, g.y, g.z).finished();
      } else {
        const ChainLink& link = chain.links[size_t(first(s))];
        const Vector6d moved = m.X * s_end;
        const double qdd = m.D_inv * (m.e - m.U.dot(moved));
        vdot[link.column] = link.ratio * qdd;
        a = moved + to_eigen(share.C) + qdd * to_eigen(share.S);
      }
      const Matrix6d Gamma = Eigen::Map<const RowMatrix6d>(share.Gamma), E = Eigen::Map<const RowMatrix6d>(share.E);
      const Vector6d r = E * a + m.right, w = m.W * r;
      share.s_first = to_motion(a);
      share.F_end = to_force(-(w + m.ZJ));
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
