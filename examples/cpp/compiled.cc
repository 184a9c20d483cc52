// The dynamics of a figure from one generated header: `kansetsu compile human28 -o generated` has written it.
#include <cstdio>
#include <vector>

#include "human28_model.h"

namespace figure = human28_model;

int main() {
  // Upright, the pelvis a metre above the ground: x, y, z, then a quaternion (x, y, z, w), then the joints.
  std::vector<double> q(figure::nq, 0.0), v(figure::nv, 0.0), rest(v), tau(v), vdot(v), M(v.size() * v.size());
  q[2] = 1.0, q[6] = 1.0;

  figure::rnea(q.data(), v.data(), rest.data(), tau.data());  // torques at rest: the pelvis carries the weight
  figure::crba(q.data(), M.data());
  std::printf("weight %.1f N, mass %.2f kg\n", tau[5], M[5 * figure::nv + 5]);
  figure::aba(q.data(), v.data(), rest.data(), vdot.data());  // without torques it falls
  std::printf("the pelvis falls at %.3f m/s²\n", vdot[5]);

  // A thousand figures that bend a knee, each a little faster than the last: a register full of them at a time.
  constexpr int kCount = 1000, kKnee = 23;
  std::vector<double> Q, V, T(kCount * v.size()), A(T);
  for (int i = 0; i < kCount; ++i) {
    v[kKnee] = 0.01 * (i + 1);
    Q.insert(Q.end(), q.begin(), q.end());
    V.insert(V.end(), v.begin(), v.end());
  }
  figure::batch::aba(kCount, Q.data(), V.data(), T.data(), A.data());
  std::printf("with a knee that turns at 10 rad/s it falls at %.3f m/s²\n", A[(kCount - 1) * v.size() + 5]);
}
