#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "kansetsu/ik/method.h"
#include "kansetsu/io/recording.h"
#include "serve/live_source.h"

/// The experiment of [Tmps] with the general solver: the tip of an arm of five ball joints moves to the point opposite to its
/// start in steps of a millimetre, in the rotation parameters of each method. Results: docs/theory/ik.md §6.
namespace kansetsu::cli {

/// How the posture is stored between two steps. [Tmps] stores a matrix per joint in single precision and extracts angles from it.
enum class Kept {
  kDouble,       ///< the solver's result
  kMatrix,       ///< a matrix in single precision; Euler angles are extracted from it, pitch by asin, as in [Tmps]
  kMatrixAtan2,  ///< the same, pitch by atan2
  kAngles,       ///< angles in single precision
};

/// One row of the table. Counts are of steps; the ideal of [Tmps] is floor(2|p₀|/step) + 1, its counters begin at 0 for
/// quaternions and at 1 for Euler angles. Fair: counters from 0, ideal floor(2|p₀|/step).
struct ExperimentRow {
  std::string_view name;
  ik::Method method;
  Kept kept;
  double damping = 0;                       ///< λ of the pseudo-inverse Jᵀ·(J·Jᵀ + λ)⁻¹
  std::array<double, 3> rms{}, fair_rms{};  ///< √mean (count − ideal)² of runs A, B, C: as [Tmps] counts, and fairly
  double us_per_step = 0;                   ///< best of several [µs]

  struct Trial {
    double distance;  ///< |p₀|
    int count;        ///< steps taken, from 0
  };
  std::vector<Trial> trials{};
};

struct ExperimentSize {
  int trials = 100;  ///< of each of the runs A, B, C, at most 100
  int threads = 0;   ///< 0: as many as there are cores
};
std::vector<ExperimentRow> ik_experiment(const ExperimentSize& size);

/// Published values of [Tmps], runs A, B, C: RMS, and time per step [ms].
inline constexpr std::array<double, 3> kPrintedLogQuaternion{0.678, 0.854, 0.656},
    kPrintedEuler{52.341, 99.646, 98.148};
inline constexpr std::array<double, 3> kPrintedLogQuaternionTime{0.022, 0.020, 0.019};
inline constexpr std::array<double, 3> kPrintedEulerTime{0.025, 0.022, 0.024};

inline constexpr std::array<double, 4> kWhite{0.92, 0.92, 0.92, 1}, kRed{0.8, 0.1, 0.1, 1};  ///< of the demonstration
/// The arm: links of unit length along z, each with a ball joint at its root; the frame "tip" is at the end.
Model five_ball_arm(const std::array<double, 4>& color = kWhite);

/// The demonstration of [Tmps]: two arms trace the same random lines with their frames "tip", to and fro, the first by log
/// quaternions, the second by Euler angles, as long as a viewer is connected.
class TwoArms final : public serve::LiveSource {
 public:
  /// All joints must be ball joints; throws Error otherwise.
  TwoArms(const Model& first, const Model& second);
  ~TwoArms() override;

  const io::RecordingHeader& header() const override { return header_; }
  io::RecordedFrame advance(double seconds) override;
  void reset() override;
  int lines() const;  ///< traced to and fro

  // The arms are moved kinematically: dragging has no effect.
  void drag(const io::BodyRef&, const Vec3<>&, const Vec3<>&) override {}
  void drop() override {}
  void grab(const io::BodyRef&, const Vec3<>&) override {}
  void release(const io::BodyRef&) override {}
  Vec3<> gravity() const override { return {0, 0, 0}; }
  void set_gravity(const Vec3<>&) override {}

 private:
  struct Pen;
  io::RecordingHeader header_;
  std::unique_ptr<Pen> pen_;
  double due_ = 0;  ///< [s]
};

/// A recording of the given number of lines.
io::Recording two_arms(const Model& first, const Model& second, int lines);

}  // namespace kansetsu::cli
