#include <algorithm>

#include "io/mjcf/mjcf_writer.h"

/// Loops, couplings and connections: <connect> and <weld> between sites, <joint> and <tendon>.
namespace kansetsu::io::mjcf {
namespace {

Element& start(Writer& w, const char* tag, const std::string& figure, const std::string& name) {
  Element& e = w.add(w.section("equality"), tag);
  w.set(e, "name", w.take_name("equality", figure, name));
  return e;
}

/// Whether MJCF has such a constraint.
bool is_held(Writer& w, ConstraintMask mask, const std::string& name) {
  if (mask == kWeldMask || mask == kPointMask) return true;
  w.lose("connections other than welds and points", name);
  return false;
}

void write_join(Writer& w, const std::string& figure, const std::string& name, ConstraintMask mask,
                const std::string& site_a, const std::string& site_b, bool active) {
  Element& e = start(w, mask == kWeldMask ? "weld" : "connect", figure, name);
  w.set(e, "site1", site_a);
  w.set(e, "site2", site_b);
  if (!active) w.set(e, "active", "false");
}

/// The polynomial shifted to another reference point and value: MuJoCo measures both sides from the reference configuration.
std::array<double, 5> about(const PolynomialCoupling& c, double value, double point) {
  constexpr double kChoose[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
  const double shift = point - c.driver_reference;
  std::array<double, 5> out{};
  for (int j = 0; j < 5; ++j) {
    double power = 1;
    for (int k = j; k >= 0; --k, power *= shift)
      out[std::size_t(k)] += c.coefficient[std::size_t(j)] * kChoose[j][k] * power;
  }
  if (!c.driver) out = {c.coefficient[0], 0, 0, 0, 0};
  out[0] += c.reference - value;
  return out;
}

/// The value of a joint or tendon in the reference configuration.
double reference_value(const Writer& w, const FigureDescription& f, const DofRef& of, bool tendon) {
  if (tendon) {
    const TendonDescription* t = find_named(f.actuation.tendons, of.joint);
    return t ? reference_length(w, f, *t) : 0;
  }
  const JointDescription* joint = find_named(f.model.joints, of.joint);
  return joint ? reference_of(f, *joint)[std::size_t(of.index)] : 0;
}

void write_coupling(Writer& w, const FigureDescription& f, const PolynomialCoupling& c) {
  const auto name_of = [&](const DofRef& of) {
    if (!c.tendons) return w.joint_of(f.name, of);
    const std::string* found = find_in(w.tendons, {f.name, of.joint});
    return found ? *found : std::string();
  };
  const std::string first = name_of(c.dependent), second = c.driver ? name_of(*c.driver) : "";
  if (first.empty() || (c.driver && second.empty())) return w.lose("couplings of omitted elements", c.name);
  Element& e = start(w, c.tendons ? "tendon" : "joint", f.name, c.name);
  w.set(e, c.tendons ? "tendon1" : "joint1", first);
  if (c.driver) w.set(e, c.tendons ? "tendon2" : "joint2", second);
  const double value = reference_value(w, f, c.dependent, c.tendons);
  const double point = c.driver ? reference_value(w, f, *c.driver, c.tendons) : 0;
  w.set(e, "polycoef", about(c, value, point));
}

/// A gear removes a coordinate; here it remains, with an equality constraint.
void write_gear(Writer& w, const FigureDescription& f, const Coupling& gear) {
  const std::string name = gear.dependent.joint + "_gear";
  w.lose("rigid gears; replaced by soft equalities", gear.dependent.joint);
  if (gear.terms.size() == 1) {
    PolynomialCoupling c;
    c.name = name;
    c.dependent = gear.dependent;
    c.driver = gear.terms[0].dof;
    c.coefficient = {gear.offset, gear.terms[0].ratio, 0, 0, 0};
    return write_coupling(w, f, c);
  }
  // Several terms: a fixed tendon q − Σ ratio·term whose length is the offset.
  TendonDescription t;
  t.name = name;
  t.terms.push_back({gear.dependent, 1});
  for (const Coupling::Term& term : gear.terms) t.terms.push_back({term.dof, -term.ratio});
  Element& e = w.add(w.section("tendon"), "fixed");
  const std::string tendon = w.take_name("tendon", f.name, name);
  w.set(e, "name", tendon);
  write_terms(w, f, t.terms, e);
  Element& equality = start(w, "tendon", f.name, name);
  w.set(equality, "tendon1", tendon);
  w.set(equality, "polycoef", std::array{gear.offset - reference_length(w, f, t), 0.0, 0.0, 0.0, 0.0});
}

/// Hold::kRelativePose: the second site is placed at the first anchor's initial pose.
void write_connection(Writer& w, const ConnectionDescription& c) {
  if (!is_held(w, c.mask, c.name)) return;
  if (c.break_force < kInfinity || c.break_torque < kInfinity) w.lose("connections that break", c.name);
  if (c.restitution != PerDirection(0.0)) w.lose("connections that rebound", c.name);
  if (c.compliance != Compliance{}) w.lose("the stiffness of connections", c.name);
  if (c.motion) w.lose("motions of connections", c.name);
  const std::string a = w.site_at(c.a.figure, c.a.link, c.a.pose, c.name + "_a");
  if (c.hold == Hold::kTogether)
    return write_join(w, {}, c.name, c.mask, a, w.site_at(c.b.figure, c.b.link, c.b.pose, c.name + "_b"), c.active);
  const LinkPlace first = w.find_place(c.a.figure, c.a.link), second = w.find_place(c.b.figure, c.b.link);
  const auto pose = [&](int body) { return body < 0 ? Transform<>{} : w.bodies[std::size_t(body)].X_W0; };
  const Transform<> X_WA = pose(first.body) * first.X_BL * to_transform(c.a.pose);
  const std::string b = w.site_on(second.body, inverse(pose(second.body)) * X_WA, c.name + "_b");
  write_join(w, {}, c.name, c.mask, a, b, c.active);
}

}  // namespace

void write_equalities(Writer& w) {
  for (const FigureDescription& f : w.scene.figures) {
    for (const LoopClosure& loop : f.loops) {
      if (!is_held(w, loop.mask, loop.name)) continue;
      const std::string a = w.site_at(f.name, loop.link_a, loop.pose_a, loop.name + "_a");
      const std::string b = w.site_at(f.name, loop.link_b, loop.pose_b, loop.name + "_b");
      write_join(w, f.name, loop.name, loop.mask, a, b, true);
    }
    for (const PolynomialCoupling& c : f.couplings) write_coupling(w, f, c);
    for (const Coupling& gear : f.model.couplings) write_gear(w, f, gear);
  }
  for (const ConnectionDescription& c : w.scene.connections) write_connection(w, c);
}

}  // namespace kansetsu::io::mjcf
