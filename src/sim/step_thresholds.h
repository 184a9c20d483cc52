#pragma once

#include <cmath>
#include <cstddef>

/// Every number of a world's step that decides something and is no option: its unit, and why it is what it is. Options are in world.h and
/// contact_types.h, the numbers of the contact solver in src/constraint/contact_thresholds.h. src/sim/test/step_thresholds_test.cc tries either
/// side of kFar, kProductsGain, kFastestBase, kSoftLanding, kMostShift, kLargeGap, kDenseRows, kStill and kRestTime.
namespace kansetsu::threshold {

// How far a step may lead.

/// [rad, m] in a step: what moves further has its energy, its gaps and its velocity products looked at. The error of a linear row is
/// half the square of that, a thousandth.
inline constexpr double kFar = 0.05;
/// Ticks of a time step: one is its shortest part, after twelve halvings.
inline constexpr int kTicks = 4096;
/// [rad, m] in a time step, and [m/s] of a base: a coordinate that turns 1600 times, or what outruns light, is no motion. All digits of the step
/// are lost long before.
inline constexpr double kMostTurning = 1e4, kFastestBase = 3e8;
/// [rad] that hinges which may come to a singular posture turn in a time step, at most; and the share of it from where on that is looked at.
inline constexpr double kMostHingeTurn = 1, kHingeTurnInSight = 0.8;
/// Linear systems of the contact solver per island and time step, all its parts together: six times what the hardest problem of falling robots
/// takes. Torques of 1e9 N·m make thousands of parts of a step, none of which has an answer.
inline constexpr int kMostStepSystems = 2000;
/// Solutions of a step whose torques come out above their limits: each cuts those that do.
inline constexpr int kMostTorqueCuts = 4;

// Velocity products.

/// [1/s] Velocity products of the beginning of a step add ½·h·v² of the kinetic energy per second to it: what they may add.
inline constexpr double kProductsGain = 1e-4;
/// Of the power of all bias torques: a change of the velocity products beyond which the step is solved again; and where motion is slow and free,
/// so that they hardly change from one step to the next, in which what is left is due.
inline constexpr double kProductsSettle = 1e-3, kSlowProductsSettle = 0.01;
/// Of the last change: contacts that open or close may make the next one larger. What runs away squares itself.
inline constexpr double kProductsGrowth = 100;
/// Solutions of a step for its velocity products: each leaves a share h·ω of what was missing.
inline constexpr int kMostProductSolutions = 4;

// Rows.

/// [m, rad], and steps at the present speed: limits that are closer have a row.
inline constexpr double kLimitReach = 1e-3, kLimitSteps = 2;
/// How close to a limit of a coordinate of that speed a row begins.
inline double limit_reach(double h, double speed) { return kLimitReach + kLimitSteps * h * std::abs(speed); }
/// [m, rad] Gaps of bilateral rows beyond this are closed over several steps, smaller ones at once.
inline constexpr double kLargeGap = 1e-3;
/// Of a large gap, in a step; and how fast at most [m/s, rad/s].
inline constexpr double kClosingShare = 0.2, kClosingSpeed = 0.5;
/// [m, rad] Smaller gaps are closed: far above the rounding of poses.
inline constexpr double kTinyGap = 1e-11;
/// [m, rad] no coordinate moves further at a time to close gaps: next to a singular posture small ones ask for long ways.
inline constexpr double kFurthestClosing = 0.02;
/// Of the first gap: corrections after one that leaves less take the same factor. And how many there are.
inline constexpr double kSameFactor = 1e-2;
inline constexpr int kMostClosings = 3;
/// [m, rad] that a way to closed loops goes at a time: rows are linear, and turn by as much.
inline constexpr double kLongestClosing = 0.3;
/// Of all kinetic energy: where rows turn so much in a step that to follow them takes more, they are held as they lie. A tenth is a turn of 0.3 rad.
inline constexpr double kTurningShare = 0.1;
/// Gaps of a loop that counts as closed, by the mechanism's size, and angles [rad]: files have six to eight digits.
inline constexpr double kClosedGap = 1e-6;
/// [s] Over which a connection averages what it carries before it is compared with break_force and break_torque: a mean that
/// forgets exponentially, whatever the time step. A blow of J [N·s] counts as J / kBreakTime.
inline constexpr double kBreakTime = 0.01;
/// [m, rad] Ends of a connection that are further apart when it is made are worth a word.
inline constexpr double kFarApart = 1e-3;
/// [rad, m] What is closer to a limit is at it: limits hold to 1e-9.
inline constexpr double kAtLimit = 1e-6;

// Contacts.

/// Weights: what a force of so many stops within a step, and does not bounce, is no impact.
inline constexpr double kSoftLanding = 10;
/// Times that restitutions of connections are cut until an impact gives no energy: contacts that open or slide make it more than one; and rounding,
/// of the energy that is lost without any rebound.
inline constexpr int kMostRebounds = 8;
inline constexpr double kReboundRounding = 1e-12;
/// Rows of contacts and bounds between figures: beyond, blocks of bodies are faster than a matrix of all rows.
inline constexpr int kDenseRows = 120;
/// Figures of an island: beyond, eliminating their blocks costs more than it gains, and sweeps have to do.
inline constexpr std::size_t kMostEliminated = 1000;
/// Contacts of an island: up to so many begin where they share no block of eight rows.
inline constexpr std::size_t kFewContacts = 4;
/// [rad, m] that a coordinate is shifted at most in a step to part what is past each other. Rows are linear: a turn of φ leads φ²/2 of its arm off
/// them, here a thousandth. Rows that a figure can hardly follow (they point at its joints) ask for turns without bound.
inline constexpr double kMostShift = 0.05;
/// [m] A scene warns of what is deeper in something else at its start: ten times what contacts leave alone.
inline constexpr double kDeepStart = 1e-3;
/// [rad] A corner of merged faces turns by more; and [m] what is shorter is no line between contacts.
inline constexpr double kBluntCorner = 0.02, kShortLine = 1e-3;
/// [m²] Corners of a face that have moved by less have the same friction arm.
inline constexpr double kSameCorner = 1e-12;

// Where contacts are looked for. All of it decides how often, none of it what is found.

/// [m] How far shapes may move until pairs are listed anew: it grows where that is done within kOften steps, and shrinks after kSeldom.
inline constexpr double kLeastSlack = 0.005, kMostSlack = 0.2;
inline constexpr int kOften = 8, kSeldom = 100;
/// Times the present speed: what becomes faster has pairs listed anew.
inline constexpr double kFaster = 2;
/// Of the squared way that is allowed: a tenth of the way need not be known better than by a bound.
inline constexpr double kLittleWay = 0.01;

// Energy.

/// Of the kinetic energy: what a step of the right length does not add.
inline constexpr double kStepGain = 1e-3;
/// Of the energy that is allowed: an impact from which speeds come out doubled is nothing but errors.
inline constexpr double kLostImpact = 4;
/// Times that velocities are cut: the energy of a posture is another one where the way is shorter.
inline constexpr int kMostEnergyCuts = 3;
/// Of the largest moment of inertia: about an axis of less nothing turns.
inline constexpr double kThin = 1e-9;

// Sleep.

/// [m/s, rad/s] no coordinate of what is at rest is faster; and for how long that has to be so [s].
inline constexpr double kStill = 1e-4, kRestTime = 0.5;
/// Slops: what is deeper is on its way out.
inline constexpr double kSleepDepth = 2;

}  // namespace kansetsu::threshold
