#include "io/recording/foxglove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/lookup.h"
#include "io/recording/proto.h"
#include "io/recording/recording_codes.h"
#include "io/shapes.h"
#include "io/text.h"

namespace kansetsu::io::foxglove {
namespace {

using proto::Writer;

constexpr double kMetresPerNewton = 1e-3;
constexpr double kSmallestForce = 1e-6;  // [N] shows no direction
using Colour = std::array<double, 4>;
constexpr Colour kDefault{0.36, 0.55, 0.75, 1}, kContact{0.84, 0.37, 0.0, 1}, kConnection{0.0, 0.62, 0.45, 1};

Writer time_stamp(double time) {
  const double seconds = std::floor(time);
  return Writer()
      .varint(1, static_cast<std::uint64_t>(seconds))
      .varint(2, static_cast<std::uint64_t>(std::min((time - seconds) * 1e9, 999999999.0)));
}
Writer vector3(const Vec3<>& a) { return Writer().number(1, a.x).number(2, a.y).number(3, a.z); }
Writer quaternion(const Mat3<>& R) {
  const Quaternion<> q = to_quaternion(R);
  return Writer().number(1, q.x).number(2, q.y).number(3, q.z).number(4, q.w);
}
Writer pose(const Transform<>& X) { return Writer().message(1, vector3(X.p)).message(2, quaternion(X.R)); }
Writer colour(const Colour& c) { return Writer().number(1, c[0]).number(2, c[1]).number(3, c[2]).number(4, c[3]); }

enum Primitives { kArrows = 7, kCubes = 8, kSpheres = 9, kCylinders = 10, kModels = 14 };

std::string media_type(const std::string& name) {
  const std::string extension = std::filesystem::path(name).extension().string();
  if (extension == ".stl") return "model/stl";
  if (extension == ".obj") return "model/obj";
  if (extension == ".dae") return "model/vnd.collada+xml";
  if (extension == ".glb") return "model/gltf-binary";
  return "application/octet-stream";
}

/// Every shape carries its mesh along, so that one file named by many shapes would make a message of any size.
struct MeshBudget {
  std::size_t left;
  int left_out = 0;

  bool take(std::size_t bytes) {
    if (bytes > left) return ++left_out, false;
    left -= bytes;
    return true;
  }
};

/// Adds a shape to an entity.
struct AddShape {
  Writer& entity;
  Transform<> X;
  Colour tint;
  MeshSet meshes;
  MeshBudget& budget;

  void sphere(const Transform<>& at, double radius) const {
    const double d = 2 * radius;
    entity.message(kSpheres, Writer().message(1, pose(at)).message(2, vector3({d, d, d})).message(3, colour(tint)));
  }
  void tube(double radius, double length) const {
    Writer out;
    out.message(1, pose(X)).message(2, vector3({2 * radius, 2 * radius, length})).number(3, 1).number(4, 1);
    entity.message(kCylinders, out.message(5, colour(tint)));
  }
  void operator()(const Sphere& s) const { sphere(X, s.radius); }
  void operator()(const Box& s) const {
    entity.message(kCubes, Writer().message(1, pose(X)).message(2, vector3(s.size)).message(3, colour(tint)));
  }
  void operator()(const Cylinder& s) const { tube(s.radius, s.length); }
  void operator()(const Capsule& s) const {
    tube(s.radius, s.length);
    for (const double side : {-0.5, 0.5}) sphere({X.R, X * Vec3<>{0, 0, side * s.length}}, s.radius);
  }
  void operator()(const Mesh& s) const {
    const MeshFile* file = meshes.find(s);
    if (!file || !budget.take(file->data->size())) return;
    Writer out;
    out.message(1, pose(X)).message(2, vector3(s.scale)).message(3, colour(tint));
    entity.message(kModels, out.text(6, media_type(file->name)).text(7, *file->data));
  }
  template <class Other>
  void operator()(const Other&) const {}
};

Writer entity(double time, std::string_view frame, std::string_view id) {
  return Writer().message(1, time_stamp(time)).text(2, frame).text(3, id).varint(5, 1);
}

void add_shapes(Writer& to, const std::vector<LinkShape>& shapes, const Materials& materials, const MeshSet& meshes,
                MeshBudget& budget) {
  for (const LinkShape& shape : shapes) {
    std::visit(AddShape{to, to_transform(shape.origin), materials.colour(shape).value_or(kDefault), meshes, budget},
               shape.shape);
  }
}

void add_arrow(Writer& to, const Vec3<>& point, const Vec3<>& force, const Colour& tint) {
  const double size = norm(force), length = kMetresPerNewton * size;
  if (!(size > kSmallestForce)) return;
  const double head = std::min(0.06, 0.4 * length);
  Writer out;
  out.message(1, pose({rotation_to(force, {1, 0, 0}), point}));
  to.message(kArrows,
             out.number(2, length - head).number(3, 0.015).number(4, head).number(5, 0.035).message(6, colour(tint)));
}

}  // namespace

std::string transforms(const RecordingHeader& header, const RecordedFrame& frame) {
  Writer out;
  const Writer stamp = time_stamp(frame.time);
  for (std::size_t i = 0; i < header.figures.size(); ++i) {
    const RecordedFigure& figure = header.figures[i];
    const std::vector<Transform<>> poses = recorded_poses(figure.model, frame.states[i].q);
    for (std::size_t k = 0; k < poses.size(); ++k) {
      const std::string child = figure.name + "/" + figure.model.link(LinkId(int(k))).name;
      Writer one;
      one.message(1, stamp).text(2, "world").text(3, child);
      out.message(1, one.message(4, vector3(poses[k].p)).message(5, quaternion(poses[k].R)));
    }
  }
  return std::move(out.bytes);
}

JointStates::JointStates(const RecordingHeader& header) {
  std::map<std::string, int> numbers;
  for (std::size_t i = 0; i < header.numbers.size(); ++i) numbers.emplace(header.numbers[i].name, int(i));
  const auto find = [&](const std::string& name) {
    const int* found = find_in(numbers, name);
    return found ? *found : -1;
  };
  for (std::size_t k = 0; k < header.figures.size(); ++k) {
    const Model& model = header.figures[k].model;
    const std::string& figure = header.figures[k].name;
    for (int j = 0; j < model.joint_count(); ++j) {
      const CoordinateRange range = model.coordinates(JointId(j));
      if (range.nq != 1 || range.nv != 1) continue;
      const std::string& dof = model.dof_names()[std::size_t(range.v)];
      joints_.push_back({.name = header.figures.size() == 1 ? dof : figure + "/" + dof,
                         .figure = k,
                         .q = range.q,
                         .v = range.v,
                         .vdot = find(figure + "/vdot/" + dof),
                         .tau = find(figure + "/tau/" + dof)});
    }
  }
}

std::string JointStates::message(const RecordedFrame& frame) const {
  Writer out;
  out.message(1, time_stamp(frame.time));
  for (const Joint& joint : joints_) {
    const State& state = frame.states[joint.figure];
    Writer one;
    one.text(1, joint.name).number(2, state.q[joint.q]).number(3, state.v[joint.v]);
    if (joint.vdot >= 0) one.number(4, frame.numbers[std::size_t(joint.vdot)]);
    if (joint.tau >= 0) one.number(5, frame.numbers[std::size_t(joint.tau)]);
    out.message(2, one);
  }
  return std::move(out.bytes);
}

std::string shapes(const RecordingHeader& header, const MeshFiles& meshes, double time,
                   std::vector<Diagnostic>& diagnostics, std::size_t most) {
  Writer out;
  MeshBudget budget{most};
  for (std::size_t k = 0; k < header.figures.size(); ++k) {
    const RecordedFigure& figure = header.figures[k];
    const auto all = shown_shapes(figure.model, {meshes, int(k)});
    const Materials materials(figure.model.description());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].empty()) continue;
      const std::string name = figure.name + "/" + figure.model.link(LinkId(int(i))).name;
      Writer one = entity(time, name, name);
      add_shapes(one, all[i], materials, {meshes, int(k)}, budget);
      out.message(2, one);
    }
  }
  if (!header.environment.empty()) {
    Writer one = entity(time, "world", "environment");
    add_shapes(one, header.environment, {}, {meshes}, budget);
    out.message(2, one);
  }
  if (budget.left_out > 0) {
    diagnostics.push_back(
        about_file(Severity::kWarning, recording::kMeshLeftOut, "/scene",
                   fmt::format("{} shapes are not shown in Foxglove and rerun: their meshes would take "
                               "more than {} MiB",
                               budget.left_out, most >> 20),
                   "the viewer of kansetsu shows them"));
  }
  return std::move(out.bytes);
}

std::string forces(const RecordedFrame& frame) {
  Writer contacts = entity(frame.time, "world", "contact forces");
  for (const RecordedContact& c : frame.contacts) add_arrow(contacts, c.point, c.force, kContact);
  Writer connections = entity(frame.time, "world", "connection forces");
  for (const RecordedConnection& c : frame.connections) add_arrow(connections, c.point, c.wrench.f, kConnection);
  return Writer().message(2, contacts).message(2, connections).bytes;
}

}  // namespace kansetsu::io::foxglove
