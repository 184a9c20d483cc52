#pragma once

#include <cstdint>
#include <vector>

#include "kansetsu/model/clip.h"

/// Filters smear the forces of landings into the flights beside them. Who touches nothing falls: that is known, and is put back.
namespace kansetsu {

/// Moves the figure of a filtered clip as a whole so that its centre of mass falls freely where nothing carries it, and elsewhere is
/// as near to the captured one as the same cut-off lets it. Its path c has
///
///     min Σ |c − r|² + λ·Σ |Δ³c|²   with   Δ²c = g·Δt²  in flight     (r: captured)
///
/// λ = (2·sin(π·f·Δt))⁻⁶ halves what has the cut-off's frequency f. A flight in which the captured mass centre is farther than
/// 20 mm (rms) from any free fall is none; without flights the clip stays as it is. Frames are evenly spaced.
/// @param carried  whether anything touches, one per frame
void fall_in_flight(const Model& model, const Clip& captured, double cutoff, const std::vector<std::uint8_t>& carried,
                    Clip& filtered);

}  // namespace kansetsu
