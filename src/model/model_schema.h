#pragma once

#include "base/schema.h"
#include "kansetsu/model/actuator.h"
#include "kansetsu/model/loop_closure.h"
#include "model/actuator_words.h"

/// The records that models, tendons and actuators consist of.
namespace kansetsu {

template <>
inline constexpr std::array<std::string_view, 2> kWords<Base>{"fixed", "free"};

template <>
struct RecordSchema<Pose> : SchemaOf<Pose> {
  static constexpr std::tuple fields{field("p", &R::p), field("rpy", &R::rpy)};
};
template <>
struct RecordSchema<Inertial> : SchemaOf<Inertial> {
  static constexpr std::tuple fields{field("mass", &R::mass), field("origin", &R::origin),
                                     field("inertia", &R::inertia)};
};
template <>
struct RecordSchema<Material> : SchemaOf<Material> {
  static constexpr std::tuple fields{field("name", &R::name), field("rgba", &R::rgba), field("texture", &R::texture)};
};

// Shapes. The data of a TriangleMesh is shared; formats that hold it write it themselves.
template <>
struct RecordSchema<Sphere> {
  static constexpr std::tuple fields{field("radius", &Sphere::radius).always()};
};
template <>
struct RecordSchema<Box> {
  static constexpr std::tuple fields{field("size", &Box::size).always()};
};
template <>
struct RecordSchema<Cylinder> : SchemaOf<Cylinder> {
  static constexpr std::tuple fields{field("radius", &R::radius).always(), field("length", &R::length).always()};
};
template <>
struct RecordSchema<Capsule> : SchemaOf<Capsule> {
  static constexpr std::tuple fields{field("radius", &R::radius).always(), field("length", &R::length).always()};
};
template <>
struct RecordSchema<Mesh> : SchemaOf<Mesh> {
  static constexpr std::tuple fields{field("uri", &R::uri), field("path", &R::path), field("scale", &R::scale)};
};
template <>
struct RecordSchema<Plane> {
  static constexpr std::tuple<> fields{};
};
template <>
struct RecordSchema<ConvexHull> {
  static constexpr std::tuple fields{field("vertices", &ConvexHull::vertices).always()};
};
template <>
struct RecordSchema<HeightField> : SchemaOf<HeightField> {
  static constexpr std::tuple fields{field("columns", &R::columns).always(), field("rows", &R::rows).always(),
                                     field("size_x", &R::size_x).always(), field("size_y", &R::size_y).always(),
                                     field("heights", &R::heights).always()};
};
template <>
struct RecordSchema<TriangleMesh> {
  static constexpr std::tuple<> fields{};
};
template <>
struct RecordSchema<LinkShape> : SchemaOf<LinkShape> {
  static constexpr std::tuple fields{field("name", &R::name), field("origin", &R::origin), field("shape", &R::shape),
                                     field("material", &R::material)};
};

template <>
struct RecordSchema<LinkDescription> : SchemaOf<LinkDescription> {
  static constexpr std::tuple fields{field("name", &R::name), field("inertial", &R::inertial),
                                     field("visuals", &R::visuals), field("collisions", &R::collisions)};
};
template <>
struct RecordSchema<DofDescription> : SchemaOf<DofDescription> {
  static constexpr std::tuple fields{field("lower", &R::lower).in(NumberRange::kLower),
                                     field("upper", &R::upper).in(NumberRange::kUpper),
                                     field("velocity", &R::velocity).in(NumberRange::kUpper),
                                     field("effort", &R::effort).in(NumberRange::kUpper),
                                     field("rotor_inertia", &R::rotor_inertia),
                                     field("damping", &R::damping),
                                     field("friction", &R::friction),
                                     field("stiffness", &R::stiffness),
                                     field("rest", &R::rest)};
};
/// The same as a list: all of them are numbers.
inline constexpr std::array kDofFields =
    std::apply([](const auto&... fields) { return std::array{fields...}; }, RecordSchema<DofDescription>::fields);
using DofField = decltype(kDofFields)::value_type;
template <>
struct RecordSchema<SwingTwistLimit> : SchemaOf<SwingTwistLimit> {
  static constexpr std::tuple fields{field("swing", &R::swing).in(NumberRange::kUpper),
                                     field("twist_lower", &R::twist_lower).in(NumberRange::kLower),
                                     field("twist_upper", &R::twist_upper).in(NumberRange::kUpper)};
};
template <>
struct RecordSchema<JointDescription> : SchemaOf<JointDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("type", &R::type).by_hand(),
                                     field("parent", &R::parent).required(),
                                     field("child", &R::child).required(),
                                     field("socket", &R::socket),
                                     field("plug", &R::plug),
                                     field("axis", &R::axis),
                                     field("second_axis", &R::second_axis),
                                     field("pitch", &R::pitch),
                                     field("dofs", &R::dofs).by_hand(),
                                     field("swing_twist", &R::swing_twist).by_hand(),
                                     field("continuous", &R::continuous).by_hand()};
};
template <>
struct RecordSchema<DofRef> {
  static constexpr std::tuple fields{field("joint", &DofRef::joint).required(), field("index", &DofRef::index)};
};
template <>
struct RecordSchema<Coupling::Term> : SchemaOf<Coupling::Term> {
  static constexpr std::tuple fields{field("dof", &R::dof).same_table(), field("ratio", &R::ratio).always()};
};
template <>
struct RecordSchema<Coupling> : SchemaOf<Coupling> {
  static constexpr std::tuple fields{field("dependent", &R::dependent).same_table(), field("terms", &R::terms),
                                     field("offset", &R::offset)};
};
template <>
struct RecordSchema<FrameDescription> : SchemaOf<FrameDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(), field("link", &R::link).required(),
                                     field("origin", &R::origin).same_table()};
};
template <>
struct RecordSchema<Actuator> : SchemaOf<Actuator> {
  static constexpr std::tuple fields{field("name", &R::name), field("dof", &R::dof), field("gear", &R::gear),
                                     field("effort", &R::effort).in(NumberRange::kUpper)};
};
template <>
struct RecordSchema<CollisionFilter> : SchemaOf<CollisionFilter> {
  static constexpr std::tuple fields{field("a", &R::a).required(), field("b", &R::b).required()};
};
template <>
struct RecordSchema<ModelDescription> : SchemaOf<ModelDescription> {
  static constexpr std::tuple fields{
      field("name", &R::name),           field("base", &R::base),
      field("base_pose", &R::base_pose), field("gravity", &R::gravity),
      field("links", &R::links),         field("joints", &R::joints),
      field("couplings", &R::couplings), field("frames", &R::frames),
      field("actuators", &R::actuators), field("collision_filters", &R::collision_filters),
      field("materials", &R::materials)};
};

template <>
struct RecordSchema<LoopClosure> : SchemaOf<LoopClosure> {
  static constexpr std::tuple fields{field("name", &R::name).required(), field("a", &R::link_a).required(),
                                     field("b", &R::link_b).required(),  field("pose_a", &R::pose_a),
                                     field("pose_b", &R::pose_b),        field("kind", &R::mask).always()};
};

// Tendons and actuators.
template <>
struct RecordSchema<TendonPlace> : SchemaOf<TendonPlace> {
  static constexpr std::tuple fields{field("link", &R::link), field("pose", &R::pose).same_table()};
};
template <>
struct RecordSchema<TendonCondition> : SchemaOf<TendonCondition> {
  static constexpr std::tuple fields{field("dof", &R::dof).same_table(), field("range", &R::range)};
};
template <>
struct RecordSchema<CoordinateFunction> : SchemaOf<CoordinateFunction> {
  static constexpr std::tuple fields{field("function", &R::kind).always(), field("scale", &R::scale),
                                     field("coefficients", &R::coefficients), field("x", &R::x), field("y", &R::y)};
};
template <>
struct RecordSchema<TendonShift> : SchemaOf<TendonShift> {
  static constexpr std::tuple fields{field("dof", &R::dof).same_table(), field("direction", &R::direction).always(),
                                     field("function", &R::function).same_table()};
};
template <>
struct RecordSchema<TendonPart> : SchemaOf<TendonPart> {
  static constexpr std::tuple fields{
      field("kind", &R::kind).always(), field("at", &R::at).same_table(), field("divisor", &R::divisor),
      field("radius", &R::radius),      field("length", &R::length),      field("side", &R::side),
      field("side_is", &R::side_is),    field("when", &R::when),          field("shifts", &R::shifts)};
};
template <>
struct RecordSchema<TendonTerm> : SchemaOf<TendonTerm> {
  static constexpr std::tuple fields{field("dof", &R::dof).same_table(), field("ratio", &R::ratio)};
};
template <>
struct RecordSchema<TendonDescription> : SchemaOf<TendonDescription> {
  static constexpr std::tuple fields{field("name", &R::name).required(),
                                     field("limit", &R::limit),
                                     field("effort", &R::effort),
                                     field("stiffness", &R::stiffness).in(NumberRange::kNotNegative),
                                     field("damping", &R::damping).in(NumberRange::kNotNegative),
                                     field("friction", &R::friction).in(NumberRange::kNotNegative),
                                     field("width", &R::width),
                                     field("rgba", &R::rgba),
                                     field("terms", &R::terms),
                                     field("parts", &R::path)};
};
template <>
struct RecordSchema<HillMuscle> : SchemaOf<HillMuscle> {
  static constexpr std::tuple fields{field("curves", &R::curves),
                                     field("force", &R::force).in(NumberRange::kPositive),
                                     field("fibre_length", &R::fibre_length).in(NumberRange::kPositive),
                                     field("tendon_length", &R::tendon_length).in(NumberRange::kNotNegative),
                                     field("pennation", &R::pennation).in(NumberRange::kOther),
                                     field("fastest", &R::fastest).in(NumberRange::kPositive),
                                     field("width", &R::width).in(NumberRange::kPositive),
                                     field("passive_strain", &R::passive_strain).in(NumberRange::kPositive),
                                     field("passive_shape", &R::passive_shape).in(NumberRange::kPositive),
                                     field("curvature", &R::curvature).in(NumberRange::kPositive),
                                     field("lengthening", &R::lengthening).in(NumberRange::kOther)};
};
template <>
struct RecordSchema<ActuatorDescription> : SchemaOf<ActuatorDescription> {
  static constexpr bool acts_on_joint(const R& a) {
    return a.transmission == Transmission::kJoint || a.transmission == Transmission::kJointInParent;
  }
  static constexpr bool acts_on_other(const R& a) { return !acts_on_joint(a); }
  static constexpr std::tuple fields{
      field("name", &R::name).required(),
      field("acts_on", &R::transmission),
      field("dof", &R::dof).by_hand(),
      field("target", &R::target).required().when(acts_on_other),
      field("reference", &R::reference).when(acts_on_other),
      field("crank_length", &R::crank_length).in(NumberRange::kOther).when(acts_on_other),
      field("gear", &R::gear),
      field("effort", &R::effort).in(NumberRange::kLimit),
      field("wrench", &R::wrench),
      field("gain", &R::gain),
      field("bias", &R::bias),
      field("activation", &R::activation),
      field("gain_numbers", &R::gain_numbers),
      field("bias_numbers", &R::bias_numbers),
      field("activation_numbers", &R::activation_numbers),
      field("control_range", &R::control_range),
      field("force_range", &R::force_range),
      field("activation_range", &R::activation_range),
      field("length_range", &R::length_range),
      field("early", &R::early),
      field("hill", &R::hill)};
};

}  // namespace kansetsu
