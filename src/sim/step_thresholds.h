#pragma once

#include <cmath>
#include <cstddef>

/// Every number of a world's step that decides something and is no option: its unit and its reason. Options are in world.h and
/// contact_types.h, the numbers of the contact solver in src/constraint/contact_thresholds.h. Tests try either side of each that
/// shows in an answer: in src/sim/test/step_thresholds_test.cc, or in the test of the stage that reads it. Without such a test are
/// bounds of iterations and of work (kMost…), kTicks, kSameFactor, kReboundRounding, kLostImpact, and how often pairs are searched.
namespace kansetsu::threshold {

// How far a step may lead.

/// [rad, m] in a step: beyond, energy, gaps and velocity products are checked. The error of a linear row is half the square of
/// that, a thousandth.
inline constexpr double kFar = 0.05;
/// Ticks of a time step: one tick is its shortest part, after twelve halvings.
inline constexpr int kTicks = 4096;
/// [rad, m] in a time step, and [m/s] of a base: a coordinate that turns 1600 times, or a base faster than light, is no motion.
/// All digits of the step are lost long before.
inline constexpr double kMostTurning = 1e4, kFastestBase = 3e8;
/// [rad] Largest turn in a time step of hinges that may come to a singular posture; and the share of it from which on they have a
/// row.
inline constexpr double kMostHingeTurn = 1, kHingeTurnInSight = 0.8;
/// Linear systems of the contact solver per island and time step, all parts together: six times those of the hardest problem of
/// falling robots. Torques of 1e9 N·m make thousands of parts of a step, none of which has a solution.
inline constexpr int kMostStepSystems = 2000;
/// Solutions of a step whose torques come out above their limits: each cuts those that do, few cut more.
inline constexpr int kMostTorqueCuts = 4;

// Velocity products.

/// [1/s] Velocity products of the beginning of a step add ½·h·v² of the kinetic energy per second: how much they may add.
inline constexpr double kProductsGain = 1e-4;
/// Of the power of all bias torques: a change of the velocity products beyond which the step is solved again; and for slow motion
/// without bilateral rows, where the error is small and is applied in the next step.
inline constexpr double kProductsSettle = 1e-3, kSlowProductsSettle = 0.01;
/// Of the last change: contacts that open or close may make the next one larger. A diverging iteration squares it.
inline constexpr double kProductsGrowth = 100;
/// Solutions of a step for its velocity products: each leaves a share h·ω of the error.
inline constexpr int kMostProductSolutions = 4;

// Rows.

/// [m, rad], and steps at the present speed: closer limits have a row.
inline constexpr double kLimitReach = 1e-3, kLimitSteps = 2;
/// Distance to a limit within which a coordinate of that speed has a row.
inline double limit_reach(double h, double speed) { return kLimitReach + kLimitSteps * h * std::abs(speed); }
/// [m, rad] Larger gaps of bilateral rows are closed over several steps, smaller ones at once: the correction is
/// linear and leaves half the square of them.
inline constexpr double kLargeGap = 1e-3;
/// Of a large gap, per step; and the largest speed of closing [m/s, rad/s]: as ContactOptions::push_share
/// and push_speed.
inline constexpr double kClosingShare = 0.2, kClosingSpeed = 0.5;
/// [m, rad] Smaller gaps are closed: far above the rounding of poses.
inline constexpr double kTinyGap = 1e-11;
/// [m, rad] Largest way of a coordinate at a time to close gaps: close to a singular posture small gaps ask for long ways.
inline constexpr double kFurthestClosing = 0.02;
/// Of the first gap: after a correction that leaves less, the next takes the same factor. And the number of corrections.
inline constexpr double kSameFactor = 1e-2;
inline constexpr int kMostClosings = 3;
/// [m, rad] Largest step towards closed loops: rows are linear, and turn by as much.
inline constexpr double kLongestClosing = 0.3;
/// Of the kinetic energy: rows that turn so much in a step that following them takes more are held as they lie. A tenth is a turn
/// of 0.45 rad.
inline constexpr double kTurningShare = 0.1;
/// Gaps of a closed loop, relative to the mechanism's size, and angles [rad]: files have six to eight digits.
inline constexpr double kClosedGap = 1e-6;
/// [s] Time constant of the exponential mean of a connection's load that is compared with break_force and break_torque,
/// independent of the time step. A blow of J [N·s] counts as J / kBreakTime.
inline constexpr double kBreakTime = 0.01;
/// [m, rad] Ends of a connection that are further apart when it is made are mentioned in the event.
inline constexpr double kFarApart = 1e-3;
/// [rad, m] A coordinate closer to a limit is at it: limits hold to 1e-9.
inline constexpr double kAtLimit = 1e-6;

// Contacts.

/// Weights: a landing without rebound that such a force stops within a step is no impact.
inline constexpr double kSoftLanding = 10;
/// Reductions of the restitutions of connections until an impact gives no energy: contacts that open or slide make it more than
/// one; and rounding, of the energy that is lost without any rebound.
inline constexpr int kMostRebounds = 8;
inline constexpr double kReboundRounding = 1e-12;
/// Rows of contacts and bounds between figures: beyond, blocks of bodies are faster than a matrix of all rows.
inline constexpr int kDenseRows = 120;
/// Figures of an island: beyond, eliminating their blocks costs more than it gains, and sweeps are used alone.
inline constexpr std::size_t kMostEliminated = 1000;
/// Contacts of an island: up to so many, none goes across a block of eight rows, so that blocks of two limbs stay apart.
inline constexpr std::size_t kFewContacts = 4;
/// [rad, m] Largest shift of a coordinate in a step that closes penetrations. Rows are linear: a turn of φ leaves them by φ²/2 of
/// its arm, here a thousandth. Rows that a figure can hardly follow (they point at its joints) ask for turns without bound.
inline constexpr double kMostShift = 0.05;
/// [m] A scene warns of deeper penetrations at its start: 25 times the slop of contacts.
inline constexpr double kDeepStart = 1e-3;
/// [rad] Least turn of a corner of merged faces; and [m] the least length of a line between contacts: below, corners are one.
inline constexpr double kBluntCorner = 0.02, kShortLine = 1e-3;
/// [m²] Corners of a face that have moved by less have the same friction arm.
inline constexpr double kSameCorner = 1e-12;

// Search for contacts. All of it decides how often, none of it what is found.

/// [m] How far shapes may move until pairs are listed again: it grows if that happens within kOften steps, and shrinks after
/// kSeldom.
inline constexpr double kLeastSlack = 0.005, kMostSlack = 0.2;
inline constexpr int kOften = 8, kSeldom = 100;
/// Times the present speed: a shape that becomes faster has pairs listed again.
inline constexpr double kFaster = 2;
/// Of the squared way that is allowed: below a tenth of the way a bound is enough.
inline constexpr double kLittleWay = 0.01;

// Energy.

/// Of the kinetic energy: a step that adds more is too long.
inline constexpr double kStepGain = 1e-3;
/// Of the energy that is allowed: an impact that doubles speeds is nothing but errors.
inline constexpr double kLostImpact = 4;
/// Reductions of velocities: each ends in another posture, with another energy.
inline constexpr int kMostEnergyCuts = 3;
/// Of the sum of the moments of inertia: about an axis with less nothing turns.
inline constexpr double kThin = 1e-9;

// Sleep.

/// [m/s, rad/s] Largest speed of a coordinate at rest; and how long it has to rest before it sleeps [s].
inline constexpr double kStill = 1e-4, kRestTime = 0.5;
/// Slops: a deeper contact is still on its way out.
inline constexpr double kSleepDepth = 2;

}  // namespace kansetsu::threshold
