#include "cli/eval_quantity.h"

/// Quantities of a model that is held by the request's constraints.
namespace kansetsu::cli {

void write_constraint_rows(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const ConstraintRows rows = constraint_rows(b.model, in.state, b.held.constraints);
  json.begin_object().key("J").matrix(rows.J);
  json.entry("velocity", rows.velocity).entry("drift", rows.drift).end_object();
}

void write_constrained_aba(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const ConstrainedMotion motion = constrained_aba(b.model, in.state, in.tau, b.held.constraints, &b.external);
  check_invertible(b, motion.status, motion.singular);
  json.begin_object().entry("vdot", motion.vdot).entry("lambda", motion.lambda);
  json.entry("rank", motion.rank).entry("inconsistency", motion.inconsistency).end_object();
}

void write_constrained_rnea(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const ConstrainedTorque found =
      constrained_rnea(b.model, in.state, in.vdot, b.held.constraints, b.held.passive, &b.external);
  json.begin_object().entry("tau", found.tau).entry("lambda", found.lambda);
  json.entry("missing", found.missing).entry("violation", found.violation).end_object();
}

void write_constrained_impulse(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const ConstrainedImpulse hit = constrained_impulse(b.model, in.state, b.held.constraints);
  check_invertible(b, hit.status, hit.singular);
  json.begin_object().entry("v", hit.v).entry("lambda", hit.lambda).entry("rank", hit.rank);
  json.entry("inconsistency", hit.inconsistency).entry("energy", hit.energy).end_object();
}

void write_constrained_aba_derivatives(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  const ConstrainedDerivatives d =
      constrained_aba_derivatives(b.model, in.state, in.tau, b.held.constraints, &b.external);
  check_invertible(b, d.forward.status, d.forward.singular);
  json.begin_object().key("vdot_dq").matrix(d.vdot_dq).key("vdot_dv").matrix(d.vdot_dv);
  json.key("vdot_dtau").matrix(d.vdot_dtau).key("lambda_dq").matrix(d.lambda_dq);
  json.key("lambda_dv").matrix(d.lambda_dv).key("lambda_dtau").matrix(d.lambda_dtau).end_object();
}

}  // namespace kansetsu::cli
