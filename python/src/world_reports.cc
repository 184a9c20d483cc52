#include <fmt/format.h>

#include "errors.h"
#include "world_handle.h"

/// Reports of a step as arrays of records. Their data types are in kansetsu/_records.py.
namespace kansetsu::python {
namespace {

struct ContactRecord {
  std::int32_t a[2], b[2];  // figure, link
  std::int32_t id, shape_a, shape_b;
  std::int8_t mode, slip, tier, unused;
  double p[3], normal[3], wrench[6], pressure[3], gap, residual, impulse[6], impact_energy;
};

struct ConnectionRecord {
  std::int32_t a[2], b[2], id, unused;
  double p[3], wrench[6], impulse[6], position_gap, angle_gap;
};

struct ActuatorRecord {
  double control, activation, length, velocity, force, power;
  std::int64_t clamped;
};

void put_body(const BodyRef& body, std::int32_t* out) {
  out[0] = body.figure.value(), out[1] = body.is_world() ? -1 : body.link.value();
}

void put_force(const Force<>& F, double* out) { put(F.t, out), put(F.f, out + 3); }

nb::object dtype(const char* name) { return nb::module_::import_("kansetsu._records").attr(name); }

AnyDict report_of(WorldHandle& w) {
  const WorldHandle::Call call(w, "World.report");
  const StepReport& r = w.world.report();
  nb::dict out;
  out["time"] = r.time, out["residual"] = r.residual, out["penetration"] = r.penetration, out["loop_gap"] = r.loop_gap;
  out["loop_angle"] = r.loop_angle, out["inconsistency"] = r.inconsistency, out["rank_deficiency"] = r.rank_deficiency;
  out["impacts"] = r.impacts, out["impact_energy"] = r.impact_energy;
  return out;
}

AnyDict totals_of(WorldHandle& w) {
  const WorldHandle::Call call(w, "World.totals");
  const WorldTotals& t = w.world.totals();
  nb::dict out;
  out["steps"] = t.steps, out["contacts"] = t.contacts, out["impacts"] = t.impacts,
  out["worst_residual"] = t.worst_residual;
  out["worst_penetration"] = t.worst_penetration, out["worst_gap"] = t.worst_gap, out["worst_angle"] = t.worst_angle;
  out["work_torque"] = t.work_torque, out["work_contact"] = t.work_contact, out["work_connection"] = t.work_connection;
  out["impact_energy"] = t.impact_energy;
  return out;
}

AnyDict health_of(WorldHandle& w) {
  const WorldHandle::Call call(w, "World.health");
  const WorldHealth h = w.world.health();
  nb::dict out;
  out["since"] = h.since, out["time"] = h.time, out["energy"] = h.energy, out["energy_drift"] = h.energy_drift;
  out["energy_moved"] = h.energy_moved, out["penetration"] = h.penetration, out["gap"] = h.gap, out["angle"] = h.angle;
  out["residual"] = h.residual, out["contacts"] = h.contacts, out["unsolved"] = h.unsolved;
  nb::list findings;
  for (const HealthFinding& finding : h.findings) findings.append(finding.text());
  out["findings"] = findings;
  return out;
}

void set_strict(WorldHandle& w, bool strict) {
  const WorldHandle::Call call(w, "World.set_strict");
  w.world.set_strict(strict ? std::optional(HealthLimits{}) : std::nullopt);
}

Floats sensor(WorldHandle& w, const std::string& name) {
  const WorldHandle::Call call(w, "World.sensor");
  return to_array(std::span<const double>(w.world.sensor(name)));
}

}  // namespace

Records contact_array(std::span<const ContactReport> contacts) {
  std::vector<ContactRecord> records;
  for (const ContactReport& c : contacts) {
    if (c.mode == ContactMode::kOpen) continue;
    ContactRecord r{};
    put_body(c.a, r.a), put_body(c.b, r.b);
    r.id = c.id, r.shape_a = c.shape_a.value(), r.shape_b = c.shape_b.value();
    r.mode = std::int8_t(c.mode), r.slip = std::int8_t(c.slip), r.tier = std::int8_t(c.tier);
    put(c.p, r.p), put(c.normal, r.normal), put_force(c.wrench, r.wrench), put(c.pressure, r.pressure);
    r.gap = c.gap, r.residual = c.residual, r.impact_energy = c.impact_energy;
    put_force(c.impulse, r.impulse);
    records.push_back(r);
  }
  return record_array(dtype("CONTACT"), std::ptrdiff_t(records.size()), sizeof(ContactRecord), records.data());
}

Records connection_array(std::span<const ConnectionReport> connections) {
  std::vector<ConnectionRecord> records;
  for (const ConnectionReport& c : connections) {
    ConnectionRecord r{};
    put_body(c.a, r.a), put_body(c.b, r.b);
    r.id = c.id.value();
    put(c.p, r.p), put_force(c.wrench, r.wrench), put_force(c.impulse, r.impulse);
    r.position_gap = c.position_gap, r.angle_gap = c.angle_gap;
    records.push_back(r);
  }
  return record_array(dtype("CONNECTION"), std::ptrdiff_t(records.size()), sizeof(ConnectionRecord), records.data());
}

Records actuator_array(std::span<const ActuatorReport> actuators) {
  std::vector<ActuatorRecord> records;
  for (const ActuatorReport& a : actuators)
    records.push_back({a.control, a.activation, a.length, a.velocity, a.force, a.power, a.clamped});
  return record_array(dtype("ACTUATOR"), std::ptrdiff_t(records.size()), sizeof(ActuatorRecord), records.data());
}

std::vector<std::string> actuator_names(const World& world, FigureId id) {
  std::vector<std::string> names;
  for (const ActuatorReport& a : world.actuators(id)) names.emplace_back(a.name);
  return names;
}

void bind_world_reports(nb::module_& module, nb::class_<WorldHandle>& c) {
  nb::class_<Event>(module, "Event", "An event.")
      .def_ro("time", &Event::time, "[s]")
      .def_prop_ro(
          "kind", [](const Event& e) { return to_string(e.kind); }, "touch, lift, connected, cut, limit, ...")
      .def_ro("name", &Event::name, "Name of the event of the scene, or of the connection or shapes concerned.")
      .def_ro("detail", &Event::detail, "Further text, such as the cause.")
      .def("__repr__", [](const Event& e) {
        return fmt::format("<{:.6g} s: {} {} {}>", e.time, to_string(e.kind), e.name, e.detail);
      });
  c.def_prop_ro(
       "contacts",
       [](WorldHandle& w) {
         const WorldHandle::Call call(w, "World.contacts");
         return contact_array(w.world.report().contacts);
       },
       "Contacts after the last step: an array of records with a, b (figure, link; -1 the world), p, normal, "
       "wrench on b,\n"
       "pressure, mode, slip, gap, impulse and more (kansetsu.CONTACT).")
      .def_prop_ro(
          "connections",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.connections");
            return connection_array(w.world.report().connections);
          },
          "Connections after the last step: a, b, id, p, wrench on b, gaps (kansetsu.CONNECTION).")
      .def_prop_ro("report", report_of, "Report of the last step.")
      .def_prop_ro("totals", totals_of,
                   "Totals since the start: steps, contacts, impacts, works [J], worst residual and penetration.")
      .def("health", health_of,
           "How far the results can be trusted: energy drift, penetration, gaps, residual, unsolved contacts; "
           "'findings' "
           "lists those beyond their\n"
           "limits (kansetsu::HealthLimits).")
      .def("set_strict", set_strict, nb::arg("strict") = true,
           "Makes the world stop when a number of health() exceeds its limit.")
      .def_prop_ro(
          "events",
          [](WorldHandle& w) {
            const WorldHandle::Call call(w, "World.events");
            return w.world.events();
          },
          "Events since the start, in order of time.")
      .def("sensor", sensor, nb::arg("name"), "Values of a sensor.")
      .def_prop_ro("sensors", [](const WorldHandle& w) { return w.world.sensor_names(); }, "Names of the sensors.");
}

}  // namespace kansetsu::python
