#include "cli/eval_quantity.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/eval_forces.h"
#include "cli/json_shape.h"
#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/ik/method.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::cli {

void check_invertible(const Bench& bench, Status status, const Eigen::VectorXd& singular) {
  if (status == Status::kOk) return;
  if (status == Status::kNotFinite)
    throw StateError("the accelerations are not finite: check the state and the forces");
  const auto joints = singular_joints(bench.model, singular);
  throw StateError(
      fmt::format("the mass matrix is singular: nothing resists {}; give the links that move with {} mass, "
                  "or a joint rotor inertia",
                  fmt::join(joints, ", "), joints.size() == 1 ? "it" : "them"));
}

namespace {

void write_fk(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  LinkPoses poses(b.model);
  fk(b.model, in.state.q, b.work, poses);
  json.begin_object();
  for (int i = 0; i < b.model.link_count(); ++i) {
    const Transform<>& X_WL = poses[LinkId(i)];
    const Quaternion<> quat = to_quaternion(X_WL.R);
    json.key(b.model.link(LinkId(i)).name).begin_object().entry("p", X_WL.p);
    json.entry("quat_xyzw", Eigen::Vector4d(quat.x, quat.y, quat.z, quat.w)).end_object();
  }
  json.end_object();
}

Centroidal centroidal_of(Bench& b, const StateInput& in) {
  Centroidal result(b.model);
  centroidal(b.model, in.state, b.work, result);
  if (!(result.mass > 0)) throw StateError("nothing that moves has mass: there is no centre of mass");
  return result;
}

void write_com(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  json.value(centroidal_of(b, in).com);
}

void write_centroidal(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Centroidal c = centroidal_of(b, in);
  json.begin_object().key("h").begin_array();
  for (const Vec3<>& half : {c.h.t, c.h.f}) json.value(half.x).value(half.y).value(half.z);
  json.end_array().entry("mass", c.mass).end_object();
}

void write_energy(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Energy e = energy(b.model, in.state, b.work);
  json.begin_object().entry("kinetic", e.kinetic).entry("potential", e.potential).end_object();
}

void write_rnea(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  Eigen::VectorXd tau(b.model.nv());
  rnea(b.model, in.state, in.vdot, b.work, tau, &b.external);
  json.value(tau);
}

void write_crba(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  Eigen::MatrixXd M(b.model.nv(), b.model.nv());
  crba(b.model, in.state.q, b.work, M);
  json.matrix(M);
}

void write_aba(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  AbaResult result(b.model);
  aba(b.model, in.state, in.tau, b.work, result, &b.external);
  check_invertible(b, result.status, result.singular);
  json.value(result.vdot);
}

void write_jacobian(Bench& b, const StateInput& in, const Quantity& quantity, JsonWriter& json) {
  json.matrix(jacobian(b.model, in.state.q, quantity.from));
}

template <ik::Method method>
void write_method_jacobian(Bench& b, const StateInput& in, const Quantity& quantity, JsonWriter& json) {
  json.matrix(ik::method_jacobian(b.model, in.state.q, {quantity.from, {}}, {.method = method}));
}

void write_rnea_derivatives(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  RneaDerivatives d(b.model);
  rnea_derivatives(b.model, in.state, in.vdot, b.work, d, &b.external);
  json.begin_object().key("dq").matrix(d.dq).key("dv").matrix(d.dv).key("da").matrix(d.da).end_object();
}

void write_aba_derivatives(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  AbaDerivatives d(b.model);
  aba_derivatives(b.model, in.state, in.tau, b.work, d, &b.external);
  check_invertible(b, d.forward.status, d.forward.singular);
  json.begin_object().key("dq").matrix(d.dq).key("dv").matrix(d.dv).key("dtau").matrix(d.dtau).end_object();
}

void write_response(Bench& b, const StateInput& in, const Quantity& quantity, JsonWriter& json) {
  check_invertible(b, b.response.update(in.state.q), b.response.singular());
  json.matrix(b.response.link_response_world(quantity.to, quantity.from));
}

/// One number per tendon or actuator, by name.
template <class Number>
void write_each(JsonWriter& json, int count, const auto& name_of, Number&& number) {
  json.begin_object();
  for (int i = 0; i < count; ++i) json.entry(name_of(i), number(i));
  json.end_object();
}
Eigen::VectorXd dense(const MomentRow& row, int nv) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(nv);
  for (std::size_t k = 0; k < row.columns.size(); ++k) out[row.columns[k]] += row.values[k];
  return out;
}
/// The tendons and actuators at the state.
const Actuation& placed(Bench& b, const StateInput& in) {
  b.actuation.place(in.state);
  return b.actuation;
}
auto tendon_names(const Actuation& a) {
  return [&a](int i) -> const std::string& { return a.tendon(i).name; };
}
auto actuator_names(const Actuation& a) {
  return [&a](int i) -> const std::string& { return a.actuator(i).name; };
}
void write_tendon_length(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.tendon_count(), tendon_names(a), [&](int i) { return a.tendon_length(i); });
}
void write_tendon_velocity(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.tendon_count(), tendon_names(a), [&](int i) { return a.tendon_velocity(i); });
}
void write_tendon_moment(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.tendon_count(), tendon_names(a), [&](int i) { return dense(a.tendon_moment(i), b.model.nv()); });
}
void write_actuator_length(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.actuator_count(), actuator_names(a), [&](int i) { return a.actuator_length(i); });
}
void write_actuator_velocity(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.actuator_count(), actuator_names(a), [&](int i) { return a.actuator_velocity(i); });
}
void write_actuator_moment(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  write_each(json, a.actuator_count(), actuator_names(a),
             [&](int i) { return dense(a.actuator_moment(i), b.model.nv()); });
}
/// Controls and activations of a state, in order.
Eigen::VectorXd by_actuator(const Actuation& a, const std::map<std::string, double>& given) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(a.actuator_count());
  for (const auto& [name, x] : given) {
    const int i = a.find_actuator(name);
    if (i < 0) throw StateError(fmt::format("there is no actuator '{}'", name));
    out[i] = x;
  }
  return out;
}
void write_actuator_force(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  const Eigen::VectorXd u = by_actuator(a, in.control), x = by_actuator(a, in.activation);
  std::vector<ActuatorForce> forces(std::size_t(u.size()));
  a.forces(u, x, forces);
  write_each(json, a.actuator_count(), actuator_names(a), [&](int i) { return forces[std::size_t(i)].force; });
}
void write_actuator_torque(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  json.value(a.torques(by_actuator(a, in.control), by_actuator(a, in.activation)));
}
void write_activation_rate(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const Actuation& a = placed(b, in);
  const Eigen::VectorXd u = by_actuator(a, in.control), x = by_actuator(a, in.activation);
  write_each(json, a.actuator_count(), actuator_names(a), [&](int i) { return a.activation_rate(i, u[i], x[i]); });
}

struct Row {
  std::string_view name, links;  ///< e.g. "jacobian", ":LINK"
  Quantity::Write write;
};
constexpr std::array kTable{
    Row{"fk", "", write_fk},
    Row{"com", "", write_com},
    Row{"energy", "", write_energy},
    Row{"rnea", "", write_rnea},
    Row{"crba", "", write_crba},
    Row{"aba", "", write_aba},
    Row{"centroidal", "", write_centroidal},
    Row{"jacobian", ":LINK", write_jacobian},
    Row{"tangent_jacobian", ":LINK", write_method_jacobian<ik::Method::kTangent>},
    Row{"log_quaternion_jacobian", ":LINK", write_method_jacobian<ik::Method::kLogQuaternion>},
    Row{"euler_jacobian", ":LINK", write_method_jacobian<ik::Method::kEuler>},
    Row{"rnea_derivatives", "", write_rnea_derivatives},
    Row{"aba_derivatives", "", write_aba_derivatives},
    Row{"response", ":LINK:LINK", write_response},
    Row{"response_operators", "", write_operators},
    Row{"reactions", "", write_reactions},
    Row{"assembly", "", write_assembly},
    Row{"serial_assembly", "", write_serial_assembly},
    Row{"generation", "", write_generation},
    Row{"constraint_rows", "", write_constraint_rows},
    Row{"constrained_aba", "", write_constrained_aba},
    Row{"constrained_rnea", "", write_constrained_rnea},
    Row{"constrained_impulse", "", write_constrained_impulse},
    Row{"constrained_aba_derivatives", "", write_constrained_aba_derivatives},
    Row{"tendon_length", "", write_tendon_length},
    Row{"tendon_velocity", "", write_tendon_velocity},
    Row{"tendon_moment", "", write_tendon_moment},
    Row{"actuator_length", "", write_actuator_length},
    Row{"actuator_velocity", "", write_actuator_velocity},
    Row{"actuator_moment", "", write_actuator_moment},
    Row{"actuator_force", "", write_actuator_force},
    Row{"actuator_torque", "", write_actuator_torque},
    Row{"activation_rate", "", write_activation_rate},
};

std::vector<std::string> known_quantities() {
  std::vector<std::string> names;
  for (const Row& row : kTable) names.push_back(fmt::format("{}{}", row.name, row.links));
  return names;
}

std::vector<std::string> known_links(const Model& model) {
  std::vector<std::string> names;
  for (int i = 0; i < model.link_count(); ++i) names.push_back(model.link(LinkId(i)).name);
  return names;
}

/// "I:J" as two links. Names may contain colons: the first colon with a link on both sides separates them.
bool parse_pair(const std::string& text, const Model& model, Quantity& quantity, Problems& problems) {
  std::size_t colon = text.find(':');
  const std::size_t first_colon = colon;
  for (; colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const auto from = model.find_link(text.substr(0, colon)), to = model.find_link(text.substr(colon + 1));
    if (!from || !to) continue;
    quantity.from = *from;
    quantity.to = *to;
    return true;
  }
  const std::string first = text.substr(0, first_colon);
  const std::string unknown =
      model.find_link(first) && first_colon != std::string::npos ? text.substr(first_colon + 1) : first;
  problems.unknown("compute", "link", unknown, known_links(model));
  return false;
}

}  // namespace

std::optional<Quantity> parse_quantity(const std::string& name, const Model& model, Problems& problems) {
  const std::size_t colon = name.find(':');
  const auto row = std::ranges::find(kTable, name.substr(0, colon), &Row::name);
  if (row == kTable.end() || row->links.empty() != (colon == std::string::npos)) {
    problems.unknown("compute", "quantity", name, known_quantities());
    return std::nullopt;
  }
  Quantity quantity{name, row->write};
  if (row->links.empty()) return quantity;
  const std::string links = name.substr(colon + 1);
  if (row->links == ":LINK") {
    const auto link = model.find_link(links);
    if (!link) problems.unknown("compute", "link", links, known_links(model));
    if (!link) return std::nullopt;
    quantity.from = *link;
    return quantity;
  }
  if (!parse_pair(links, model, quantity, problems)) return std::nullopt;
  return quantity;
}

}  // namespace kansetsu::cli
