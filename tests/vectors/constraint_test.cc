#include <doctest/doctest.h>

#include "constraint/island.h"
#include "dyn_case.h"
#include "kansetsu/kinematics/centroidal.h"

using namespace kansetsu;
using namespace kansetsu::test;

/// The cases of spec/rotations_ik_contact.md §13 that concern constraint forces and impulses. Their conventions: free joint
/// q = [p, quaternion w x y z], v = [velocity of the origin, ω] in world axes; wrenches and rows [f; n].
namespace {

// The cases agree with maximal coordinates to 2e-12.
constexpr double kTolerance = 1e-9;

Json contact_vectors(const char* name) { return load(std::filesystem::path(KANSETSU_TEST_VECTORS) / "contact" / name); }

/// The model of a case: bodies b0, b1, …, joints j0, j1, …. Free bodies are the root, or hang on the ground by a free joint.
struct Case {
  Case(const Json& c, const Json& description) : json(c), model(build(description)), state(model) {
    int q = 0, v = 0;
    for (size_t i = 0; i < description.at("bodies").size(); ++i) {
      const bool is_free = description.at("bodies")[i].at("joint") == "free";
      const bool is_root = i == 0 && is_free;
      const CoordinateRange r =
          is_root ? model.base_coordinates() : model.coordinates(model.joint_id("j" + std::to_string(i)));
      bodies.push_back({is_free, r, q, v});
      q += is_free ? 7 : 1;
      v += is_free ? 6 : 1;
    }
    const Eigen::VectorXd given_q = vector(json.at("q")), given_v = vector(json.at("v"));
    for (const Body& b : bodies) {
      if (!b.free) {
        state.q[b.ours.q] = given_q[b.q];
        state.v[b.ours.v] = given_v[b.v];
        continue;
      }
      const auto x = given_q.segment<7>(b.q);
      state.q.segment<7>(b.ours.q) << x[0], x[1], x[2], x[4], x[5], x[6], x[3];
    }
    state.v = from_case(given_v);
  }

  struct Body {
    bool free;
    CoordinateRange ours;
    int q, v;  ///< in the case's vectors
  };

  static Model build(const Json& description) {
    const Json& list = description.at("bodies");
    ModelBuilder builder("case");
    const bool free_base = list[0].at("joint") == "free";
    builder.base(free_base ? Base::kFree : Base::kFixed).gravity(vec(description.at("gravity")));
    if (!free_base) builder.link("ground");
    for (size_t i = 0; i < list.size(); ++i) {
      const Json& b = list[i];
      const std::string name = "b" + std::to_string(i), type = b.at("joint");
      const Vec3<> I = vec(b.at("I_com_diag"));
      const double mass = b.at("mass");
      if (mass > 0)
        builder.link(name, Inertial{mass, {vec(b.at("com")), {}}, Sym3<>::diagonal(I.x, I.y, I.z)});
      else
        builder.link(name);
      if (i == 0 && free_base) continue;
      const int parent = b.at("parent");
      JointDescription joint;
      joint.name = "j" + std::to_string(i);
      joint.type = type == "rev" ? JointType::kRevolute : type == "free" ? JointType::kFree : JointType::kPrismatic;
      joint.parent = parent < 0 ? "ground" : "b" + std::to_string(parent);
      joint.child = name;
      joint.socket.p = vec(b.at("r_parent"));
      if (type != "free") joint.axis = vec(b.at("axis"));
      builder.joint(joint);
    }
    return builder.build();
  }

  Mat3<> rotation(const Body& b) const {
    const auto r = state.q.segment<4>(b.ours.q + 3);
    return to_mat3(Quaternion<>{r[0], r[1], r[2], r[3]});
  }
  Eigen::VectorXd from_case(const Eigen::VectorXd& v) const {
    Eigen::VectorXd out(model.nv());
    for (const Body& b : bodies) {
      if (!b.free) {
        out[b.ours.v] = v[b.v];
        continue;
      }
      const Mat3<> R = rotation(b);
      const Vec3<> u = transpose_times(R, Vec3<>{v[b.v], v[b.v + 1], v[b.v + 2]});
      const Vec3<> w = transpose_times(R, Vec3<>{v[b.v + 3], v[b.v + 4], v[b.v + 5]});
      out.segment<6>(b.ours.v) << w.x, w.y, w.z, u.x, u.y, u.z;
    }
    return out;
  }
  /// Derivative of v in the case's convention; with drift for accelerations, without for jumps.
  Eigen::VectorXd to_case(const Eigen::VectorXd& vdot, bool drift) const {
    Eigen::VectorXd out(model.nv());
    for (const Body& b : bodies) {
      if (!b.free) {
        out[b.v] = vdot[b.ours.v];
        continue;
      }
      const auto now = state.v.segment<6>(b.ours.v), rate = vdot.segment<6>(b.ours.v);
      Vec3<> a{rate[3], rate[4], rate[5]};
      if (drift) a += cross(Vec3<>{now[0], now[1], now[2]}, Vec3<>{now[3], now[4], now[5]});
      const Vec3<> A = rotation(b) * a, alpha = rotation(b) * Vec3<>{rate[0], rate[1], rate[2]};
      out.segment<6>(b.v) << A.x, A.y, A.z, alpha.x, alpha.y, alpha.z;
    }
    return out;
  }
  /// A torque, or a row of a Jacobian: what goes with from_case().
  Eigen::VectorXd torque(const Eigen::VectorXd& given) const {
    Eigen::VectorXd out(model.nv());
    for (int k = 0; k < model.nv(); ++k) out[k] = to_case(Eigen::VectorXd::Unit(model.nv(), k), false).dot(given);
    return out;
  }

  Json json;
  Model model;
  State state;
  std::vector<Body> bodies;
};

unsigned mask_of(const Json& rows) {
  unsigned mask = 0;
  for (const int row : rows) mask |= 1u << row;
  return mask;
}

void prepare(Mechanics& m, const Case& c, const Eigen::VectorXd& tau) {
  m.set_pose(c.state.q.data());
  m.set_motion(c.state.v.data());
  m.factorise(nullptr);
  m.set_torque(tau.data());
}

}  // namespace

TEST_CASE("constraint forces of the reference cases: sticking contacts, standing human, free flight") {
  int seen = 0;
  const Json human = contact_vectors("human_model.json");
  const Json file = contact_vectors("constraint_force_cases.json");
  for (const Json& json : file.at("cases")) {
    const std::string name = json.at("name");
    CAPTURE(name);
    const Json contacts = json.contains("contacts")  ? json.at("contacts")
                          : json.contains("contact") ? Json::array({json.at("contact")})
                                                     : Json::array();
    if (json.contains("grips")) continue;
    if (json.contains("contact") && json.at("contact").at("mode") != "stick") continue;  // friction: the solver's tests
    ++seen;
    const Case c(json, json.contains("model") ? json.at("model") : human.at("model"));
    Mechanics m(c.model);
    prepare(m, c, c.torque(vector(json.at("tau"))));
    Island island;
    Mechanics* figures[] = {&m};
    int rows = 0;
    for (const Json& contact : contacts) {
      rows += contact.contains("rows") ? int(contact.at("rows").size()) : 6;
    }
    island.begin(figures, rows, 0);
    int row = 0;
    for (const Json& contact : contacts) {
      const LinkId link = c.model.link_id("b" + std::to_string(contact.at("body").get<int>()));
      const Mat3<> E =
          contact.contains("axes_world_columns") ? mat(contact.at("axes_world_columns")) : Mat3<>::identity();
      const unsigned mask = contact.contains("rows") ? mask_of(contact.at("rows")) : 0b111111;
      const Vec3<> p = contact.contains("point_world") ? vec(contact.at("point_world"))
                                                       : m.link_pose(link) * vec(contact.at("point_local"));
      island.add_frame(row, mask, {}, {.figure = &m, .body = m.body_of(link)}, E, p);
      row += std::popcount(mask);
    }
    island.assemble();
    island.hold_accelerations();
    island.complete(nullptr, 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());
    CHECK(deviation(c.to_case(vdot, true), vector(json.at("qdd"))) < kTolerance);
    if (rows == 0) continue;
    const Eigen::VectorXd expected = vector(json.at("tau_C"));
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), rows)), expected) < kTolerance);
    if (json.contains("rank_HC")) CHECK(island.rank() == json.at("rank_HC").get<int>());
  }
  CHECK(seen >= 6);
}

TEST_CASE("scenario 19: a bar in two hinged hands, 10 rows of rank 7: accelerations unique, forces of least norm") {
  const Json file = contact_vectors("constraint_force_cases.json");
  for (const Json& json : file.at("cases")) {
    if (!json.contains("grips")) continue;
    const Case c(json, json.at("model"));
    Mechanics m(c.model);
    prepare(m, c, c.torque(vector(json.at("tau"))));
    Island island;
    Mechanics* figures[] = {&m};
    const Eigen::MatrixXd H = matrix(json.at("H_C"));
    island.begin(figures, int(H.rows()), 0);
    for (long r = 0; r < H.rows(); ++r) {
      const Eigen::VectorXd row = c.torque(H.row(r));
      for (int k = 0; k < c.model.nv(); ++k) island.add_dof(int(r), m, k, row[k], c.state.v[k]);
      // Rows give d(H·v)/dt in the case's convention; ours lacks the turning axes of the free bar.
      island.a()[r] =
          vector(json.at("Hdot_qd"))[r] + H.row(r).dot(c.to_case(Eigen::VectorXd::Zero(c.model.nv()), true));
    }
    island.assemble();
    CHECK(island.rank() == json.at("rank").get<int>());
    CHECK(island.hold_accelerations() < kTolerance);
    island.complete(nullptr, 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());
    CHECK(deviation(c.to_case(vdot, true), vector(json.at("qdd"))) < kTolerance);
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), H.rows())),
                    vector(json.at("tau_C_min_norm"))) < kTolerance);
  }
}

TEST_CASE("impulses of the reference cases: velocities, momentum and energy") {
  int seen = 0;
  const Json file = contact_vectors("impulse_cases.json");
  for (const Json& json : file.at("cases")) {
    if (!json.contains("model")) continue;  // the cradle has bodies without a mechanism: the solver's test
    const std::string name = json.at("name");
    CAPTURE(name);
    ++seen;
    const Case c(json, json.at("model"));
    Mechanics m(c.model);
    prepare(m, c, Eigen::VectorXd::Zero(c.model.nv()));
    const Json& contact = json.at("contact");
    const unsigned mask = mask_of(contact.at("rows"));
    const int rows = std::popcount(mask);
    const LinkId link = c.model.link_id("b" + std::to_string(contact.at("body").get<int>()));
    Island island;
    Mechanics* figures[] = {&m};
    island.begin(figures, rows, 0);
    island.add_frame(0, mask, {}, {.figure = &m, .body = m.body_of(link)}, mat(contact.at("axes_world_columns")),
                     vec(contact.at("point_world")));
    const Eigen::VectorXd before = vector(json.at("vC_before")), e = vector(contact.at("e"));
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<Eigen::VectorXd>(island.u(), rows)), before) < kTolerance);
    island.assemble();
    for (int r = 0; r < rows; ++r) island.target()[r] = -e[r] * island.u()[r];
    island.hold_velocities();
    island.complete(nullptr, 0);
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), rows)),
                    vector(json.at("impulse_on_link"))) < kTolerance);
    State after = c.state;
    island.respond(0, after.v.data());
    CHECK(deviation(c.to_case(after.v - c.state.v, false), vector(json.at("dv"))) < kTolerance);
    const double dT = energy(c.model, after).kinetic - energy(c.model, c.state).kinetic;
    CHECK(std::abs(dT - json.at("dT").get<double>()) < kTolerance * (1 + std::abs(dT)));
    const Vec3<> dP = centroidal(c.model, after).h.f - centroidal(c.model, c.state).h.f;
    CHECK(deviation(dP, vec(json.at("dP"))) < kTolerance);
  }
  CHECK(seen == 9);
}
