#include "falls.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "kansetsu/io/mjcf.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::test {
namespace {

using Random = std::mt19937_64;
constexpr const char* kRecorded[] = {"mujoco_humanoid",
                                     "dm_humanoid_CMU_V2020",
                                     "menagerie_unitree_go2__go2",
                                     "menagerie_unitree_h1__h1",
                                     "menagerie_unitree_g1__g1",
                                     "menagerie_unitree_g1__g1_with_hands",
                                     "menagerie_anybotics_anymal_c__anymal_c",
                                     "menagerie_pal_talos__talos",
                                     "gym_ant"};

double uniform(Random& rng, double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng); }

Model recorded(const std::filesystem::path& data, const std::string& name) {
  const auto file = data / "robots" / "mjcf" / (name + ".xml");
  const Model model = value_or_throw(Model::build(value_or_throw(io::read_mjcf(file)).figures.at(0).model));
  return model.base() == Base::kFree ? model : with_base(model, Base::kFree);  // some files leave it to their users
}

void add_stairs(World& world) {
  for (int i = 0; i < 8; ++i) {
    world.add_fixed(Box{{0.3, 3, 0.15 * (i + 1)}}, {Mat3<>::identity(), {0.3 * i, 0, 0.075 * (i + 1)}});
  }
}

/// A limp figure anywhere in the air.
World figure_world(const Model& model, double h, double height, bool self, bool stairs, Random& rng) {
  World world(WorldOptions{.time_step = h});
  world.add_fixed(Plane{}, {});
  if (stairs) add_stairs(world);
  State state(model);
  state.q = random_configuration(model, rng);
  const Eigen::VectorXd q0 = neutral(model);
  Eigen::VectorXd way(model.nv());
  difference(model, q0, state.q, way);
  integrate(model, q0, 0.5 * way, state.q);
  state.q.head<3>() << uniform(rng, 0, 1), uniform(rng, -0.3, 0.3), height;
  world.add(model, state, {.self_collision = self ? SelfCollision::kNotNeighbours : SelfCollision::kNone});
  return world;
}

/// Bodies of a heap, each about 0.2 m across.
const std::pair<const char*, Shape> kHeaps[] = {
    {"boxes", Box{{0.2, 0.2, 0.2}}},
    {"spheres", Sphere{0.1}},
    {"planks", Box{{0.4, 0.1, 0.05}}},
    {"capsules", Capsule{0.06, 0.2}},
    {"cylinders", Cylinder{0.1, 0.15}},
    {"tetrahedra", ConvexHull{{{.12, .12, .12}, {-.12, -.12, .12}, {-.12, .12, -.12}, {.12, -.12, -.12}}}}};

/// The shape of body i in a heap of that kind; of a mixed one all of them in turn.
const Shape& heap_shape(std::string_view kind, int i) {
  if (kind == "mixed") return kHeaps[std::size_t(i) % std::size(kHeaps)].second;
  return std::ranges::find(kHeaps, kind, [](const auto& heap) { return std::string_view(heap.first); })->second;
}

World heap_world(std::string_view kind, int count, double h, Random& rng) {
  World world(WorldOptions{.time_step = h});
  world.add_fixed(Plane{}, {});
  for (int k = 0; k < 4; ++k) {  // a pen
    const double angle = 1.5707963267948966 * k, c = std::cos(angle), s = std::sin(angle);
    world.add_fixed(Plane{}, {Mat3<>{{0, s, c}, {0, -c, s}, {1, 0, 0}}, {-1.0 * c, -1.0 * s, 0}});
  }
  for (int i = 0; i < count; ++i) {
    const Model model =
        value_or_throw(Model::build(make_body("b" + std::to_string(i), heap_shape(kind, i), 1, {}).model));
    State state(model);
    state.q = random_configuration(model, rng);
    const int layer = i / 16, place = i % 16;
    state.q.head<3>() << -0.7 + 0.45 * (place % 4) + uniform(rng, 0, 0.02),
        -0.7 + 0.45 * (place / 4) + uniform(rng, 0, 0.02), 0.3 + 0.4 * layer;
    world.add(model, state);
  }
  return world;
}

World make(const std::string& name, double h, Random& rng, const std::optional<std::filesystem::path>& data) {
  if (name == "human28") return figure_world(human28(), h, 3, true, false, rng);
  if (name == "human28 on stairs") return figure_world(human28(), h, 3, true, true, rng);
  if (is_heap(name)) {
    const std::size_t space = name.find(' ');
    return heap_world(std::string_view(name).substr(0, space), std::stoi(name.substr(space + 1)), h, rng);
  }
  return figure_world(recorded(*data, name), h, 1.2, true, false, rng);
}

Random random_of(int fall) { return Random(static_cast<std::uint64_t>(1000 + fall)); }

/// Processor time of the same steps, without looking on.
double seconds_of_steps(const std::string& name, int fall, long steps, double h,
                        const std::optional<std::filesystem::path>& data) {
  Random rng = random_of(fall);
  World world = make(name, h, rng, data);
  const std::clock_t begin = std::clock();
  for (long i = 0; i < steps && world.status() == WorldStatus::kRunning; ++i) world.step();
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

double energy(const World& world) { return world.kinetic_energy() + world.potential_energy(); }

}  // namespace

bool is_heap(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find(' '));
  return kind == "mixed" || std::ranges::any_of(kHeaps, [&](const auto& heap) { return kind == heap.first; });
}

std::vector<std::string> falls(const std::optional<std::filesystem::path>& data) {
  std::vector<std::string> out = {"human28", "human28 on stairs"};
  if (data) out.insert(out.end(), std::begin(kRecorded), std::end(kRecorded));
  for (const char* heap : {"boxes 30", "boxes 100", "planks 60", "capsules 60", "cylinders 60", "tetrahedra 60",
                           "mixed 60", "boxes 300", "spheres 300"})
    out.emplace_back(heap);
  return out;
}

FallReport fall(const std::string& name, int count, double seconds, double h,
                const std::optional<std::filesystem::path>& data) {
  FallReport out{.what = name, .falls = count};
  double spent = 0;
  long touching = 0;
  for (int n = 0; n < count; ++n) {
    Random rng = random_of(n);
    World world = make(name, h, rng, data);
    const double start = energy(world);
    double mass = 0;
    for (int f = 0; f < world.figure_count(); ++f) mass += world.model(FigureId(f)).mass();
    out.scale = std::max(out.scale, mass * 9.81);
    double before = start, book = 0;
    const long total = std::lround(seconds / h);
    for (long i = 0; i < total && world.status() == WorldStatus::kRunning; ++i) {
      world.step();
      const double now = energy(world), work = world.totals().work_torque;
      out.gain = std::max(out.gain, now - before - (work - book));
      before = now, book = work;
      out.contacts += long(world.report().contacts.size());
      int systems = 0;
      for (const ContactReport& c : world.report().contacts) systems = std::max(systems, c.solves);
      out.systems += systems, touching += !world.report().contacts.empty();
      out.unsolved += world.report().tiers[int(ContactTier::kUnsolved)];
      if (i > total * 3 / 4) {
        out.resting_unsolved += world.report().tiers[int(ContactTier::kUnsolved)];
        out.resting_penetration = std::max(out.resting_penetration, world.report().penetration);
      }
      out.worst_residual = std::max(out.worst_residual, world.report().residual);
      out.penetration = std::max(out.penetration, world.report().penetration);
      ++out.steps;
    }
    if (world.status() != WorldStatus::kRunning) out.failure = world.failure();
    spent += seconds_of_steps(name, n, total, h, data);
    const WorldTotals& t = world.totals();
    const double left = energy(world) - start - t.work_torque - t.work_contact - t.work_connection - t.impact_energy;
    if (std::abs(left) > std::abs(out.unexplained)) out.unexplained = left;
    out.kinetic = std::max(out.kinetic, world.kinetic_energy());
  }
  out.systems /= double(std::max(touching, 1L));
  out.microseconds = 1e6 * spent / double(std::max(out.steps, 1L));
  return out;
}

}  // namespace kansetsu::test
