#pragma once

#include "dyn_case.h"

/// The cases in tests/vectors/contact that concern constraint forces and impulses. Their conventions: free joint
/// q = [p, quaternion w x y z], v = [velocity of the origin, ω] in world axes; wrenches and rows [f; n].
namespace kansetsu::test {

// The cases agree with maximal coordinates to 2e-12.
inline constexpr double kTolerance = 1e-9;

inline Json contact_vectors(const char* name) {
  return load(std::filesystem::path(KANSETSU_TEST_VECTORS) / "contact" / name);
}

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

}  // namespace kansetsu::test
