#pragma once

#include <string>

#include "kansetsu/io/recording.h"
#include "kansetsu/motion/analysis.h"

/// An analysis for people, for programs, and as pictures.
namespace kansetsu::cli {

std::string analysis_text(const Model& model, const Analysis& analysis);
std::string analysis_json(const Model& model, const Analysis& analysis);
/// One line per frame: phase, centre of mass, zero moment point, residual, forces of supports, torques and powers.
std::string analysis_csv(const Model& model, const Analysis& analysis);
/// Forces and their shares over time, centres of pressure on the ground, torques, residual.
std::string analysis_svg(const Model& model, const Analysis& analysis, const std::vector<SupportHistory>& supports);
/// The motion with its forces, for viewers.
io::Recording analysis_recording(const Model& model, const Analysis& analysis,
                                 const std::vector<SupportHistory>& supports);

/// "left" or "double support (left, right)"
std::string phase_name(const Analysis& analysis, const Phase& phase);

}  // namespace kansetsu::cli
