#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/quaternion.h"

/// Loader of the reference cases "dyn-case-1" of tests/vectors/dynamics. Their conventions differ from ours in the order of
/// quaternions (w x y z), in forces given in body axes, and in the classical acceleration of the root.
namespace kansetsu::test {

using Json = nlohmann::json;

inline Vec3<> vec(const Json& j) { return {j.at(0), j.at(1), j.at(2)}; }
inline Mat3<> mat(const Json& j) { return {vec(j.at(0)), vec(j.at(1)), vec(j.at(2))}; }
inline Transform<> pose(const Json& j) { return {mat(j.at("R")), vec(j.at("r"))}; }
inline Eigen::MatrixXd matrix(const Json& j) {
  const long cols = j.empty() ? 0 : long(j.at(0).size());
  Eigen::MatrixXd out(long(j.size()), cols);
  for (long r = 0; r < out.rows(); ++r) {
    for (long c = 0; c < cols; ++c) out(r, c) = j.at(size_t(r)).at(size_t(c));
  }
  return out;
}
inline Eigen::VectorXd vector(const Json& j) {
  Eigen::VectorXd out(long(j.size()));
  for (long i = 0; i < out.size(); ++i) out[i] = j.at(size_t(i));
  return out;
}

inline Json load(const std::filesystem::path& path) { return Json::parse(std::ifstream(path)); }
inline std::filesystem::path dynamics_vectors() { return std::filesystem::path(KANSETSU_TEST_VECTORS) / "dynamics"; }

/// Files of the folder whose names begin with one of the prefixes, sorted. Chains with both ends fixed are loops: only if
/// asked for.
inline std::vector<std::filesystem::path> vector_files(std::initializer_list<std::string_view> prefixes) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(dynamics_vectors())) {
    for (std::string_view prefix : prefixes) {
      const std::string name = entry.path().filename().string();
      const bool is_loop = name.starts_with("chain_fixed_fixed") && prefix == "chain_";
      if (name.starts_with(prefix) && !is_loop) out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct DynCase {
  Json json;
  Model model;
  State state;
  Eigen::VectorXd tau;  ///< in the model's coordinates
  ExternalForces external;

  explicit DynCase(const std::filesystem::path& path)
      : json(load(path)), model(build(json)), state(model), tau(Eigen::VectorXd::Zero(model.nv())), external(model) {
    set_state();
    set_forces();
  }

  static std::string link_name(int body) { return "b" + std::to_string(body); }
  static std::string joint_name(int body) { return "j" + std::to_string(body); }
  LinkId link(int body) const { return model.link_id(link_name(body)); }
  JointId joint(int body) const { return model.joint_id(joint_name(body)); }
  const Json& body(int i) const { return json.at("bodies").at(size_t(i)); }
  const Json& expected(int i) const { return json.at("expect").at("bodies").at(size_t(i)); }
  int body_count() const { return int(json.at("bodies").size()); }

  /// Columns of v in the order of the vectors: root, then body by body (ours is depth first). Without gears.
  std::vector<int> columns() const {
    std::vector<int> out;
    const auto add = [&](const CoordinateRange& range) {
      for (int k = 0; k < range.nv; ++k) out.push_back(range.v + k);
    };
    add(model.base_coordinates());
    for (int i = 1; i < body_count(); ++i) add(model.coordinates(joint(i)));
    return out;
  }

  /// Coordinates of a body's joint from a vector over v.
  Eigen::VectorXd joint_rate(int body, const Eigen::VectorXd& v) const {
    const JointId id = joint(body);
    Eigen::VectorXd out = Eigen::VectorXd::Zero(info(model.joint(id).type).nv);
    for (int k = 0; k < out.size(); ++k) {
      for (const auto& [column, ratio] : model.row(id, k).terms) out[k] += ratio * v[column];
    }
    return out;
  }

 private:
  static Model build(const Json& json) {
    ModelBuilder builder(json.at("name").get<std::string>());
    const bool floating = json.at("root") == "floating";
    builder.base(floating ? Base::kFree : Base::kFixed).gravity(vec(json.at("gravity")));
    if (!floating) builder.base_pose(to_pose(pose(json.at("root_pose"))));
    for (const Json& b : json.at("bodies")) {
      const int i = b.at("index");
      Inertial inertial{b.at("mass"), {vec(b.at("com")), {}}, to_sym3(mat(b.at("inertia_com")))};
      builder.link(link_name(i), inertial);
      const std::string type = b.at("joint");
      if (type == "root") continue;
      JointDescription joint;
      joint.name = joint_name(i);
      joint.type = *find_joint_type(type == "ball_quat" ? "ball" : type);
      joint.parent = link_name(b.at("parent"));
      joint.child = link_name(i);
      joint.socket = to_pose(pose(b.at("socket")));
      joint.plug = to_pose(pose(b.at("plug")));
      builder.joint(joint);
    }
    for (const Json& c : json.at("couplings")) {
      for (size_t m = 1; m < c.at("bodies").size(); ++m) {
        builder.gear(joint_name(c.at("bodies")[m]), joint_name(c.at("bodies")[0]), c.at("ratios")[m]);
      }
    }
    return builder.build();
  }

  void set_state() {
    if (model.base() == Base::kFree) {
      const Transform<> X = pose(json.at("root_pose"));
      const Quaternion<> r = to_quaternion(X.R);
      state.q.head<7>() << X.p.x, X.p.y, X.p.z, r.x, r.y, r.z, r.w;
      const Vec3<> w = vec(json.at("root_velocity").at("omega")), v = vec(json.at("root_velocity").at("v"));
      state.v.head<6>() << w.x, w.y, w.z, v.x, v.y, v.z;
    }
    for (int i = 1; i < body_count(); ++i) {
      const CoordinateRange range = model.coordinates(joint(i));
      if (range.nv == 0) continue;
      const Eigen::VectorXd q = vector(body(i).at("q")), qd = vector(body(i).at("qd"));
      if (range.nq == 4 && range.nv == 3) {
        state.q.segment<4>(range.q) << q[1], q[2], q[3], q[0];
      } else {
        state.q.segment(range.q, range.nq) = q;
      }
      state.v.segment(range.v, range.nv) = qd;
    }
  }

  void set_forces() {
    const LinkPoses poses = fk(model, state.q);
    for (int i = 0; i < body_count(); ++i) {
      const Json& fext = body(i).at("fext");
      const Mat3<>& R = poses[link(i)].R;
      external[link(i)] = {R * vec(fext.at("n")), R * vec(fext.at("f"))};
      if (i == 0) continue;
      const Eigen::VectorXd torque = vector(body(i).at("tau"));
      for (int k = 0; k < torque.size(); ++k) {
        for (const auto& [column, ratio] : model.row(joint(i), k).terms) tau[column] += ratio * torque[k];
      }
    }
  }
};

/// Largest deviation, relative to the largest magnitude of the reference, at least 1 (the measure of the vectors).
template <class A, class B>
double deviation(const A& value, const B& reference) {
  return (value - reference).template lpNorm<Eigen::Infinity>() /
         std::max(1.0, reference.template lpNorm<Eigen::Infinity>());
}
inline Eigen::Vector3d eigen(const Vec3<>& a) { return {a.x, a.y, a.z}; }
inline double deviation(const Vec3<>& value, const Vec3<>& reference) {
  return deviation(eigen(value), eigen(reference));
}

}  // namespace kansetsu::test
