#include "cli/ik_request.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "cli/eval_state.h"
#include "cli/json_shape.h"
#include "cli/suggest.h"
#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::cli {
namespace {

using Json = nlohmann::json;

std::vector<std::string> frame_names(const Model& model) {
  std::vector<std::string> names;
  for (int i = 0; i < model.link_count(); ++i) names.push_back(model.link(LinkId(i)).name);
  for (int i = 0; i < model.frame_count(); ++i) names.push_back(model.frame(FrameId(i)).name);
  return names;
}

/// Reads the entries of one JSON object. An invalid entry is reported, and its default is returned.
class Entries {
 public:
  Entries(const Json& object, std::string path, const Model& model, Problems& problems)
      : object_(object), path_(std::move(path)), model_(model), problems_(problems) {}

  bool has(const char* name) const { return object_.contains(name); }
  Vec3<> vec3(const char* name, const Vec3<>& fallback = {}) const {
    if (!has(name)) return fallback;
    const auto x = numbers(object_.at(name), 3, at(name), problems_);
    return x ? Vec3<>{(*x)[0], (*x)[1], (*x)[2]} : fallback;
  }
  double number(const char* name, double fallback) const {
    if (!has(name)) return fallback;
    const auto x = numbers(object_.at(name), 1, at(name), problems_);
    return x ? x->front() : fallback;
  }
  int whole(const char* name, int fallback) const {
    const double x = number(name, fallback);
    if (x == std::floor(x) && x >= 0 && x <= 1e9) return int(x);
    problems_.bad_shape(at(name), fmt::format("must be a whole number, not {}", x));
    return fallback;
  }
  bool truth(const char* name, bool fallback) const {
    if (!has(name)) return fallback;
    if (object_.at(name).is_boolean()) return object_.at(name).get<bool>();
    problems_.bad_shape(at(name), "must be true or false");
    return fallback;
  }
  std::string text(const char* name) const {
    if (!has(name)) return "";
    if (object_.at(name).is_string()) return object_.at(name).get<std::string>();
    problems_.bad_shape(at(name), "must be a name");
    return "";
  }
  Mat3<> rotation() const {
    if (has("rpy")) return from_rpy(vec3("rpy"));
    if (!has("quat_xyzw")) return Mat3<>::identity();
    const auto x = numbers(object_.at("quat_xyzw"), 4, at("quat_xyzw"), problems_);
    if (!x) return Mat3<>::identity();
    const Quaternion<> q{(*x)[0], (*x)[1], (*x)[2], (*x)[3]};
    if (std::abs(dot(q, q) - 1) < 2e-6) return to_mat3(q);
    problems_.bad_shape(at("quat_xyzw"), "must have unit length");
    return Mat3<>::identity();
  }
  Transform<> pose() const { return {rotation(), vec3("p")}; }
  ik::FrameOn frame(const char* name) const {
    const Entries tool(has("tool") ? object_.at("tool") : Json::object(), at("tool"), model_, problems_);
    return place(name, tool.pose());
  }
  /// The same without the tool of the task.
  ik::FrameOn place(const char* name, const Transform<>& on_it = {}) const {
    const std::string known = text(name);
    if (!has(name)) problems_.bad_shape(at(name), "is missing: the name of a link or frame");
    try {
      if (has(name)) return ik::frame_on(model_, known, on_it);
    } catch (const Error&) {
      problems_.unknown(at(name), "link or frame", known, frame_names(model_));
    }
    return {};
  }
  const Json& object() const { return object_; }
  std::string at(const char* name) const { return path_ + "." + name; }

 private:
  const Json& object_;
  std::string path_;
  const Model& model_;
  Problems& problems_;
};

ik::AnyTask read_markers(const Entries& e, const std::string& path, const Model& model, Problems& problems) {
  ik::MarkerTask task;
  const Json markers = e.has("markers") ? e.object().at("markers") : Json::array();
  if (!markers.is_array()) problems.bad_shape(path + ".markers", "must be an array of objects");
  for (size_t i = 0; markers.is_array() && i < markers.size(); ++i) {
    const std::string here = fmt::format("{}.markers[{}]", path, i);
    if (!is_object_of(markers[i], here, {"frame", "p", "seen", "weight"}, problems)) continue;
    const Entries m(markers[i], here, model, problems);
    const ik::FrameOn frame = m.frame("frame");
    task.markers.push_back({frame.link, frame.X_LF * m.vec3("p"), m.vec3("seen"), m.number("weight", 1)});
  }
  return task;
}

ik::AnyTask read_posture(const Entries& e, const std::string& path, const Model& model, Problems& problems) {
  const StateReader reader(model);
  Json state = Json::object();
  for (const char* name : {"q", "base"}) {
    if (e.has(name)) state[name] = e.object().at(name);
  }
  const StateInput input = reader.read(state, path, problems);
  if (!input.error.empty()) problems.bad_shape(path, input.error);
  return ik::PostureTask{input.state.q, {}};
}

/// A posture of the named joints only.
ik::AnyTask read_joints(const Entries& e, const std::string& path, const Model& model, Problems& problems) {
  auto task = std::get<ik::PostureTask>(read_posture(e, path, model, problems));
  task.weight = Eigen::VectorXd::Zero(model.nv());
  const Json named = e.has("q") && e.object().at("q").is_object() ? e.object().at("q") : Json::object();
  if (named.empty()) problems.bad_shape(path + ".q", "must name joints and their positions");
  for (const auto& entry : named.items()) {
    const auto joint = model.find_joint(entry.key());
    const CoordinateRange c = joint ? model.coordinates(*joint) : CoordinateRange{};
    if (joint) task.weight.segment(c.v, c.nv).setOnes();
  }
  return task;
}

struct TaskType {
  std::vector<std::string> entries;
  ik::AnyTask (*read)(const Entries&, const std::string& path, const Model&, Problems&);
};

const std::map<std::string, TaskType>& task_types() {
  using E = const Entries&;
  using P = const std::string&;
  static const std::map<std::string, TaskType> types{
      {"position",
       {{"frame", "tool", "p", "axes"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::PositionTask{e.frame("frame"), e.vec3("p"), e.vec3("axes", {1, 1, 1})};
        }}},
      {"orientation",
       {{"frame", "tool", "rpy", "quat_xyzw", "turn_axes"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::OrientationTask{e.frame("frame"), e.rotation(), e.vec3("turn_axes", {1, 1, 1})};
        }}},
      {"pose",
       {{"frame", "tool", "p", "rpy", "quat_xyzw", "turn_axes", "axes"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::PoseTask{e.frame("frame"), e.pose(), e.vec3("turn_axes", {1, 1, 1}), e.vec3("axes", {1, 1, 1})};
        }}},
      {"axis",
       {{"frame", "tool", "axis", "direction"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::AxisTask{e.frame("frame"), e.vec3("axis", {0, 0, 1}), e.vec3("direction", {0, 0, 1})};
        }}},
      {"look_at",
       {{"frame", "tool", "axis", "point"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::LookAtTask{e.frame("frame"), e.vec3("axis", {0, 0, 1}), e.vec3("point")};
        }}},
      {"com",
       {{"p", "axes"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::ComTask{e.vec3("p"), e.vec3("axes", {1, 1, 1})};
        }}},
      {"relative",
       {{"frame", "to", "tool", "p", "rpy", "quat_xyzw", "turn_axes", "axes"},
        [](E e, P, const Model&, Problems&) -> ik::AnyTask {
          return ik::RelativePoseTask{e.frame("frame"), e.place("to"), e.pose(), e.vec3("turn_axes", {1, 1, 1}),
                                      e.vec3("axes", {1, 1, 1})};
        }}},
      {"markers", {{"markers"}, read_markers}},
      {"posture", {{"q", "base"}, read_posture}},
      {"joints", {{"q"}, read_joints}},
      {"stay", {{"frame", "tool", "orientation"}, [](E e, P, const Model&, Problems&) -> ik::AnyTask {
                  return ik::StayTask{e.frame("frame"), e.truth("orientation", false), {}};
                }}}};
  return types;
}

void read_task(const Json& task, const std::string& path, const Model& model, Problems& problems, ik::Problem& out) {
  if (!is_object(task, path, problems)) return;
  const Entries e(task, path, model, problems);
  const std::string type = e.text("type");
  const auto found = task_types().find(type);
  if (found == task_types().end()) {
    std::vector<std::string> known;
    for (const auto& entry : task_types()) known.push_back(entry.first);
    problems.unknown(path + ".type", "task", type, known);
    return;
  }
  std::vector<std::string> entries = found->second.entries;
  entries.insert(entries.end(), {"type", "level", "weight", "tolerance", "name"});
  if (!is_object_of(task, path, entries, problems)) return;
  out.add(found->second.read(e, path, model, problems),
          {e.whole("level", 0), e.number("weight", 1), e.number("tolerance", 1e-8), e.text("name")});
}

/// {"sphere": radius}, {"capsule": [radius, length]} or {"box": [x, y, z]}, at p, rpy on the link; without one, in the world.
std::optional<ik::ShapeOn> read_shape(const Json& value, const std::string& path, const Model& model,
                                      Problems& problems) {
  if (!is_object_of(value, path, {"link", "p", "rpy", "quat_xyzw", "sphere", "capsule", "box"}, problems)) return {};
  const Entries e(value, path, model, problems);
  Shape shape = Sphere{};
  if (e.has("sphere")) {
    shape = Sphere{e.number("sphere", 0)};
  } else if (e.has("capsule")) {
    if (const auto x = numbers(value.at("capsule"), 2, path + ".capsule", problems)) shape = Capsule{(*x)[0], (*x)[1]};
  } else if (e.has("box")) {
    shape = Box{e.vec3("box")};
  } else {
    problems.bad_shape(path, "must have a sphere, a capsule or a box");
  }
  try {
    ik::ShapeOn on{Geometry(shape), std::nullopt, e.pose()};
    if (!e.has("link")) return on;
    const ik::FrameOn carrier = e.place("link");
    on.link = carrier.link;
    on.X_LS = carrier.X_LF * on.X_LS;
    return on;
  } catch (const Error& error) {
    problems.bad_shape(path, error.what());
    return {};
  }
}

void read_clearances(const Json& request, const Model& model, Problems& problems, ik::Problem& out) {
  const auto keep = [&](std::vector<ik::Clearance> more) {
    out.clearances.insert(out.clearances.end(), more.begin(), more.end());
  };
  if (request.contains("self_clearance")) {
    const auto least = numbers(request.at("self_clearance"), 1, "self_clearance", problems);
    if (least) keep(ik::self_clearances(model, least->front()));
  }
  const auto all = request.find("clearances");
  if (all == request.end()) return;
  if (!all->is_array()) return problems.bad_shape("clearances", "must be an array of objects");
  for (size_t i = 0; i < all->size(); ++i) {
    const std::string path = fmt::format("clearances[{}]", i);
    const Json& c = (*all)[i];
    if (!is_object_of(c, path, {"first", "second", "least"}, problems)) continue;
    const Entries e(c, path, model, problems);
    auto second = read_shape(c.value("second", Json::object()), path + ".second", model, problems);
    if (!e.has("first")) {  // all that moves
      if (second) keep(ik::obstacle_clearances(model, *second, e.number("least", 0)));
      continue;
    }
    auto first = read_shape(c.at("first"), path + ".first", model, problems);
    if (first && second) out.clearances.push_back({*std::move(first), *std::move(second), e.number("least", 0)});
  }
}

void read_options(const Json& request, const Model& model, Problems& problems, ik::Options& out) {
  const auto options = request.find("options");
  if (options == request.end()) return;
  if (!is_object_of(*options, "options",
                    {"limits", "iterations", "starts", "largest_step", "damping", "method", "euler_order"}, problems))
    return;
  const Entries e(*options, "options", model, problems);
  out.limits = e.truth("limits", out.limits);
  out.iterations = e.whole("iterations", out.iterations);
  out.starts = e.whole("starts", out.starts);
  out.largest_step = e.number("largest_step", out.largest_step);
  out.damping = e.number("damping", out.damping);
  if (e.has("method")) {
    const auto method = ik::find_method(e.text("method"));
    if (!method) problems.unknown("options.method", "method", e.text("method"), method_names());
    out.method = method.value_or(out.method);
  }
  if (e.has("euler_order")) {
    const auto order = find_euler_order(e.text("euler_order"));
    std::vector<std::string> known;
    for (const EulerOrder o : kEulerOrders) known.emplace_back(to_string(o));
    if (!order) problems.unknown("options.euler_order", "order", e.text("euler_order"), known);
    out.euler_order = order.value_or(out.euler_order);
  }
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const ik::Method method : ik::kMethods) names.emplace_back(to_string(method));
  return names;
}

IkRequest::IkRequest(const Model& model) : start(neutral(model)) { options.starts = 20; }

IkRequest read_ik_request(const Json& request, const Model& model, const std::string& name) {
  Problems problems(name);
  IkRequest result(model);
  if (is_object_of(request, "request", {"start", "tasks", "clearances", "self_clearance", "options"}, problems)) {
    if (const auto start = request.find("start"); start != request.end()) {
      const StateInput input = StateReader(model).read(*start, "start", problems);
      if (!input.error.empty()) problems.bad_shape("start", input.error);
      result.start = input.state.q;
    }
    const auto tasks = request.find("tasks");
    if (tasks == request.end() || !tasks->is_array()) problems.bad_shape("tasks", "must be an array of objects");
    for (size_t i = 0; tasks != request.end() && tasks->is_array() && i < tasks->size(); ++i) {
      read_task((*tasks)[i], fmt::format("tasks[{}]", i), model, problems, result.problem);
    }
    read_clearances(request, model, problems, result.problem);
    read_options(request, model, problems, result.options);
  }
  problems.fail_if_any();
  return result;
}

ik::AnyTask parse_target(const std::string& text, const Model& model) {
  const size_t colon = text.rfind(':');
  const auto fail = [&](const std::string& what) {
    return Failure(kBadUsage, fmt::format("--target '{}': {}; write FRAME:x,y,z, FRAME:x,y,z,roll,pitch,yaw or "
                                          "FRAME:x,y,z,qx,qy,qz,qw",
                                          text, what));
  };
  if (colon == std::string::npos) throw fail("no ':' after the name of the link or frame");
  const std::string name = text.substr(0, colon);
  if (!model.find_link(name) && !model.find_frame(name)) {
    throw Failure(kBadUsage, unknown_name("link or frame", name, frame_names(model)));
  }
  std::vector<double> x;
  const char *at = text.data() + colon + 1, *end = text.data() + text.size();
  while (at < end) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) throw fail("not a number");
    x.push_back(value);
    if (next < end && *next != ',') throw fail("numbers are separated by commas");
    at = next + 1;
  }
  const ik::FrameOn frame = ik::frame_on(model, name);
  if (x.size() == 3) return ik::PositionTask{frame, {x[0], x[1], x[2]}};
  if (x.size() == 6) return ik::PoseTask{frame, {from_rpy({x[3], x[4], x[5]}), {x[0], x[1], x[2]}}};
  if (x.size() != 7) throw fail(fmt::format("{} numbers", x.size()));
  const Quaternion<> q{x[3], x[4], x[5], x[6]};
  if (std::abs(dot(q, q) - 1) > 2e-6) throw fail("the quaternion must have unit length");
  return ik::PoseTask{frame, {to_mat3(q), {x[0], x[1], x[2]}}};
}

}  // namespace kansetsu::cli
