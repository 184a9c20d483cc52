#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "kansetsu/batch/cuda.h"

namespace kansetsu::bench {

namespace cuda = kansetsu::batch::cuda;

/// What the algorithms take and give, as numbers per state.
struct Algorithm {
  std::string name;
  bool matrices;
  long most;                 ///< states that are measured at once
  std::vector<int> in, out;  ///< widths of the arrays
};

std::vector<Algorithm> algorithms(const Model& m);

template <class Real>
void run_device(const std::string& name, cuda::Batch<Real>& b, long n, const std::vector<cuda::Array<Real>>& a,
                cudaStream_t s) {
  if (name == "fk") b.fk(n, a[0], a[1], s);
  if (name == "rnea") b.rnea(n, a[0], a[1], a[2], a[3], s);
  if (name == "aba") b.aba(n, a[0], a[1], a[2], a[3], s);
  if (name == "crba") b.crba(n, a[0], a[1], s);
  if (name == "mass_matrix_inverse") b.mass_matrix_inverse(n, a[0], a[1], s);
  if (name == "rnea_derivatives") b.rnea_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], s);
  if (name == "aba_derivatives") b.aba_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6], s);
}

template <class Real>
void run_host(const std::string& name, cuda::HostBatch<Real>& b, long n, const std::vector<Real*>& a) {
  if (name == "fk") b.fk(n, a[0], a[1]);
  if (name == "rnea") b.rnea(n, a[0], a[1], a[2], a[3]);
  if (name == "aba") b.aba(n, a[0], a[1], a[2], a[3]);
  if (name == "crba") b.crba(n, a[0], a[1]);
  if (name == "mass_matrix_inverse") b.mass_matrix_inverse(n, a[0], a[1]);
  if (name == "rnea_derivatives") b.rnea_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (name == "aba_derivatives") b.aba_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

}  // namespace kansetsu::bench
