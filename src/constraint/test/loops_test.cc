#include "constraint/loops.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "constraint/island.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/rotations.h"
#include "no_alloc.h"
#include "random_models.h"

using namespace kansetsu;

namespace {

double deviation(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const double scale = std::max({1.0, a.size() ? a.cwiseAbs().maxCoeff() : 0, b.size() ? b.cwiseAbs().maxCoeff() : 0});
  return a.size() ? (a - b).cwiseAbs().maxCoeff() / scale : 0;
}

struct Figures {
  std::vector<Model> models;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> extra, tau;
  std::vector<std::unique_ptr<Mechanics>> mechanics;
  std::vector<Mechanics*> pointers;

  void add(const Model& model, const State& state, std::mt19937_64& rng, double implicit = 0) {
    models.push_back(model);
    states.push_back(state);
    tau.push_back(test::random_vector(model.nv(), rng));
    extra.push_back(implicit * test::random_vector(model.nv(), rng).cwiseAbs());
    mechanics.push_back(std::make_unique<Mechanics>(model));
    pointers.push_back(mechanics.back().get());
  }
  void prepare() {
    for (size_t f = 0; f < models.size(); ++f) {
      mechanics[f]->set_pose(states[f].q.data());
      mechanics[f]->set_motion(states[f].v.data());
      mechanics[f]->factorise(extra[f].data(), tau[f].data());
    }
  }
  RowEnd end(int figure, int link) const {
    if (figure < 0) return {};
    Mechanics* m = pointers[size_t(figure)];
    return {.figure = m, .body = m->body_of(LinkId(link))};
  }
};

/// One row of an island, as a test wants it.
struct Row {
  enum Kind { kFrame, kTurn, kDof } kind = kFrame;
  unsigned mask = 0b111;
  int a = -1, link_a = 0, b = 0, link_b = 0;  ///< figures and links; figure −1: the world
  Mat3<> E = Mat3<>::identity();
  Vec3<> p{};
  std::vector<std::pair<int, double>> terms{};  ///< kDof: columns of figure b

  double firmness = kInfinity;

  int count() const { return kind == kFrame ? std::popcount(mask) : 1; }
};

struct Answer {
  int rank = 0;
  double left_u = 0, left_a = 0, energy = 0;
  Island::Work work{0, 0};
  Eigen::MatrixXd G;
  Eigen::VectorXd a, reduced_u, reduced_a, impact, vdot, force;
};

int count(const std::vector<Row>& rows) {
  int sum = 0;
  for (const Row& r : rows) sum += r.count();
  return sum;
}

void fill(Island& island, const Figures& figures, const std::vector<Row>& rows, int& row) {
  for (const Row& r : rows) {
    const RowEnd a = figures.end(r.a, r.link_a), b = figures.end(r.b, r.link_b);
    if (r.kind == Row::kFrame) island.add_frame(row, r.mask, a, b, r.E, r.p);
    if (r.kind == Row::kTurn) island.add_turn(row, a, b, r.E.column_x());
    for (const auto& [column, scale] : r.terms)
      island.add_dof(row, *figures.pointers[size_t(r.b)], column, scale, figures.states[size_t(r.b)].v[column]);
    for (int k = row; k < row + r.count() && r.firmness < kInfinity; ++k) island.set_firmness(k, r.firmness);
    row += r.count();
  }
}

/// Everything that a step asks of an island, with some forces of the rows that are not bilateral.
void solve(Island& island, const Figures& figures, const std::vector<Row>& bilateral, const std::vector<Row>& others,
           const Eigen::VectorXd& others_force, Answer& out) {
  const int nb = count(bilateral), nr = count(others);
  island.begin(figures.pointers, nb, nr);
  int row = 0;
  fill(island, figures, bilateral, row);
  fill(island, figures, others, row);
  island.assemble();
  out.rank = island.rank();
  for (int r = 0; r < nr; ++r) {
    for (int c = 0; c < nr; ++c) out.G(r, c) = island.G()[r * island.stride() + c];
  }
  for (int k = 0; k < nb; ++k) island.target()[k] = 0;
  out.left_u = island.hold_velocities();
  out.reduced_u = Eigen::Map<const Eigen::VectorXd>(island.reduced_u(), nr);
  island.complete(others_force.data(), 0);
  out.energy = island.impulse_energy();
  const auto respond = [&](Eigen::VectorXd& x) {
    x.setZero();
    long at = 0;
    for (size_t f = 0; f < figures.models.size(); ++f) {
      island.respond(int(f), x.data() + at);
      at += figures.models[f].nv();
    }
  };
  respond(out.impact);
  for (int k = 0; k < nb; ++k) island.target()[k] = island.a()[k] - 3 * island.u()[k];  // rows that depend agree
  out.left_a = island.hold_accelerations();
  out.a = Eigen::Map<const Eigen::VectorXd>(island.a(), nb + nr);
  out.reduced_a = Eigen::Map<const Eigen::VectorXd>(island.reduced_a(), nr);
  island.complete(others_force.data(), 1);
  out.force = Eigen::Map<const Eigen::VectorXd>(island.force(), nb + nr);
  out.work = island.work(1e-3);
  respond(out.vdot);
}

Answer answer(const Figures& figures, int nb, int nr) {
  Answer out;
  long nv = 0;
  for (const Model& m : figures.models) nv += m.nv();
  out.G = Eigen::MatrixXd::Zero(nr, nr);
  out.reduced_u = out.reduced_a = Eigen::VectorXd::Zero(nr);
  out.a = out.force = Eigen::VectorXd::Zero(nb + nr);
  out.impact = out.vdot = Eigen::VectorXd::Zero(nv);
  return out;
}

/// By one matrix over all rows, and part by part.
void compare(Figures& figures, const std::vector<Row>& bilateral, const std::vector<Row>& others, double tolerance,
             std::mt19937_64& rng) {
  figures.prepare();
  const int nb = count(bilateral), nr = count(others);
  const Eigen::VectorXd f = test::random_vector(std::max(nr, 1), rng);
  Answer dense = answer(figures, nb, nr), sparse = dense;
  Island by_matrix, by_parts;
  by_matrix.most_dense = 1 << 20;
  by_parts.most_dense = 0;
  solve(by_matrix, figures, bilateral, others, f, dense);
  solve(by_parts, figures, bilateral, others, f, sparse);
  CHECK(dense.rank == sparse.rank);
  CHECK(deviation(dense.a, sparse.a) < tolerance);
  CHECK(deviation(dense.G, sparse.G) < tolerance);
  CHECK(deviation(dense.reduced_u, sparse.reduced_u) < tolerance);
  CHECK(deviation(dense.reduced_a, sparse.reduced_a) < tolerance);
  CHECK(deviation(dense.impact, sparse.impact) < tolerance);
  CHECK(deviation(dense.vdot, sparse.vdot) < tolerance);
  const auto alike = [&](double x, double y, double scale) { return std::abs(x - y) < tolerance * (1 + scale); };
  CHECK(alike(dense.energy, sparse.energy, std::abs(dense.energy)));
  if (dense.rank == nb) {  // else rows that do not move alike have work that depends on how forces are split
    CHECK(alike(dense.work.bilateral, sparse.work.bilateral, std::abs(dense.work.bilateral)));
    CHECK(alike(dense.work.others, sparse.work.others, std::abs(dense.work.others)));
  }
  if (dense.rank == nb) CHECK(deviation(dense.force, sparse.force) < tolerance);

  const std::size_t allocations = test::allocations_in([&] { solve(by_parts, figures, bilateral, others, f, sparse); });
  CHECK(allocations == 0);
}

Mat3<> random_axes(std::mt19937_64& rng) {
  const Eigen::VectorXd x = test::random_vector(4, rng).normalized();
  return to_mat3(Quaternion<>{x[0], x[1], x[2], x[3]});
}

}  // namespace

TEST_CASE("loops: rows of every kind on trees of every kind are as one matrix has them") {
  std::mt19937_64 rng(11);
  std::vector<test::SeededModel> models = test::invariant_models(30);
  int islands = 0;
  for (size_t i = 0; i + 2 < models.size(); i += 3) {
    Figures figures;
    int nv = 0;
    bool regular = true;
    for (size_t k = i; k < i + 3; ++k) {
      const State state = test::regular_state(models[k].model, rng);
      regular =
          regular && aba(models[k].model, state, Eigen::VectorXd::Zero(models[k].model.nv())).status == Status::kOk;
      figures.add(models[k].model, state, rng, k % 2 ? 0.3 : 0);
      nv += models[k].model.nv();
    }
    if (!regular || nv < 12) continue;
    CAPTURE(models[i].seed);
    const auto random_row = [&](bool bilateral) {
      std::uniform_int_distribution<int> figure(-1, 2), kind(0, 5);
      const auto link = [&](int f) { return f < 0 ? 0 : int(rng() % size_t(figures.models[size_t(f)].link_count())); };
      Row r;
      const int k = kind(rng);
      r.a = figure(rng), r.b = std::max(figure(rng), 0);
      if (k == 0) r.a = r.b;
      r.link_a = link(r.a), r.link_b = link(r.b);
      r.E = random_axes(rng);
      const Eigen::VectorXd p = test::random_vector(3, rng);
      r.p = {p[0], p[1], p[2]};
      const int columns = figures.models[size_t(r.b)].nv();
      if (k == 5 && columns > 0) {
        r.kind = Row::kDof;
        for (int t = 0; t < 2; ++t) r.terms.emplace_back(int(rng() % size_t(columns)), t ? -0.7 : 1.0);
      } else if (k == 4) {
        r.kind = Row::kTurn;
      } else {
        r.mask = bilateral ? unsigned(1 + rng() % 7) : 0b111;
      }
      return r;
    };
    std::vector<Row> bilateral, others;
    while (count(bilateral) < nv / 3) bilateral.push_back(random_row(true));
    while (count(others) < std::min(nv / 4, 20)) others.push_back(random_row(false));
    if (i % 2) {  // some give way, from springs like feathers to those like steel, and some carry nothing
      for (Row& r : bilateral) {
        const int kind = int(rng() % 3);
        if (kind > 0) r.firmness = kind == 1 ? 0 : std::pow(10.0, double(rng() % 13) - 6);
      }
    }
    // Rows at random are far from dependent, or dependent to all digits; M of random trees costs some of these.
    compare(figures, bilateral, others, 1e-6, rng);
    ++islands;
  }
  CHECK(islands > 10);
}

TEST_CASE("loops: nets of bricks are as one matrix has them") {
  std::mt19937_64 rng(3);
  const Model brick =
      ModelBuilder("brick").base(Base::kFree).link("b", {.mass = 0.1, .inertia = {1e-4, 0, 0, 1e-4, 0, 2e-4}}).build();
  for (const int side : {4, 5, 6, 7, 10}) {
    CAPTURE(side);
    Figures figures;
    const auto place = [&](int x, int y) { return Vec3<>{0.1 * x, 0.1 * y, 0.02 * std::sin(1.3 * x + 0.7 * y)}; };
    for (int i = 0; i < side * side; ++i) {
      State s(brick);
      const Vec3<> p = place(i % side, i / side);
      s.q.head<3>() << p.x, p.y, p.z;
      s.v = 0.1 * test::random_vector(6, rng);
      figures.add(brick, s, rng);
    }
    std::vector<Row> knots;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const auto tie = [&](int i, int j, int u, int w) {
          knots.push_back({.a = i, .b = j, .p = 0.5 * (place(x, y) + place(u, w))});
        };
        if (x + 1 < side) tie(y * side + x, y * side + x + 1, x + 1, y);
        if (y + 1 < side) tie(y * side + x, y * side + x + side, x, y + 1);
      }
    }
    compare(figures, knots, {}, 1e-8, rng);
  }
}

TEST_CASE("loops: what hangs on one hub, rows over many trees, rows that nothing answers") {
  std::mt19937_64 rng(23);
  const auto brick = [](const std::string& name) {
    LinkDescription link;
    link.name = name;
    link.inertial = Inertial{.mass = 0.1, .inertia = {1e-4, 0, 0, 1e-4, 0, 2e-4}};
    return link;
  };
  // A hub that holds twenty bricks of another figure, each of which hangs on the ground by itself.
  ModelBuilder builder("loose");
  builder.link("world");
  for (int i = 0; i < 20; ++i) {
    const std::string name = "b" + std::to_string(i);
    builder.link(brick(name)).joint({.name = "j" + name, .type = JointType::kFree, .parent = "world", .child = name});
  }
  const Model loose = builder.build(), hub = ModelBuilder("hub").base(Base::kFree).link(brick("hub")).build();
  Figures figures;
  figures.add(loose, test::random_state(loose, rng), rng);
  figures.add(hub, test::random_state(hub, rng), rng);
  std::vector<Row> rows, others;
  for (int i = 0; i < 20; ++i) {
    const Eigen::VectorXd p = test::random_vector(3, rng);
    rows.push_back({.a = 1, .b = 0, .link_b = i + 1, .p = {p[0], p[1], p[2]}});
  }
  for (int i = 0; i < 5; ++i) {
    others.push_back({.a = -1, .b = 0, .link_b = 3 * i + 1, .E = random_axes(rng)});
    rows.push_back({.kind = Row::kDof, .b = 0, .terms = {{6 * i, 1}, {6 * i + 7, 0.5}, {6 * i + 14, -2}, {100, 1}}});
  }
  rows.push_back({.mask = 0b111111, .a = -1, .b = 0, .link_b = 0});  // the world against itself
  compare(figures, rows, others, 1e-8, rng);

  // The same structure gives the same bits, whatever was there before.
  const Eigen::VectorXd f = test::random_vector(count(others), rng);
  Answer first = answer(figures, count(rows), count(others)), again = first, between = answer(figures, 60, 0);
  Island island;
  island.most_dense = 0;
  figures.prepare();
  solve(island, figures, rows, others, f, first);
  solve(island, figures, {rows.begin(), rows.begin() + 20}, {}, f, between);
  solve(island, figures, rows, others, f, again);
  CHECK(first.vdot == again.vdot);
  CHECK(first.force == again.force);
  CHECK(first.G == again.G);
}
