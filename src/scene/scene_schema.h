#pragma once

#include "kansetsu/scene/scene.h"
#include "model/model_schema.h"

/// The records that scenes consist of, beside those of models.
namespace kansetsu {

template <>
inline constexpr std::array<std::string_view, 3> kWords<Integrator>{"semi_implicit", "rk4", "adaptive"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<ContactLaw>{"engine", "nakamura_yamane"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<CombineRule>{"geometric_mean", "mean", "minimum", "maximum"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<SelfCollision>{"none", "not_neighbours", "all"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Hold>{"relative_pose", "together"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<ControlKind>{"torque", "pd", "motion"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<TriggerKind>{"time", "near", "force", "touch", "lift", "limit"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<ActionKind>{
    "note", "connect", "cut", "start_controller", "stop_controller", "end"};
template <>
inline constexpr std::array<std::string_view, 10> kWords<Recorded>{
    "q", "v", "tau", "energy", "momentum", "contacts", "connections", "sensors", "events", "actuators"};

template <>
struct RecordSchema<Medium> : SchemaOf<Medium> {
  static constexpr std::tuple fields{field("density", &R::density).always().in(NumberRange::kNotNegative),
                                     field("viscosity", &R::viscosity).always().in(NumberRange::kNotNegative),
                                     field("wind", &R::wind).always()};
};
/// The settings; what the scene holds is in tables beside them.
template <>
struct RecordSchema<SceneDescription> : SchemaOf<SceneDescription> {
  static constexpr std::tuple fields{field("name", &R::name),
                                     field("gravity", &R::gravity).always(),
                                     field("magnetic", &R::magnetic),
                                     field("medium", &R::medium),
                                     field("time_step", &R::time_step).always().in(NumberRange::kOther),
                                     field("duration", &R::duration).always().in(NumberRange::kLimit),
                                     field("integrator", &R::integrator).always(),
                                     field("tolerance", &R::tolerance).in(NumberRange::kOther),
                                     field("seed", &R::seed),
                                     field("contacts", &R::contacts),
                                     field("contact_law", &R::contact_law),
                                     field("sleeping", &R::sleeping)};
};

// Surfaces.
template <>
struct RecordSchema<CombineRules> : SchemaOf<CombineRules> {
  static constexpr std::tuple fields{
      field("friction", &R::friction).always(), field("restitution", &R::restitution).always(),
      field("spin_radius", &R::spin_radius).always(), field("rolling_radius", &R::rolling_radius).always()};
};
template <>
struct RecordSchema<ContactMaterial> : SchemaOf<ContactMaterial> {
  static constexpr std::tuple fields{field("static_friction", &R::mu_s).always().in(NumberRange::kNotNegative),
                                     field("dynamic_friction", &R::mu_d).always().in(NumberRange::kNotNegative),
                                     field("restitution", &R::restitution).always().in(NumberRange::kOther),
                                     field("spin_radius", &R::spin_radius).in(NumberRange::kNotNegative),
                                     field("rolling_radius", &R::rolling_radius).in(NumberRange::kNotNegative),
                                     field("clearance", &R::clearance).in(NumberRange::kNotNegative)};
};
template <>
struct RecordSchema<Surface> : SchemaOf<Surface> {
  static constexpr std::tuple fields{field("name", &R::name).required(), field("material", &R::material).same_table()};
};
template <>
struct RecordSchema<SurfacePair> : SchemaOf<SurfacePair> {
  static constexpr std::tuple fields{field("a", &R::a).required(), field("b", &R::b).required(),
                                     field("material", &R::material).same_table()};
};
template <>
struct RecordSchema<ShapeRef> : SchemaOf<ShapeRef> {
  static constexpr std::tuple fields{field("figure", &R::figure), field("link", &R::link), field("shape", &R::shape)};
};
template <>
struct RecordSchema<ContactExclusion> : SchemaOf<ContactExclusion> {
  static constexpr std::tuple fields{field("a", &R::a), field("b", &R::b)};
};
template <>
struct RecordSchema<ContactPair> : SchemaOf<ContactPair> {
  static constexpr std::tuple fields{field("a", &R::a), field("b", &R::b), field("surface", &R::surface)};
};

// Figures and surroundings.
template <>
struct RecordSchema<Motion<>> {
  static constexpr std::tuple fields{field("omega", &Motion<>::w).always(), field("v", &Motion<>::v).always()};
};
template <>
struct RecordSchema<PrescribedMotion> : SchemaOf<PrescribedMotion> {
  static constexpr std::tuple fields{field("velocity", &R::velocity),
                                     field("amplitude", &R::amplitude),
                                     field("axis", &R::axis),
                                     field("rate", &R::rate),
                                     field("swing", &R::swing),
                                     field("frequency", &R::frequency),
                                     field("phase", &R::phase),
                                     field("start", &R::start),
                                     field("stop", &R::stop).in(NumberRange::kOther)};
};
template <>
struct RecordSchema<Anchor> : SchemaOf<Anchor> {
  static constexpr std::tuple fields{field("figure", &R::figure), field("link", &R::link),
                                     field("pose", &R::pose).same_table()};
};
template <>
struct RecordSchema<FigureState> : SchemaOf<FigureState> {
  static constexpr std::tuple fields{
      field("pose", &R::base), field("velocity", &R::velocity), field("q", &R::q),
      field("v", &R::v),       field("control", &R::control),   field("activation", &R::activation)};
};
template <>
struct RecordSchema<JointSwitches> : SchemaOf<JointSwitches> {
  static constexpr std::tuple fields{field("limits", &R::limits),
                                     field("friction", &R::friction),
                                     field("damping", &R::damping),
                                     field("springs", &R::springs),
                                     field("effort_limits", &R::effort_limits),
                                     field("rotor_inertia", &R::rotor_inertia),
                                     field("actuators", &R::actuators)};
};
template <>
struct RecordSchema<PolynomialCoupling> : SchemaOf<PolynomialCoupling> {
  static constexpr std::tuple fields{field("name", &R::name).required(), field("reference", &R::reference),
                                     field("driver_reference", &R::driver_reference),
                                     field("coefficients", &R::coefficient).always()};
};
template <>
struct RecordSchema<EllipsoidDrag> : SchemaOf<EllipsoidDrag> {
  static constexpr std::tuple fields{field("radii", &R::radii).required(),
                                     field("blunt_drag", &R::blunt_drag).in(NumberRange::kNotNegative),
                                     field("slender_drag", &R::slender_drag).in(NumberRange::kNotNegative),
                                     field("angular_drag", &R::angular_drag).in(NumberRange::kNotNegative),
                                     field("kutta_lift", &R::kutta_lift).in(NumberRange::kNotNegative),
                                     field("magnus_lift", &R::magnus_lift).in(NumberRange::kNotNegative)};
};
template <>
struct RecordSchema<FluidEllipsoid> : SchemaOf<FluidEllipsoid> {
  static constexpr std::tuple fields{field("link", &R::link).required(), field("pose", &R::pose),
                                     field("drag", &R::drag).same_table()};
};
/// What a figure has beside its model.
template <>
struct RecordSchema<FigureDescription> : SchemaOf<FigureDescription> {
  static constexpr std::tuple fields{
      field("initial", &R::initial).by_hand(), field("motion", &R::base_motion),
      field("surface", &R::surface),           field("self_collision", &R::self_collision).always(),
      field("joints", &R::switches),           field("gravity_compensation", &R::gravity_compensation)};
};

// Joining.
inline constexpr const char* kAnchorExample = "{figure = \"…\", link = \"…\"}";
template <>
struct RecordSchema<Compliance> : SchemaOf<Compliance> {
  static constexpr std::tuple fields{field("stiffness", &R::stiffness), field("damping", &R::damping)};
};
template <>
struct RecordSchema<ConnectionDescription> : SchemaOf<ConnectionDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("a", &R::a).required(kAnchorExample),
                                     field("b", &R::b).required(kAnchorExample),
                                     field("kind", &R::mask).always(),
                                     field("hold", &R::hold).always(),
                                     field("active", &R::active),
                                     field("break_force", &R::break_force).in(NumberRange::kLimit),
                                     field("break_torque", &R::break_torque).in(NumberRange::kLimit),
                                     field("restitution", &R::restitution),
                                     field("compliance", &R::compliance).same_table(),
                                     field("motion", &R::motion)};
};
template <>
struct RecordSchema<SpringDescription> : SchemaOf<SpringDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("a", &R::a).required(kAnchorExample),
                                     field("b", &R::b).required(kAnchorExample),
                                     field("stiffness", &R::stiffness).always().in(NumberRange::kNotNegative),
                                     field("damping", &R::damping).in(NumberRange::kNotNegative),
                                     field("rest_length", &R::rest_length).in(NumberRange::kNotNegative),
                                     field("pull_only", &R::pull_only)};
};

// Driving and measuring.
/// Over what a controller does with all joints; which joint it is stands beside.
template <>
struct RecordSchema<JointControl> : SchemaOf<JointControl> {
  static constexpr std::tuple fields{field("value", &R::value),
                                     field("amplitude", &R::amplitude),
                                     field("frequency", &R::frequency),
                                     field("phase", &R::phase),
                                     field("deviation", &R::deviation).in(NumberRange::kNotNegative),
                                     field("kp", &R::kp).in(NumberRange::kNotNegative),
                                     field("kd", &R::kd).in(NumberRange::kNotNegative),
                                     field("effort", &R::effort).in(NumberRange::kLimit)};
};
template <>
struct RecordSchema<ControllerDescription> : SchemaOf<ControllerDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("figure", &R::figure).required(),
                                     field("kind", &R::kind).always(),
                                     field("period", &R::period).in(NumberRange::kLimit),
                                     field("seed", &R::seed),
                                     field("active", &R::active)};
};
template <>
struct RecordSchema<SensorDescription> : SchemaOf<SensorDescription> {
  static constexpr bool of_joint(const R& s) { return s.kind == SensorKind::kJointForce; }
  static constexpr bool by_target(const R& s) {
    return s.kind >= SensorKind::kJointPosition && s.kind <= SensorKind::kActuatorForce;
  }
  static constexpr bool at_anchor(const R& s) { return !of_joint(s) && !by_target(s); }
  static constexpr bool of_connection(const R& s) { return s.kind == SensorKind::kConnectionForce; }
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("kind", &R::kind).required(),
                                     field("at", &R::at).when(at_anchor),
                                     field("reference", &R::reference),
                                     field("joint", &R::joint).required().when(of_joint),
                                     field("target", &R::target).required().when(by_target),
                                     field("connection", &R::connection).required().when(of_connection),
                                     field("of", &R::contact),
                                     field("to", &R::other),
                                     field("cutoff", &R::cutoff).in(NumberRange::kNotNegative),
                                     field("noise", &R::noise).in(NumberRange::kNotNegative),
                                     field("angular_noise", &R::angular_noise).in(NumberRange::kNotNegative),
                                     field("linear_noise", &R::linear_noise).in(NumberRange::kNotNegative),
                                     field("seed", &R::seed)};
};
template <>
struct RecordSchema<EventDescription> : SchemaOf<EventDescription> {
  using enum TriggerKind;
  static constexpr bool of_connection(const R& e) { return e.trigger == kNear || e.trigger == kForce; }
  static constexpr bool near(const R& e) { return e.trigger == kNear; }
  static constexpr bool by_force(const R& e) { return e.trigger == kForce; }
  static constexpr bool of_contact(const R& e) { return e.trigger == kTouch || e.trigger == kLift; }
  static constexpr bool of_limit(const R& e) { return e.trigger == kLimit; }
  static constexpr bool has_target(const R& e) {
    return e.action != ActionKind::kNote && e.action != ActionKind::kEndSimulation;
  }
  static constexpr std::tuple fields{
      field("name", &R::name).required(),
      field("when", &R::trigger).required(),
      field("time", &R::time).in(NumberRange::kNotNegative),
      field("delay", &R::delay).in(NumberRange::kNotNegative),
      field("once", &R::once),
      field("connection", &R::connection).required().when(of_connection),
      field("distance", &R::distance).required("0.05").in(NumberRange::kNotNegative).when(near),
      field("force", &R::force).in(NumberRange::kLimit).when(by_force),
      field("torque", &R::torque).in(NumberRange::kLimit).when(by_force),
      field("a", &R::a).when(of_contact),
      field("b", &R::b).when(of_contact),
      field("figure", &R::figure).required().when(of_limit),
      field("dof", &R::dof).same_table().when(of_limit),
      field("do", &R::action).always(),
      field("target", &R::target).required().when(has_target)};
};
template <>
struct RecordSchema<RecordingDescription> : SchemaOf<RecordingDescription> {
  static constexpr std::tuple fields{field("file", &R::file).required(), field("what", &R::what).always(),
                                     field("rate", &R::rate).in(NumberRange::kLimit)};
};
template <>
struct RecordSchema<Keyframe> : SchemaOf<Keyframe> {
  static constexpr std::tuple fields{field("name", &R::name).required(), field("time", &R::time),
                                     field("controls", &R::controls)};
};

}  // namespace kansetsu
