#pragma once

#include <Eigen/Core>

#include "kansetsu/assembly/processes.h"

/// Processes that MPI has started side by side. Without MPI in the build (KANSETSU_MPI) there is but one.
namespace kansetsu::cli {

bool has_mpi();
/// The processes of this run; the first call begins MPI, which ends with the program.
ProcessGroup mpi_processes();
/// Sum over all processes, in all of them.
void sum_over_processes(Eigen::VectorXd& x);

}  // namespace kansetsu::cli
