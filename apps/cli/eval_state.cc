#include "cli/eval_state.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/json_shape.h"
#include "kansetsu/model/joint_values.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::cli {
namespace {

using nlohmann::json;

constexpr double kAgreement =
    1e-9;  // of values given for geared coordinates, relative to the larger of 1 and the value
constexpr double kUnitLength = 1e-6;  // of quaternions

bool agree(double given, double follows) {
  return std::abs(given - follows) <= kAgreement * std::max(1.0, std::abs(follows));
}

/// Keeps only the first error of a state.
void fail(StateInput& input, std::string what) {
  if (input.error.empty()) input.error = std::move(what);
}

bool has_quaternion(JointType type) { return info(type).nq != info(type).nv; }

/// Scales a quaternion of almost unit length to unit length.
void normalise(double* quaternion, const std::string& path, StateInput& input) {
  Eigen::Map<Eigen::Vector4d> quat(quaternion);
  const double length = quat.norm();
  if (!(std::abs(length - 1) <= kUnitLength))
    return fail(input, fmt::format("{}: the quaternion's length is {}, not 1", path, length));
  quat /= length;
}

Vec3<> vec3(const double* x) { return {x[0], x[1], x[2]}; }

}  // namespace

struct StateReader::Given {
  JointId joint;
  std::vector<double> values;
  std::string path;
};

StateReader::StateReader(const Model& model) : model_(model) {
  for (const Coupling& c : model.description().couplings) {
    dependent_.emplace(model.joint_id(c.dependent.joint).value(), c.dependent.index);
  }
  for (int i = 0; i < model.link_count(); ++i) link_names_.push_back(model.link(LinkId(i)).name);
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    if (info(joint.type).nv > 0) joint_names_.push_back(joint.name);
  }
}

StateInput StateReader::read(const json& state, const std::string& path, Problems& problems) const {
  StateInput input(model_);
  if (!is_object_of(state, path, {"base", "q", "v", "a", "tau", "fext", "u", "act"}, problems)) return input;
  if (const auto base = state.find("base"); base != state.end()) read_base(*base, path + ".base", input, problems);
  if (const auto fext = state.find("fext"); fext != state.end()) read_wrenches(*fext, path + ".fext", input, problems);
  const auto read_numbers = [&](const char* key, std::map<std::string, double>& out) {
    const auto found = state.find(key);
    if (found == state.end() || !is_object(*found, fmt::format("{}.{}", path, key), problems)) return;
    for (const auto& [name, value] : found->items()) {
      if (const auto x = numbers(value, 1, fmt::format("{}.{}.{}", path, key, name), problems)) out[name] = x->front();
    }
  };
  read_numbers("u", input.control);
  read_numbers("act", input.activation);
  set_positions(read_joints(state, "q", path, problems), input);
  set_rates(read_joints(state, "v", path, problems), input.state.v, input);
  set_rates(read_joints(state, "a", path, problems), input.vdot, input);
  set_torques(read_joints(state, "tau", path, problems), input);
  return input;
}

std::vector<StateReader::Given> StateReader::read_joints(const json& state, const char* section,
                                                         const std::string& path, Problems& problems) const {
  std::vector<Given> result;
  const auto found = state.find(section);
  if (found == state.end()) return result;
  const std::string at = fmt::format("{}.{}", path, section);
  if (!is_object(*found, at, problems)) return result;
  for (const auto& [name, value] : found->items()) {
    const auto joint = model_.find_joint(name);
    if (!joint) {
      problems.unknown(at, "joint", name, joint_names_);
      continue;
    }
    const JointTypeInfo& type = info(model_.joint(*joint).type);
    std::string own_path = fmt::format("{}.{}", at, name);
    if (type.nv == 0) {
      problems.bad_shape(own_path, "is a fixed joint and has no coordinates");
      continue;
    }
    const int count = std::string_view(section) == "q" ? type.nq : type.nv;
    if (auto values = numbers(value, count, own_path, problems)) {
      result.push_back({*joint, *std::move(values), std::move(own_path)});
    }
  }
  return result;
}

void StateReader::read_base(const json& base, const std::string& path, StateInput& input, Problems& problems) const {
  if (!is_object_of(base, path, {"p", "quat_xyzw", "omega", "v", "alpha", "a", "tau"}, problems)) return;
  const auto read = [&](const char* name, int count) {
    const auto found = base.find(name);
    std::vector<double> zeros(std::size_t(count), 0.0);
    if (found == base.end()) return zeros;
    return numbers(*found, count, fmt::format("{}.{}", path, name), problems).value_or(zeros);
  };
  std::vector<double> quat{0, 0, 0, 1};
  if (base.contains("quat_xyzw")) {
    quat = read("quat_xyzw", 4);
    normalise(quat.data(), path + ".quat_xyzw", input);
  }
  const std::vector<double> p = read("p", 3);
  if (model_.base() == Base::kFixed) {
    if (base.contains("p") || base.contains("quat_xyzw"))
      input.base_pose = Transform<>{to_mat3(Quaternion<>{quat[0], quat[1], quat[2], quat[3]}), vec3(p.data())};
  } else {
    input.state.q.head<3>() = Eigen::Vector3d::Map(p.data());
    input.state.q.segment<4>(3) = Eigen::Vector4d::Map(quat.data());
  }

  const auto set = [&](const char* name, Eigen::VectorXd& to, int first, int count) {
    const std::vector<double> values = read(name, count);
    const auto x = Eigen::VectorXd::Map(values.data(), count);
    if (model_.base() == Base::kFree) {
      to.segment(first, count) = x;
    } else if (!x.isZero(0)) {
      fail(input, fmt::format("{}.{}: the base is fixed; --base free lets it move", path, name));
    }
  };
  set("omega", input.state.v, 0, 3);
  set("v", input.state.v, 3, 3);
  set("alpha", input.vdot, 0, 3);
  set("a", input.vdot, 3, 3);
  set("tau", input.tau, 0, 6);
}

void StateReader::read_wrenches(const json& fext, const std::string& path, StateInput& input,
                                Problems& problems) const {
  if (!is_object(fext, path, problems)) return;
  for (const auto& [name, value] : fext.items()) {
    const auto link = model_.find_link(name);
    if (!link) {
      problems.unknown(path, "link", name, link_names_);
    } else if (const auto x = numbers(value, 6, fmt::format("{}.{}", path, name), problems)) {
      input.wrenches.emplace_back(*link, Force<>{vec3(x->data()), vec3(x->data() + 3)});
    }
  }
}

void StateReader::set_positions(const std::vector<Given>& given, StateInput& input) const {
  bool any_follows = false;
  for (Given g : given) {
    const JointType type = model_.joint(g.joint).type;
    const CoordinateRange range = model_.coordinates(g.joint);
    if (has_quaternion(type)) normalise(g.values.data() + g.values.size() - 4, g.path, input);  // last in a free joint
    int next = range.q;
    for (int k = 0; k < int(g.values.size()); ++k) {
      const bool follows = is_dependent(g.joint, has_quaternion(type) ? 0 : k);
      any_follows = any_follows || follows;
      if (!follows) input.state.q[next++] = g.values[std::size_t(k)];
    }
  }
  if (!any_follows || !input.error.empty()) return;

  const auto values = joint_values(model_, input.state.q);
  for (const Given& g : given) {
    const std::vector<double>& own = values[std::size_t(g.joint.value())];
    const bool opposite = has_quaternion(model_.joint(g.joint).type) &&
                          Eigen::Vector4d::Map(&own.back() - 3).dot(Eigen::Vector4d::Map(&g.values.back() - 3)) < 0;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double sign = opposite && k + 4 >= own.size() ? -1 : 1;  // a quaternion and its negative are the same
      if (!agree(sign * g.values[k], own[k]))
        return fail(input, fmt::format("{}: is {}, but its gear makes it {}", g.path, g.values[k], own[k]));
    }
  }
}

void StateReader::set_rates(const std::vector<Given>& given, Eigen::VectorXd& rates, StateInput& input) const {
  for (const Given& g : given) {
    int next = model_.coordinates(g.joint).v;
    for (int k = 0; k < int(g.values.size()); ++k) {
      if (!is_dependent(g.joint, k)) rates[next++] = g.values[std::size_t(k)];
    }
  }
  for (const Given& g : given) {
    for (int k = 0; k < int(g.values.size()); ++k) {
      double follows = 0;
      for (const auto& [column, ratio] : model_.row(g.joint, k).terms) follows += ratio * rates[column];
      if (const double x = g.values[std::size_t(k)]; !agree(x, follows))
        return fail(input, fmt::format("{}: is {}, but its gear makes it {}", g.path, x, follows));
    }
  }
}

void StateReader::set_torques(const std::vector<Given>& given, StateInput& input) const {
  for (const Given& g : given) {
    for (int k = 0; k < int(g.values.size()); ++k) {
      for (const auto& [column, ratio] : model_.row(g.joint, k).terms) {
        input.tau[column] += ratio * g.values[std::size_t(k)];
      }
    }
  }
}

}  // namespace kansetsu::cli
