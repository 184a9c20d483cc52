#include "cli/processes.h"

#ifdef KANSETSU_HAVE_MPI

#include <mpi.h>

#include <cstdlib>

namespace kansetsu::cli {

bool has_mpi() { return true; }

ProcessGroup mpi_processes() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (!begun) {
    MPI_Init(nullptr, nullptr);
    std::atexit([] { MPI_Finalize(); });
  }
  ProcessGroup group;
  MPI_Comm_rank(MPI_COMM_WORLD, &group.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &group.size);
  group.all_gather = [](std::span<const double> mine, std::span<double> all) {
    MPI_Allgather(mine.data(), int(mine.size()), MPI_DOUBLE, all.data(), int(mine.size()), MPI_DOUBLE, MPI_COMM_WORLD);
  };
  return group;
}

void sum_over_processes(Eigen::VectorXd& x) {
  MPI_Allreduce(MPI_IN_PLACE, x.data(), int(x.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace kansetsu::cli

#else

namespace kansetsu::cli {

bool has_mpi() { return false; }
ProcessGroup mpi_processes() { return {}; }
void sum_over_processes(Eigen::VectorXd&) {}

}  // namespace kansetsu::cli

#endif
