#pragma once

#include <Eigen/Core>

#include "kansetsu/assembly/processes.h"

/// The processes that MPI has started. Without MPI in the build (KANSETSU_MPI) there is only one.
namespace kansetsu::cli {

bool has_mpi();
/// The processes of this run; the first call initialises MPI, which is finalised when the program ends.
ProcessGroup mpi_processes();
/// Sum over all processes, in all of them.
void sum_over_processes(Eigen::VectorXd& x);

}  // namespace kansetsu::cli
