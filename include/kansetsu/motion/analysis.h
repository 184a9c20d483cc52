#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kansetsu/constraint/supported.h"
#include "kansetsu/motion/retarget.h"

/// Analysis of a motion: joint torques and powers, forces of the environment, and the residual.
///
///     const Analysis a = analyze(model, clip, find_supports(model, clip), {.cutoff = 6});
///     // a.tau.col(k), a.supports[0].wrench[k], a.residual[k], a.phases
///
/// Method and its limits: docs/theory/analysis.md; the command: docs/guide/analysis.md.
namespace kansetsu {

/// A patch through which the environment can push, and when it is in contact.
struct SupportHistory {
  std::string name{};                     ///< "left", …
  Support support{};                      ///< at most 32 corners
  std::vector<std::uint32_t> touching{};  ///< one per frame; bit k: corner k is on it
  std::vector<double> ease{};  ///< share that each corner takes of a load that any of them could; empty: all alike

  bool down(int frame) const { return touching[std::size_t(frame)] != 0; }
};

struct SupportOptions {
  double friction = 0.8;  ///< μ
  bool others = true;     ///< hands, seat and knees may carry, too
};
/// The soles of a figure and when heels and toes are on the floor z = 0, and what else carries it. Contacts are as retarget() tells
/// of them, or found by find_all_contacts().
std::vector<SupportHistory> find_supports(const Model& model, const Contacts& contacts,
                                          const SupportOptions& options = {});
std::vector<SupportHistory> find_supports(const Model& model, const Clip& clip, const SupportOptions& options = {});

struct AnalysisOptions {
  double cutoff = 0;  ///< of the zero-phase low-pass filter [Hz]; 0: none
  /// [s] after touching and before leaving over which a support takes and gives its load, without a double support
  double transfer = 0.1;
  double roll = 0.3;  ///< [s] the same of the corners of one support among themselves
  /// [m] A residual of 1 N·m counts as much as one of 1/arm N. Large, because captures give angular accelerations less accurately
  /// than the path of the mass centre: residual moments must not determine the vertical forces.
  double residual_arm = 20;
  /// Assumed error of the horizontal forces, as a share of the weight (masses and markers are inexact): the centre of pressure is then drawn
  /// towards its usual place in the support, and the rest is residual. 0: the motion is taken as exact.
  double doubt = 0;
};

/// Forces of one support.
struct SupportForces {
  std::string name{};
  bool grips = false;
  std::vector<std::uint8_t> down{};               ///< one per frame, as all below
  std::vector<Force<>> wrench{};                  ///< on its link, at the link's origin, world axes [N·m; N]
  std::vector<std::optional<Vec3<>>> pressure{};  ///< centre of pressure in the world (p_v), where it carries anything
};

/// A stretch of time in which the same supports are down.
struct Phase {
  enum class Kind { kFlight, kSingle, kDouble, kMore } kind = Kind::kFlight;  ///< by the number of supports
  std::vector<int> supports{};
  int first = 0, last = 0;    ///< frames
  double start = 0, end = 0;  ///< [s], half-way to the neighbouring frames
};
const char* to_string(Phase::Kind kind);

/// A second or more in which what carries is not what the motion needs.
struct SupportGap {
  int first = 0, last = 0;       ///< frames
  double found = 0, needed = 0;  ///< mean vertical force [N]
};

/// Acceleration in flight, over gravity's, above which the clip is taken to play too fast (by √1.7 = 1.3): errors of captures are smaller.
inline constexpr double kOtherRate = 1.7;

struct AnalysisSummary {
  double weight = 0;              ///< mass · |gravity| [N]
  double mean_vertical = 0;       ///< of all supports, over the clip [N]
  double supported = 0;           ///< share of the needed vertical force that supports give
  double unsupported_frames = 0;  ///< share of frames that need a fifth of the weight and have nothing down
  double residual_force = 0, residual_moment = 0;  ///< root mean square [N, N·m], the moment about the centre of mass
  double worst_force = 0, worst_moment = 0;
  double positive_work = 0, negative_work = 0;  ///< of all joints [J]
  double fall = 1;              ///< in flight, the captured acceleration over gravity's; 1 without a flight phase
  double largest_friction = 0;  ///< tangential/normal of any support that carries a tenth of the weight
};

struct Analysis {
  Clip clip{};                                  ///< as analysed: filtered
  Eigen::MatrixXd v{}, vdot{}, tau{}, power{};  ///< nv × frames; τ and power of a free base are zero
  std::vector<SupportForces> supports{};
  std::vector<Force<>> residual{};  ///< what supports cannot give, at the base's origin, world axes [N·m; N]
  std::vector<Vec3<>> com{};
  std::vector<std::optional<Vec3<>>> zmp{};  ///< where the whole ground force would have to act; none in flight
  std::vector<Phase> phases{};
  std::vector<double> needed{};    ///< vertical force [N], one per frame
  std::vector<SupportGap> gaps{};  ///< where the weight found over a second differs by more than a twentieth
  AnalysisSummary summary{};

  int frames() const { return clip.frames(); }
};

/// Forces push along the normals, stay inside friction cones (of eight edges) and their centres of pressure inside the corners
/// that touch; of all such forces those that leave the least residual, and among these the smallest. A fixed base has no residual
/// and takes no supports. Throws Error if the clip is not one of the model, has fewer than three frames, or histories do not fit.
Analysis analyze(const Model& model, const Clip& clip, std::span<const SupportHistory> supports,
                 const AnalysisOptions& options = {});

}  // namespace kansetsu
