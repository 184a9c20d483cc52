#include "kernels.h"

#include "figure.h"

namespace bench::compiled {

void rnea(const double* q, const double* v, const double* vdot, double* tau) { figure::rnea(q, v, vdot, tau); }
void crba(const double* q, double* M) { figure::crba(q, M); }
void aba(const double* q, const double* v, const double* tau, double* vdot) { figure::aba(q, v, tau, vdot); }

template <class Real>
void rnea_rows(std::ptrdiff_t count, const Real* q, const Real* v, const Real* vdot, Real* tau) {
  figure::batch::rnea(count, q, v, vdot, tau);
}
template <class Real>
void crba_rows(std::ptrdiff_t count, const Real* q, Real* M) {
  figure::batch::crba(count, q, M);
}
template <class Real>
void aba_rows(std::ptrdiff_t count, const Real* q, const Real* v, const Real* tau, Real* vdot) {
  figure::batch::aba(count, q, v, tau, vdot);
}

template void rnea_rows(std::ptrdiff_t, const double*, const double*, const double*, double*);
template void crba_rows(std::ptrdiff_t, const double*, double*);
template void aba_rows(std::ptrdiff_t, const double*, const double*, const double*, double*);
template void rnea_rows(std::ptrdiff_t, const float*, const float*, const float*, float*);
template void crba_rows(std::ptrdiff_t, const float*, float*);
template void aba_rows(std::ptrdiff_t, const float*, const float*, const float*, float*);

}  // namespace bench::compiled
