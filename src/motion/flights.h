#pragma once

#include <cstdint>
#include <vector>

#include "kansetsu/model/clip.h"

/// Filters smear the forces of landings into the flights beside them. Who touches nothing falls: that is known, and is put back.
namespace kansetsu {

/// The captured acceleration of the mass centre in flights over gravity's, by parabolas; 1 where there are none of three frames, or
/// all are too short to tell it within a third. @param carried  whether anything touches, one per frame
double fall_of_flights(const Model& model, const Clip& captured, const std::vector<std::uint8_t>& carried);

/// Moves the figure of a filtered clip as a whole so that its centre of mass falls freely where nothing carries it, and elsewhere is
/// as near to the captured one as the same cut-off lets it, but for an error e that changes slowly. Its path c has
///
///     min Σ |c + e − r|² + λ(f)·Σ |Δ³c|² + ε·(Σ |e|² + λ(3 Hz)·Σ |Δ³e|²)   with   Δ²c = g·Δt²  in flight     (r: captured)
///
/// λ(f) = (2·sin(π·f·Δt))⁻⁶ halves what has the frequency f. A flight in which the captured mass centre is farther than
/// 20 mm (rms) from any free fall is none; without flights the clip stays as it is. Frames are evenly spaced.
void fall_in_flight(const Model& model, const Clip& captured, double cutoff, const std::vector<std::uint8_t>& carried,
                    Clip& filtered);

}  // namespace kansetsu
