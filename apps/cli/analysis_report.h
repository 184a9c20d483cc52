#pragma once

#include <string>

#include "cli/chart.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/model/measured.h"
#include "kansetsu/motion/analysis.h"

/// An analysis as text, as tables and as pictures.
namespace kansetsu::cli {

std::string analysis_text(const Model& model, const Analysis& analysis);
std::string analysis_json(const Model& model, const Analysis& analysis);
/// One line per frame: phase, centre of mass, zero moment point, residual, forces of supports, torques and powers.
std::string analysis_csv(const Model& model, const Analysis& analysis);
/// Forces and their shares over time, centres of pressure on the ground, torques, residual.
std::string analysis_svg(const Model& model, const Analysis& analysis, const std::vector<SupportHistory>& supports);
/// Residual wrench at the root over time.
TimeChart residual_chart(const Analysis& analysis);
/// What a report states in addition to the analysis itself.
struct AnalysisNotes {
  std::string file{};
  double cutoff = 0, friction = 0, belt = 0;  ///< [Hz, –, m/s]
  std::vector<std::string> remarks{};         ///< warnings
};
/// One page with charts: events, strides, forces of each foot, moments and powers over the cycle, residuals, assumptions.
std::string analysis_page(const Model& model, const Analysis& analysis, const std::vector<SupportHistory>& supports,
                          const AnalysisNotes& notes);
/// Moments of all coordinates over time, named as in OpenSim: knee_moment.
TimeTable analysis_moments(const Model& model, const Analysis& analysis);
/// The motion with its forces, for viewers.
io::Recording analysis_recording(const Model& model, const Analysis& analysis,
                                 const std::vector<SupportHistory>& supports);

/// "left" or "double support (left, right)"
std::string phase_name(const Analysis& analysis, const Phase& phase);

}  // namespace kansetsu::cli
