#pragma once

#include <Eigen/Core>

namespace kansetsu {

/// Butterworth filters that run forwards and backwards, without delay.
enum class ButterworthKind {
  kSecondCorrected,  ///< second order; the cut-off is where both passes together have −3 dB [Winter]
  kThird,            ///< third order; the cut-off is that of each pass, as OpenSim has it
};

/// Each row by itself, in place; the ends are continued by point reflection. The cut-off is below half the rate.
void low_pass_rows(Eigen::MatrixXd& rows, double rate, double cutoff, ButterworthKind kind);

}  // namespace kansetsu
