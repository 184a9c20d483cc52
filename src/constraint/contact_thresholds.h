#pragma once

/// Every number of the contact solver and of its rows that decides something and is no option: its unit, and why it is what it is. Options are in
/// contact_types.h. src/constraint/test/contact_thresholds_test.cc tries either side of each that shows in an answer.
namespace kansetsu::kernel::threshold {

// Newton's method.

/// Of an unknown's own response: what laws yield in every Newton step, so that systems of redundant contacts are regular. A residual
/// that is left shrinks by this factor in each further step. Smaller ones leave fewer digits of the system (1e-8 of 1e-16).
inline constexpr double kRegular = 1e-8;
/// Newton steps on the law itself, and of a proximal step. Problems that they solve take 2 to 8; 5 to 25 do as well.
inline constexpr int kNewtonSteps = 12;
/// Linear systems of an island: proximal steps end there; of a heap, unless ContactOptions::max_products_large is met before. Of 5000 hard
/// problems of falling robots none needs more than 350; a falling heap of 100 bodies mostly needs 10 to 60, one of 300 spheres 60 to 380.
inline constexpr int kMostSystems = 400;
/// Of an unknown's own response: by how much a law yields about the last forces in the first proximal step; and what ends them. The first
/// may be 1e-4 to 1e-1.
inline constexpr double kYield = 1e-2, kMostProximalYield = 10;
/// The same for the first proximal step of a heap, whose states are further from those of the last step: 1e-2 leaves one in nine problems
/// of 300 spheres unsolved that 1e-1 solves.
inline constexpr double kHeapYield = 1e-1;
/// What a proximal step that is solved makes of the yield, and one that is not.
inline constexpr double kShrink = 0.3, kGrow = 3;
/// The same for one that is solved within so many systems: the next may yield far less. Heaps of 60 to 100 boxes, planks, tetrahedra and mixed bodies
/// take 8 to 16 % fewer systems than with kShrink alone, together with kNear.
inline constexpr int kEasySystems = 2;
inline constexpr double kEasyShrink = 0.1;
/// Proximal steps with the yield that has been raised, before it falls again. In a heap of 300 boxes 1 takes 6 % more systems than 3, and 6 takes 2 % fewer.
inline constexpr int kWait = 3;
/// Of the tolerance: so near the answer Newton steps on the law itself find the rest; and, of the residual with which they have failed, where
/// they are tried again. Of 3, 10, 100 and 1000 the second takes the fewest systems in heaps of 60 to 100 boxes.
inline constexpr double kNear = 10, kAgain = 0.1;
/// Of the residual of the law: how well a proximal step is solved. Its centre moves on anyway.
inline constexpr double kInexact = 0.3;
/// Steps that may leave more than kFalls of the Σ g·Φ² before them, while it is above its least, before it is back to the best iterate:
/// states change several times before the residual falls. With one such step 3 % of hard problems stay unsolved, with 2 to 5 none.
inline constexpr int kPatience = 3;
/// Of Σ g·Φ²: a step that leaves less is on its way down. 0.3, 0.5 and 1 take as many systems in heaps; 0 (every step above the least counts)
/// takes a tenth more.
inline constexpr double kFalls = 0.5;
/// Times the least Σ g·Φ² so far: beyond, a step has led astray at once.
inline constexpr double kWorst = 1e6;
/// Of the residual: after a step that leaves less, the next takes the same factor. It leaves about twice that share again, for a fifth of the work.
inline constexpr double kRepeat = 1e-2;
/// Of Σ g·Φ²: a full step that leaves no more is as good as one that ends where the first state changes; a step that leaves more than the
/// second ends Newton's method.
inline constexpr double kGain = 0.8, kLeastGain = 0.99;
/// Of a step: shorter ones are none; and how far beyond a change of state a step goes, so that rounding leaves it on the other side.
inline constexpr double kNoStep = 1e-12, kBeyond = 1 + 1e-6;
/// Of a step: shorter halves are not tried. A half costs one look at the law of every contact, and no system.
inline constexpr double kLeastSearched = 1e-3;
/// More than any number that counts.
inline constexpr double kEndless = 1e300;

// The law of 2000.

/// Of μ·g·h: a slip that is slower may be stopped within the step, so that its direction before the step says nothing about that after
/// it. Friction decelerates a body by μ·g, and what others press on it by a little more.
inline constexpr double kStopped = 2;

// What counts as solved, in terms of ContactOptions::tolerance.

/// A thousand times the tolerance (1e-8) is accepted where rounding allows no better.
inline constexpr double kAcceptable = 1e3;
/// [m/s] what residuals are measured by where nothing moves and nothing falls: without gravity what rests is solved, whatever rounding leaves of
/// its velocities. A step of free fall is 1e-2 at 1 ms.
inline constexpr double kLeastSpeed = 1e-5;
/// Heaps, of ContactOptions::sweep_tolerance: what sweeps and Newton steps aim at.
inline constexpr double kHeapAim = 0.3;
/// Linear systems of a heap that is too large for ContactOptions::max_products_large: so many bring each step nearer to the answer.
inline constexpr int kFewestSystems = 8;
/// Sweeps over a heap before Newton steps: each contact finds its state among its neighbours. Of 0, 30, 60 and 100 they leave 150, 107, 85 and 73
/// systems a step in a heap of 300 spheres, and 56, 53, 51 and 43 in one of 100 boxes, where more than 30 cost more than they save.
inline constexpr int kFirstSweeps = 30;

// Contacts ahead.

/// Times the way of a step at the speed of the fastest vertex: vertices of a patch that are closer take part. A block that lands on one edge
/// turns about it, and the other edge comes down no faster than twice the first.
inline constexpr double kAhead = 2;

// Linear systems.

/// Of the largest own response of an island: what answers less cannot be moved (rounding errors of G are 1e-16).
inline constexpr double kImmovable = 1e-13;
/// Of the size of its terms: a vertex's response that cancels to less is rounding errors of them, and the vertex cannot be moved.
inline constexpr double kCancelled = 1e-10;
/// Of the other response of a vertex, along or across: so much a law yields at least by its own. What is held so that it moves along a line that is
/// almost in the plane of contact may be pressed with any force, and friction holds it: without this the force wanders off.
inline constexpr double kLeastShare = 1e-3;
/// Of its diagonal: a pivot that falls below is eliminated with exchanges of rows instead.
inline constexpr double kVanishing = 1e-9;
/// Of the largest entry of its row: no pivot at all.
inline constexpr double kSingular = 1e-14;
/// Of a row's own response: what is left of one that depends on those before; rows of a connection, and redundancy().
inline constexpr double kDependent = 1e-10;

/// Of what a pivot was before the elimination: one that falls below is rounding errors, of a column that nothing resists. It stands still.
inline constexpr double kNoResistance = 1e-14;
/// Of 1/mass of all figures: rows that answer less are differences of equal numbers, as of two points of one figure that cannot part.
inline constexpr double kInseparable = 1e-20;

// Positions.

/// [1/s] of the depth, besides the speed of ContactOptions: what begins metres inside comes out in seconds.
inline constexpr double kDeep = 1;
/// [m, rad] shorter ways are none: a thousandth of the slop that contacts keep. What rests comes to the slop by shares of its way, and would be
/// moved for ever.
inline constexpr double kShortestWay = 1e-7;
/// Of an unknown's own response: what rows yield where positions are solved. Bodies that lie inside each other for good ask for ways that
/// contradict each other; so each comes as far as it can. It leaves a thousandth of the way to the next step.
inline constexpr double kWayYield = 1e-3;
/// Linear systems of positions.
inline constexpr int kMostWaySystems = 40;
/// Of the longest way: how well positions are solved, by Newton steps and by sweeps. What is left is undone in the next step.
inline constexpr double kWayTolerance = 1e-6, kHeapWayTolerance = 1e-2;

// Acceleration level.

/// [m] how far a centre of pressure moves that has been found; solves until then at most.
inline constexpr double kCentreFound = 1e-12;
inline constexpr int kMostCentres = 10;

// Geometry of patches.

/// Of the squared circumference: vertices that span less area lie on a line.
inline constexpr double kFlat = 1e-6;
/// Of the pressure of a patch: where the vertices that are still there carried less of it, their forces say nothing about the new ones, and the wrench is
/// spread anew; else what is missing is added to them.
inline constexpr double kForgotten = 0.5;

}  // namespace kansetsu::kernel::threshold
