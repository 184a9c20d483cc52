#include "cli/eval_forces.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/eval_held.h"
#include "cli/json_shape.h"
#include "kansetsu/assembly/assembly.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/eigen.h"

namespace kansetsu::cli {
namespace {

using Json = nlohmann::json;

/// Wrenches by link and torques by joint, one number for each coordinate of the joint.
void write_carried(const Model& model, const Reactions& r, JsonWriter& json) {
  json.key("wrench").begin_object();
  for (int i = 0; i < model.link_count(); ++i)
    json.entry(model.link(LinkId(i)).name, to_eigen(r.wrench[std::size_t(i)]));
  json.end_object().key("torque").begin_object();
  for (int j = 0; j < model.joint_count(); ++j) {
    const int nv = info(model.joint(JointId(j)).type).nv;
    if (nv == 0) continue;
    json.key(model.joint(JointId(j)).name).value(r.torque.segment(r.torque_start[std::size_t(j)], nv));
  }
  json.end_object();
}

void write_by_assembly(Bench& b, const StateInput& in, AssemblyOrder order, JsonWriter& json) {
  if (const auto reason = Assembly::unsupported(b.model)) throw StateError(*reason);
  Assembly assembly(b.model, {.order = order});
  AssemblyResult result(assembly);
  assembly.solve(in.state, in.tau, result, &b.external);
  if (result.status != Status::kOk) throw StateError("the mass matrix is singular: some joint moves no inertia");
  json.begin_object().entry("vdot", result.vdot());
  write_carried(b.model, result.figures[0].reactions, json);
  json.entry("levels", assembly.shape().levels).entry("residual", result.residual).end_object();
}

void write_matrices(JsonWriter& json, const char* name, const std::vector<Matrix6>& all) {
  json.key(name).begin_array();
  for (const Matrix6& x : all) json.matrix(x);
  json.end_array();
}

ik::FrameOn read_frame(const Json& item, const std::string& path, const Model& model, Problems& problems) {
  const auto name = item.find("frame");
  if (name == item.end() || !name->is_string()) {
    problems.bad_shape(path + ".frame", "must be the name of a link or frame");
    return {};
  }
  try {
    return ik::frame_on(model, name->get<std::string>());
  } catch (const Error& error) {
    problems.bad_shape(path + ".frame", error.what());
    return {};
  }
}

/// Calls read(item, path) for each object of an array.
template <class Read>
void each_of(const Json& value, const char* name, const std::vector<std::string>& entries, Problems& problems,
             Read&& read) {
  const auto items = value.find(name);
  if (items == value.end()) return;
  const std::string path = fmt::format("generation.{}", name);
  if (!items->is_array()) return problems.bad_shape(path, "must be an array of objects");
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string here = fmt::format("{}[{}]", path, i);
    if (is_object_of((*items)[i], here, entries, problems)) read((*items)[i], here);
  }
}

}  // namespace

std::shared_ptr<const GenerationRequest> read_generation(const Json& value, const Model& model, Problems& problems) {
  auto out = std::make_shared<GenerationRequest>();
  if (!is_object_of(value, "generation", {"holds", "tasks", "method"}, problems)) return out;
  each_of(value, "holds", {"frame", "directions"}, problems, [&](const Json& item, const std::string& path) {
    out->holds.push_back({.frame = read_frame(item, path, model, problems),
                          .mask = read_directions(item, "directions", kWeldMask, path, problems),
                          .grips = true});
  });
  each_of(value, "tasks", {"frame", "directions", "acceleration", "level"}, problems,
          [&](const Json& item, const std::string& path) {
            GenerationRequest::Task task{.frame = read_frame(item, path, model, problems),
                                         .directions = read_directions(item, "directions", kWeldMask, path, problems)};
            if (!item.contains("acceleration")) return problems.bad_shape(path + ".acceleration", "is missing");
            if (const auto a = numbers(item.at("acceleration"), 6, path + ".acceleration", problems))
              task.acceleration = {{(*a)[0], (*a)[1], (*a)[2]}, {(*a)[3], (*a)[4], (*a)[5]}};
            if (item.contains("level")) {
              if (const auto level = numbers(item.at("level"), 1, path + ".level", problems))
                task.level = int(std::clamp(level->front(), -1e6, 1e6));
            }
            out->tasks.push_back(task);
          });
  if (const auto method = value.find("method"); method != value.end()) {
    const std::string name = method->is_string() ? method->get<std::string>() : method->dump();
    if (name == "pseudo-inverse")
      out->method = GenerationMethod::kPseudoInverse;
    else if (name != "levels")
      problems.unknown("generation.method", "method", name, {"levels", "pseudo-inverse"});
  }
  return out;
}

void write_reactions(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  Reactions result(b.model);
  reactions(b.model, in.state, in.vdot, b.work, result, &b.external);
  json.begin_object();
  write_carried(b.model, result, json);
  json.end_object();
}

void write_operators(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  check_invertible(b, b.response.update(in.state.q), b.response.singular());
  json.begin_object().key("base_theta").matrix(b.response.base_theta()).key("groups").begin_array();
  for (const Response::Group& g : b.response.groups()) {
    json.line().begin_object().entry("parent", b.model.link(g.parent).name).entry("grounded", g.grounded);
    json.key("members").array(g.members, [&](LinkId link) { return b.model.link(link).name; });
    json.key("dofs").array(g.columns, [&](int column) { return b.model.dof_names()[std::size_t(column)]; });
    json.key("D_inv").matrix(g.D_inv).key("J").begin_array();
    for (const auto& J : g.J) json.matrix(J);
    json.end_array();
    write_matrices(json, "X", g.X);
    write_matrices(json, "T", g.T);
    write_matrices(json, "S", g.S);
    write_matrices(json, "Theta", g.Theta);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_assembly(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  write_by_assembly(b, in, AssemblyOrder::kBalanced, json);
}
void write_serial_assembly(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json) {
  write_by_assembly(b, in, AssemblyOrder::kSerial, json);
}

void write_generation(Bench& b, const StateInput& in, const Quantity& quantity, JsonWriter& json) {
  GenerationProblem problem;
  if (quantity.generation) {
    problem.holds = quantity.generation->holds;
    problem.method = quantity.generation->method;
    for (const GenerationRequest::Task& t : quantity.generation->tasks)
      problem.tasks.push_back({t.level, frame_rows(b.model, in.state, t.frame, t.acceleration, t.directions)});
  }
  const Generated motion = generate(b.model, in.state, problem);
  json.begin_object().entry("status", to_string(motion.status)).entry("vdot", motion.vdot).entry("tau", motion.tau);
  json.entry("unknowns", motion.unknowns).entry("rank", motion.rank).key("holds");
  json.array(motion.holds, [](const HeldReport& hold) { return Eigen::VectorXd(to_eigen(hold.wrench)); })
      .key("levels")
      .begin_array();
  for (const LevelReport& level : motion.levels) {
    json.begin_object().entry("name", level.name).entry("rows", level.rows).entry("rank", level.rank);
    json.entry("residual", level.residual).end_object();
  }
  json.end_array().end_object();
}

}  // namespace kansetsu::cli
