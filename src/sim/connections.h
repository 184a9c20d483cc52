#pragma once

#include <string>
#include <vector>

#include "constraint/island.h"
#include "kansetsu/sim/world.h"
#include "sim/figure.h"

namespace kansetsu {

/// A connection between two frames: C on a, D on b.
struct ConnectionData {
  BodyRef a, b;
  ConnectionOptions options;
  Transform<> X_AC, X_BD;
  bool active = false, is_new = false;
  bool kept = false;  ///< of a scene: its place is not reused
  int uses = 0;       ///< earlier uses of its place
  double start = 0;   ///< when it was made: t = 0 of its prescribed motion
  Force<> wrench{}, impulse{};
  Force<> struck{};                        ///< impulse of this part of the step, until add_load()
  Force<> load{};                          ///< wrench and impulses, averaged over threshold::kBreakTime
  double position_gap = 0, angle_gap = 0;  ///< of directions that are held
  /// Directions that are held rigidly, and those that springs and dampers hold. One that has rebounded is in neither.
  ConstraintMask held = 0, soft = 0;

  // This step's geometry.
  int rows = 0;  ///< directions that are held or sprung
  Mat3<> E;      ///< axes of C in the world
  Vec3<> p;      ///< origin of D
  RowEnd end_a, end_b;
  double phi[6];                        ///< gaps [v; ω order], per direction
  double velocity[6], acceleration[6];  ///< prescribed, per direction, [v; ω]
  Vec3<> turn_axis;                     ///< axis of the held rotation, if there is just one
  double push[6];                       ///< gradient of `stored`, [v; ω]
  double stored = 0;                    ///< energy of its springs [J]

  ConstraintMask mask() const { return ConstraintMask(held | soft); }
  bool acts() const { return active && mask() != 0; }  ///< not if all directions have rebounded
};

/// Directions of a mask in the order of rows: bit k of [v; ω].
inline unsigned row_mask(ConstraintMask mask) { return unsigned(mask >> 3 & 7) | unsigned(mask & 7) << 3; }
int row_count(ConstraintMask mask);
/// visit(direction k of [v; ω], bit of the mask) of each row.
template <class Visit>
void for_each_direction(const ConnectionData& c, Visit&& visit) {
  for (int k = 0; k < 6; ++k) {
    const int bit = (k + 3) % 6;
    if (c.mask() >> bit & 1) visit(k, bit);
  }
}
/// Makes a connection hold from `time` on: all directions of its options, in the present pose if they say so.
void activate(const Figures& figures, double time, ConnectionData& c);
/// Lets go of the directions that have rebounded from an impact: those with a restitution that came together with `speed`
/// [m/s, rad/s; per row] above `rest`.
void let_rebound(ConnectionData& c, const double* speed, double rest);

RowEnd row_end(const Figures& figures, BodyRef body);
Transform<> body_pose(const Figures& figures, BodyRef body);

/// Computes poses and gaps of its frames, and its prescribed motion.
void place_connection(const Figures& figures, double time, ConnectionData& c);
/// Adds its rows to the island, from `row` on.
void add_connection_rows(const ConnectionData& c, int row, Island& island);
/// Adds its rows to J of the figure at one end, c.rows × nv; sign: −1 for a, 1 for b.
void write_connection(const ConnectionData& c, const Mechanics& figure, int body, double sign, double* J);
/// Forces of its rows that are equivalent to its wrench of the last step.
void connection_forces(const ConnectionData& c, double* force);
/// Rates of its rows at the present velocities.
void connection_rates(const ConnectionData& c, double* rate);
/// Writes the forces of its springs and dampers at these rates to the places of their rows; other places stay.
void soft_forces(const ConnectionData& c, const double* rate, double* force);
/// Adds wrench and impulse of a step of h seconds to the mean load that may break it.
void add_load(ConnectionData& c, double h);
/// Law of a soft direction k of [v; ω] in a step of length h: force = −force_now − firmness·(acceleration − drift), with the spring
/// at its mean length of the step, which conserves energy, and the damper at its end, which never overshoots.
struct Give {
  double force_now, firmness;
};
Give give_of(const ConnectionData& c, int k, double rate, double h);
/// Wrench of the forces of its rows, on b at p, world axes.
Force<> connection_wrench(const ConnectionData& c, const double* force);

/// A handle names a place among all connections and how often it has been used before, so that one that outlives its
/// connection does not name the next one there, before the place has been used 2048 times.
inline constexpr int kConnectionPlaces = 1 << 20;
inline ConnectionId connection_id(size_t place, int uses) {
  return ConnectionId(int(place) + kConnectionPlaces * (uses & 2047));
}
inline size_t place_of(ConnectionId id) { return size_t(id.value() % kConnectionPlaces); }

}  // namespace kansetsu
