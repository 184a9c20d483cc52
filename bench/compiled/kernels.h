#pragma once

#include <cstddef>

/// The compiled model behind plain functions, so that only kernels.cc is compiled for this processor.
namespace bench::compiled {

void rnea(const double* q, const double* v, const double* vdot, double* tau);
void crba(const double* q, double* M);
void aba(const double* q, const double* v, const double* tau, double* vdot);

template <class Real>
void rnea_rows(std::ptrdiff_t count, const Real* q, const Real* v, const Real* vdot, Real* tau);
template <class Real>
void crba_rows(std::ptrdiff_t count, const Real* q, Real* M);
template <class Real>
void aba_rows(std::ptrdiff_t count, const Real* q, const Real* v, const Real* tau, Real* vdot);

}  // namespace bench::compiled
