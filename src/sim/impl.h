#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "constraint/island.h"
#include "kansetsu/constraint/contact_solver.h"
#include "kansetsu/geometry/query.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/sim/world.h"
#include "sim/connections.h"
#include "sim/contacts.h"
#include "sim/control.h"
#include "sim/figure.h"
#include "sim/parallel.h"

namespace kansetsu {

/// Figures that act on each other in this step, and what they share. One per thread at work; memory is kept.
struct IslandWork {
  Island island;
  ContactSolver solver;
  ContactResult result;
  std::vector<Mechanics*> mechanics;
  std::vector<int> figures, connections, touches;
  std::vector<ContactPatch> patches;
  std::vector<ContactMemory> memories;
  std::vector<BoundedRow> bounded;
  /// What a bounded row measures: a coordinate of a figure (its terms times sign; −1: an upper limit), or the
  /// swing or twist of a ball joint.
  struct BoundedOrigin {
    int figure = 0, drive = -1;  ///< −1: a ball
    double sign = 1;
    int ball = -1;  ///< its place in FigureData::balls, and the row on its rates
    Vec3<> rate_row{};
    int tendon = -1;  ///< its length is measured, not a coordinate
    int memory = -1;  ///< its place in FigureData::bound_force; −1: it is forgotten
    int touch = -1;   ///< the contact whose rolling it resists, about `axis` of the world; −1: none
    Vec3<> axis{};
  };
  std::vector<BoundedOrigin> bounded_origin;
  // Of large islands: velocities of all figures one after the other, rows of J and of M⁻¹·Jᵀ by figure.
  std::vector<int> offsets;
  std::vector<double> v_now, v_next, way, rows_memory;
  std::vector<SparsePatch> sparse, sparse_bounded, sparse_bilateral;
  std::vector<BilateralBlock> blocks;
  std::vector<BodyMass> masses;
  /// Rows of one figure in a block of a heap, yet to be written: those of a contact, a connection, or a bounded row.
  struct RowJob {
    int figure = 0, rows = 0;
    double *J = nullptr, *Y = nullptr;
    enum Kind { kContact, kConnection, kBounded } kind = kContact;
    int index = 0;  ///< among the touches or connections of the world, or the bounded rows of the island
    double sign = 1;
    int body = 0;
  };
  std::vector<RowJob> row_jobs;
  std::vector<int> job_order, job_begin;  ///< jobs by figure of the island
  // What is reported of it, gathered in a fixed order afterwards.
  double inconsistency = 0, residual = 0, impact_energy = 0;
  int rank_deficiency = 0;
  bool impact = false;
  int row_count = 0;    ///< of all kinds; 0: nothing touches or holds it
  bool large = false;   ///< it is solved as a heap
  bool settled = true;  ///< velocity products are those of the velocities that came out
  bool kept = false;    ///< it has the momentum that it should have, and no position has been put right since
  Island::Work work{0, 0};
  Island::Work impact_given{0, 0};  ///< work of prescribed motions in impacts: of connections, of surfaces [J]
  double kinetic = -1;              ///< at the end of the step, before positions are put right; below 0: not known [J]
  double driven_work = 0;      ///< of bilateral rows that move as they are told, at most part of work.bilateral [J]
  std::vector<double> driven;  ///< mean velocity of bilateral rows that is wanted of them [m/s, rad/s]
  double given = 0;            ///< work of surfaces that move, part of work.others [J]
  /// Gaps of bilateral rows that are large at the beginning of a step: what the step leaves of them. 0: small, closed in one step.
  /// Empty: not known.
  std::vector<double> leave;
  double rebound_share = 1;  ///< of all restitutions of connections in an impact: what the energy allows
  double sprung = 0;         ///< work of the springs of connections in the step: what they stored is less by it [J]
  double power = 0;          ///< of the bilateral forces at the last stage of a smooth step [W]
};

inline bool holds(const IslandWork& w, int figure) {
  return std::find(w.figures.begin(), w.figures.end(), figure) != w.figures.end();
}

struct SpringData {
  BodyRef a, b;
  Vec3<> p_A, p_B;
  SpringDescription spring;
  double rest = 0;
  Vec3<> at_a{}, at_b{}, pull{};  ///< in the last step: its ends, and its force on a
};

/// q[dependent] as a polynomial of q[driver], held as a row.
struct CouplingData {
  PolynomialCoupling coupling;
  int figure = 0, dependent = 0, driver = -1;  ///< drives of the figure, or its tendons

  /// Gap, slope of the polynomial, and its curvature.
  struct Value {
    double gap, slope, curvature;
  };
  Value value(const FigureData& f) const;
  double position(const FigureData& f, int index) const;
  double velocity(const FigureData& f, int index) const;
  /// visit(column, coefficient)
  template <class Visit>
  void for_each_term(const FigureData& f, int index, Visit&& visit) const {
    if (coupling.tendons) {
      const MomentRow row = f.actuators.actuation.tendon_moment(index);
      for (size_t k = 0; k < row.columns.size(); ++k) visit(row.columns[k], row.values[k]);
      return;
    }
    for (const auto& [column, ratio] : f.drives[size_t(index)].terms) visit(column, ratio);
  }
};

struct SensorData {
  SensorDescription description;
  BodyRef body{}, reference{};
  Transform<> X_LS{}, X_LR{};  ///< on their bodies
  int connection = -1;
  int index = -1;                   ///< coordinate (of drives), tendon or actuator
  int q = 0, v = 0;                 ///< of a ball joint
  std::vector<char> subtree{};      ///< per link: it is part of what is measured
  std::vector<int> shapes, others;  ///< between which a distance is measured
  std::optional<Geometry> volume{};
  std::vector<double> value;
  std::mt19937_64 rng;
};

struct EventData {
  EventDescription description;
  bool was_true = false, done = false;
  double due = -1;  ///< when its action follows; negative: nothing is due
};

/// Where the accounts of energy stood when somebody last changed the world.
struct Ledger {
  double time = 0, energy = 0;  ///< [s], [J]
  double most_kinetic = 0;      ///< seen since [J]
  WorldTotals totals{};
};

/// What a snapshot holds.
struct WorldMoment {
  double time = 0;
  std::vector<Eigen::VectorXd> q, v, vdot, torque, effort, bound_force, products_due, control, activation;
  std::vector<Eigen::VectorXd> external;  ///< empty where no wrench waits for the next step
  std::vector<std::pair<BodyRef, Force<>>> wrenches;
  std::vector<double> rest_time;
  std::vector<int> nap;
  std::vector<ConnectionData> connections;
  ContactFinder::Carried contacts;
  Vec3<> gravity;
  std::vector<Controller> controllers;
  std::vector<EventData> event_states;
  std::vector<std::mt19937_64> sensors;
  std::vector<Event> events;
  WorldTotals totals;
  WorldStatus status = WorldStatus::kRunning;
  std::string failure;
  double next_step = 0;
  size_t shapes = 0, springs = 0;  ///< how many there were
};

class StandingStep;

struct World::Impl {
  explicit Impl(const WorldOptions& o);
  ~Impl();
  std::unique_ptr<Impl> clone() const;  ///< everything but scratch memory; on one thread

  WorldOptions options;
  double time = 0;
  std::vector<std::unique_ptr<FigureData>> figures;
  ContactFinder contacts;
  std::vector<ConnectionData> connections;
  std::vector<CouplingData> couplings;
  std::vector<SpringData> springs;
  std::vector<Controller> controllers;
  std::vector<SensorData> sensors;
  std::vector<EventData> event_states;
  std::vector<Callback> callbacks;
  std::vector<ContactCallback> contact_callbacks;
  std::vector<std::pair<BodyRef, Force<>>> wrenches;  ///< applied for this step, at the world's origin
  int broad_bodies = 1;                               ///< 0 is the surroundings

  WorldStatus status = WorldStatus::kRunning;
  std::string failure;
  StepReport report;
  WorldTotals totals;
  std::optional<Ledger> ledger;  ///< none: to be opened at the next step
  void open_ledger(double kinetic, double potential);
  std::optional<HealthLimits> strict;
  std::string body_name(const BodyRef& body, int shape) const;
  std::vector<ContactReport> contact_reports;
  std::vector<ConnectionReport> connection_reports;
  std::vector<Event> events;

  /// Calls job(i) for i in [0, count) on all threads. Jobs share nothing, so that their order does not matter.
  template <class Job>
  void for_each(int count, Job&& job) {
    kansetsu::for_each(pool.get(), count, job);
  }
  std::unique_ptr<ThreadPool> pool;  ///< none: one thread

  // One step.
  std::vector<std::unique_ptr<IslandWork>> works;
  std::vector<int> group;  ///< of each figure: the island it belongs to
  int island_count = 0;
  int ticks = threshold::kTicks;  ///< of the time step: what contact_step() is to do. One is taken as it comes out
  double step_length = 0;         ///< of that part [s]
  void set_ticks(int count) { ticks = count, step_length = count * options.time_step / threshold::kTicks; }
  double step_taken = 0;  ///< [s]
  double next_step = 0;   ///< of the adaptive integrator; 0: not known
  Vec3<> magnetic{};      ///< what magnetometers measure

  // What rests.
  int asleep_count = 0;      ///< figures
  bool asleep_told = false;  ///< everybody sleeps, and the reports are those of sleepers
  void wake(int figure);     ///< and all that sleep with it
  void wake(const BodyRef& body);
  void wake_all();
  void wake_touched();
  void find_driven();
  bool is_still(const IslandWork& w) const;
  void settle_down();
  void report_sleepers();
  bool sleep_on();

  FigureData& data(FigureId id, const char* function) const;
  Controller& controller(std::string_view name, const char* function);
  ConnectionData* connection(ConnectionId id);  ///< null if it is no more, even where another one has taken its place
  void require_body(const BodyRef& body, const char* function) const;
  void add_shapes(int figure, const CollisionGroups& groups);
  int broad_body(int figure, int body);  ///< the number in the broad phase, a new one where there is none yet
  void filter_self_collisions(int figure);

  void activate(ConnectionData& c);

  void step(World& world);
  /// Brings the mechanics of all figures to their present state, which a step leaves behind it; whoever asks for poses between
  /// two steps does this first. Within a step they are those with which it began.
  void refresh();
  bool present = true;    ///< they are
  bool stepping = false;  ///< a step is under way
  std::unique_ptr<StandingStep> standing;
  void changed();      ///< by somebody, between two steps
  int parameters = 0;  ///< how often masses or materials were changed: tables for lanes made before do not fit
  void parameters_changed();
  ContactFinder::Ahead ahead(double h) const;
  double time_to_touch() const;
  void meet_impacts();
  void contact_step();
  void make_connections();
  void keep_place();
  void go_back();
  bool try_step();
  void find_rows(double t);
  void keep_pressures();
  void settle_island(IslandWork& w);
  bool solve_again(IslandWork& w);
  struct RowCount {
    int bilateral = 0, others = 0;
    int alone = 0;  ///< of the others: each of one body or joint; 0 where contacts join bodies
  };
  /// What springs and dampers of connections do while rows are held: a step lets them act, in no time they do nothing.
  enum class Springs { kAct, kRest };
  void build_island(IslandWork& w, const RowCount& rows, Springs soft);
  void add_approach(IslandWork& w, double after);
  double impact_change(IslandWork& w, double after);
  std::vector<ContactReport> made;  ///< of make_connections(): what contacts took of it
  void smooth_step();
  bool is_smooth();
  void evaluate(double t);
  void solve_bilateral(IslandWork& w, bool velocities);
  double runge_kutta(double h, bool embedded);
  double smallest_gap(double t);
  double locate_touch(double h);
  void back_to_start();
  void newton_step(IslandWork& w);
  // assembly_search.cc
  /// Moves figures to a posture in which connections hold and joints are within their limits; false, and nothing moved, if none
  /// is found.
  bool find_assembly();
  bool within_limits() const;
  /// Across the links that connections hold [m].
  double mechanism_size();
  void prepare_torques(double h);
  void place_actuators();  ///< where figures are now
  void place_actuators(FigureData& f);
  void add_actuators(FigureData& f, double h);
  void add_tendon_forces(FigureData& f, double h);
  void add_tendon_bounds(IslandWork& w, int figure);
  void add_adhesion(int figure);  ///< of links towards what they touch
  bool actuators_saturate(FigureData& f);
  void finish_actuators(FigureData& f, double h);  ///< what they did; activations move on
  void add_spring_forces();
  void list_medium_parts(FigureData& figure) const;
  void add_medium_forces();
  void begin_islands(int count);
  void find_islands();
  int root(int figure);
  void solve_island(IslandWork& w);
  RowCount count_rows(IslandWork& w, double ahead);  ///< ahead: when the velocities that rows hold are reached [s]
  void fill_rows(IslandWork& w, Springs soft);
  enum class Target { kImpact, kStep, kStepAcross, kAcceleration, kVelocity, kPosition };
  void set_targets(IslandWork& w, Target kind);
  int count_bilateral(const IslandWork& w) const;
  int count_held(const IslandWork& w) const;
  void fill_bilateral(IslandWork& w, Springs soft);
  void account_springs(IslandWork& w);
  bool has_soft_connections() const;
  void add_soft_forces();
  double largest_gap(IslandWork& w, double t);
  void close_gaps(IslandWork& w, double share, double furthest, bool again);
  bool approaches(IslandWork& w);
  ContactProblem contact_problem(const IslandWork& w) const;
  void resolve_impact(IslandWork& w, double after);
  double rebound(IslandWork& w, double share);
  void add_impulses(IslandWork& w, double after);
  double half_way_energy(IslandWork& w, double before);
  Island::Work impact_work(const IslandWork& w) const;
  void resolve_forces(IslandWork& w);
  void resolve_positions(IslandWork& w);
  void bound_shifts(const IslandWork& w);
  void solve_forces(IslandWork& w, Target target);
  bool turning_strains(const IslandWork& w) const;
  bool is_large(const IslandWork& w, const RowCount& rows) const;
  void solve_large(IslandWork& w, int others);
  void write_blocks(IslandWork& w);
  void write_block(const IslandWork& w, const IslandWork::RowJob& job);
  void begin_reports();
  void report_contacts(IslandWork& w, bool impact);
  void add_bounded(IslandWork& w, int figure, double ahead);
  void add_ball_limits(IslandWork& w, int figure, double ahead);
  void add_rolling(IslandWork& w);
  void report_rolling(const IslandWork& w);
  void remember_bounds(const IslandWork& w);
  /// visit(column, coefficient) of a bounded row
  template <class Visit>
  void for_each_term(const IslandWork::BoundedOrigin& o, Visit&& visit) const {
    if (o.tendon >= 0) {
      const MomentRow row = figures[size_t(o.figure)]->actuators.actuation.tendon_moment(o.tendon);
      for (size_t k = 0; k < row.columns.size(); ++k) visit(row.columns[k], o.sign * row.values[k]);
      return;
    }
    if (o.drive < 0) {
      figures[size_t(o.figure)]->balls[size_t(o.ball)].ball.for_each_term(o.rate_row, visit);
      return;
    }
    for (const auto& [column, ratio] : figures[size_t(o.figure)]->drives[size_t(o.drive)].terms)
      visit(column, o.sign * ratio);
  }
  static void integrate_figure(FigureData& f, double h);
  bool is_far(const IslandWork& w) const;
  /// Energy that a step gives beyond all work, and as much of it as its errors may be [J].
  struct Gain {
    double found = 0, allowed = 0;
    bool is_excess() const { return found > allowed; }
  };
  Gain gain(IslandWork& w) const;
  double kinetic_energy(const IslandWork& w) const;
  void leave_place(IslandWork& w);  ///< before its positions are put right
  void keep_kinetic(const IslandWork& w);
  double slow_down(const IslandWork& w, double energy, double kinetic);
  void take_away(IslandWork& w);
  double surface_work(const IslandWork& w) const;
  bool flies(const IslandWork& w) const;
  void keep_momentum(const IslandWork& w, double h);
  void project();
  bool is_sound(const FigureData& f) const;
  std::string what_fails(const FigureData& f) const;
  bool check_states();
  void account();
  void finish_step();
  void break_connections();
  void run_events(bool before);
  bool triggered(const EventDescription& e);
  void act(const EventDescription& e);
  bool names(const ShapeRef& ref, const WorldShape& shape) const;
  bool names_real(const ShapeRef& ref, size_t contact) const;  ///< some shape on the real side of a contact
  bool touches(const ShapeRef& a, const ShapeRef& b) const;
  Force<> joint_wrench(const BodyRef& body);
  /// Motion of a place on a link, or in the world, where the world stands after the step.
  FrameMotion motion_of(const BodyRef& body, const Transform<>& X_LS);
  void measure(SensorData& s, double* out);
  void measure_contact(SensorData& s, double* out);
  void measure_frame(const SensorData& s, double* out);
  void measure_subtree(const SensorData& s, double* out);
  void measure_coordinate(const SensorData& s, double* out);
  double measure_touch(const SensorData& s);
  double measure_range(const SensorData& s);
  Distance measure_distance(const SensorData& s) const;
  void read_sensors();
  double potential_energy();
  void note(EventKind kind, std::string name, std::string detail = {});
};

struct Snapshot::Data : WorldMoment {};

/// The place of a connection among all, and how often that has been used before: a handle that outlives its connection does not
/// name the next one there, before the place has been used 2048 times.
inline constexpr int kConnectionPlaces = 1 << 20;
inline ConnectionId connection_id(size_t place, int uses) {
  return ConnectionId(int(place) + kConnectionPlaces * (uses & 2047));
}
inline size_t place_of(ConnectionId id) { return size_t(id.value() % kConnectionPlaces); }

}  // namespace kansetsu
