#include "cli/eval_held.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json_shape.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::cli {
ConstraintMask read_directions(const nlohmann::json& object, const char* key, ConstraintMask otherwise,
                               const std::string& path, Problems& problems) {
  static const std::vector<std::string> kKnown{"rx", "ry", "rz", "x", "y", "z"};  // in the order of the mask
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  const std::string at = fmt::format("{}.{}", path, key);
  if (!found->is_array() || found->empty()) {
    problems.bad_shape(at, "must be an array of directions: rx, ry, rz, x, y, z");
    return otherwise;
  }
  unsigned mask = 0;
  for (const nlohmann::json& word : *found) {
    const std::string name = word.is_string() ? word.get<std::string>() : word.dump();
    const auto known = std::ranges::find(kKnown, name);
    if (known == kKnown.end())
      problems.unknown(at, "direction", name, kKnown);
    else
      mask |= 1u << (known - kKnown.begin());
  }
  return ConstraintMask(mask);
}

namespace {

constexpr double kUnitQuaternion = 1e-6;  // tolerance of its length

std::vector<std::string> places(const Model& model) {
  std::vector<std::string> names;
  for (int i = 0; i < model.link_count(); ++i) names.push_back(model.link(LinkId(i)).name);
  for (const FrameDescription& frame : model.description().frames) names.push_back(frame.name);
  return names;
}

/// The numbers under a key; none if it is missing or malformed.
std::optional<std::vector<double>> numbers_at(const nlohmann::json& object, const char* key, int count,
                                              const std::string& path, Problems& problems) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  return numbers(*found, count, fmt::format("{}.{}", path, key), problems);
}

void read_frame(const nlohmann::json& object, const std::string& path, const Model& model, Constraints& out,
                Problems& problems) {
  if (!is_object_of(object, path, {"link", "point", "to", "constrain", "quat_xyzw", "acceleration", "restitution"},
                    problems))
    return;
  const auto name_at = [&](const char* key) -> std::optional<std::string> {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    problems.bad_shape(fmt::format("{}.{}", path, key), "must be a name");
    return std::nullopt;
  };
  FrameConstraint c;
  const auto point = numbers_at(object, "point", 3, path, problems);
  const Vec3<> p = point ? Vec3<>{(*point)[0], (*point)[1], (*point)[2]} : Vec3<>{};
  if (const auto link = name_at("link")) {
    if (model.find_link(*link) || model.find_frame(*link))
      c = constraint_on(model, *link, p);
    else
      problems.unknown(path + ".link", "link or frame", *link, places(model));
  }
  if (const auto to = name_at("to")) {
    c.a = model.find_link(*to);
    if (!c.a) problems.unknown(path + ".to", "link", *to, places(model));
  }
  c.mask = read_directions(object, "constrain", c.mask, path, problems);
  if (const auto quat = numbers_at(object, "quat_xyzw", 4, path, problems)) {
    const double length = std::hypot(std::hypot((*quat)[0], (*quat)[1]), std::hypot((*quat)[2], (*quat)[3]));
    if (std::abs(length - 1) > kUnitQuaternion)
      problems.bad_shape(path + ".quat_xyzw", fmt::format("has length {}, not 1", length));
    else
      c.axes =
          to_mat3(Quaternion<>{(*quat)[0] / length, (*quat)[1] / length, (*quat)[2] / length, (*quat)[3] / length});
  }
  if (const auto x = numbers_at(object, "acceleration", 6, path, problems))
    std::ranges::copy(*x, c.acceleration.begin());
  if (const auto x = numbers_at(object, "restitution", 6, path, problems)) std::ranges::copy(*x, c.restitution.begin());
  out.frames.push_back(c);
}

std::optional<int> column_of(const std::string& name, const std::vector<std::string>& names, const std::string& path,
                             Problems& problems) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return int(found - names.begin());
  problems.unknown(path, "coordinate", name, names);
  return std::nullopt;
}

void read_coordinates(const nlohmann::json& object, const std::string& path, const std::vector<std::string>& names,
                      Constraints& out, Problems& problems) {
  if (!is_object_of(object, path, {"v", "acceleration", "restitution"}, problems)) return;
  const nlohmann::json& ratios = object.at("v");
  if (!is_object(ratios, path + ".v", problems)) return;
  CoordinateConstraint c;
  for (const auto& [name, value] : ratios.items()) {
    const auto ratio = numbers(value, 1, fmt::format("{}.v.{}", path, name), problems);
    const auto column = column_of(name, names, path + ".v", problems);
    if (ratio && column) c.terms.push_back({*column, ratio->front()});
  }
  if (ratios.empty()) problems.bad_shape(path + ".v", "names no coordinate");
  if (const auto x = numbers_at(object, "acceleration", 1, path, problems)) c.acceleration = x->front();
  if (const auto x = numbers_at(object, "restitution", 1, path, problems)) c.restitution = x->front();
  out.coordinates.push_back(std::move(c));
}

}  // namespace

Held read_held(const nlohmann::json& request, const Model& model, Problems& problems) {
  Held held;
  const std::vector<std::string>& names = model.dof_names();
  if (const auto list = request.find("constraints"); list != request.end()) {
    if (!list->is_array()) problems.bad_shape("constraints", "must be an array of objects");
    for (std::size_t i = 0; list->is_array() && i < list->size() && !problems.too_many(); ++i) {
      const nlohmann::json& one = (*list)[i];
      const std::string path = fmt::format("constraints[{}]", i);
      if (!is_object(one, path, problems)) continue;
      if (one.contains("v"))
        read_coordinates(one, path, names, held.constraints, problems);
      else if (one.contains("link"))
        read_frame(one, path, model, held.constraints, problems);
      else
        problems.bad_shape(path, "needs \"link\", the constrained link or frame, or \"v\", ratios of coordinates");
    }
  }
  if (const auto list = request.find("passive"); list != request.end()) {
    if (!list->is_array()) problems.bad_shape("passive", "must be an array of coordinates");
    for (std::size_t i = 0; list->is_array() && i < list->size(); ++i) {
      const nlohmann::json& one = (*list)[i];
      if (!one.is_string())
        problems.bad_shape("passive", fmt::format("must hold names, not {}", one.dump()));
      else if (const auto column = column_of(one.get<std::string>(), names, "passive", problems))
        held.passive.push_back(*column);
    }
  }
  return held;
}

}  // namespace kansetsu::cli
