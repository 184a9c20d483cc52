#include "shapes.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "errors.h"
#include "kansetsu/io/mesh.h"

/// Shapes and materials.
namespace kansetsu::python {
namespace {

double positive(const char* shape, const char* what, double x) {
  if (!(x > 0) || !std::isfinite(x))
    raise_value(fmt::format("{}: {} is {}, expected a positive length", shape, what, x));
  return x;
}

Box make_box(Like size) {
  const Vec3<> s = read_vec3({"Box", "size"}, size);
  for (const double x : {s.x, s.y, s.z}) positive("Box", "an edge of size", x);
  return {s};
}

HeightField make_height_field(Like heights, Like size) {
  HeightField out;
  const std::vector<double> extent = read_numbers({"HeightField", "size"}, size, 2);
  out.size_x = positive("HeightField", "size[0]", extent[0]),
  out.size_y = positive("HeightField", "size[1]", extent[1]);
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(heights);
  const auto shape = nb::cast<std::vector<int>>(array.attr("shape"));
  if (shape.size() != 2 || shape[0] < 2 || shape[1] < 2)
    raise_value(
        "HeightField: heights is not a grid; expected (rows, columns), at least two each, rows along y and columns "
        "along x");
  out.rows = shape[0], out.columns = shape[1];
  out.heights = read_numbers({"HeightField", "heights"}, array.attr("ravel")());
  return out;
}

TriangleMesh make_mesh(Like vertices, const std::vector<std::array<int, 3>>& triangles) {
  TriangleMeshData data{read_points({"TriangleMesh", "vertices"}, vertices), triangles};
  for (const auto& t : data.triangles) {
    for (const int v : t) {
      if (v < 0 || v >= int(data.vertices.size()))
        raise_value(fmt::format("TriangleMesh: a triangle names vertex {}, and there are {}", v, data.vertices.size()));
    }
  }
  return {std::make_shared<const TriangleMeshData>(std::move(data))};
}

}  // namespace

Shape to_shape(const AnyShape& shape) {
  return std::visit([](const auto& s) { return Shape(s); }, shape);
}

void bind_shapes(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Sphere>(module, "Sphere", "A ball around its frame's origin.")
      .def(
          "__init__", [](Sphere* s, double radius) { new (s) Sphere{positive("Sphere", "radius", radius)}; },
          "radius"_a)
      .def_ro("radius", &Sphere::radius, "[m]");
  nb::class_<Box>(module, "Box", "A box around its frame's origin, by its edge lengths.")
      .def(
          "__init__", [](Box* s, Like size) { new (s) Box(make_box(size)); }, "size"_a)
      .def_prop_ro("size", [](const Box& b) { return to_array(b.size); }, "Edge lengths [m].");
  nb::class_<Cylinder>(module, "Cylinder", "A cylinder along z.")
      .def(
          "__init__",
          [](Cylinder* s, double radius, double length) {
            new (s) Cylinder{positive("Cylinder", "radius", radius), positive("Cylinder", "length", length)};
          },
          "radius"_a, "length"_a)
      .def_ro("radius", &Cylinder::radius, "[m]")
      .def_ro("length", &Cylinder::length, "[m]");
  nb::class_<Capsule>(module, "Capsule", "A capsule along z; length is that of its cylindrical part.")
      .def(
          "__init__",
          [](Capsule* s, double radius, double length) {
            new (s) Capsule{positive("Capsule", "radius", radius), positive("Capsule", "length", length)};
          },
          "radius"_a, "length"_a)
      .def_ro("radius", &Capsule::radius, "[m]")
      .def_ro("length", &Capsule::length, "Of the cylindrical part [m].");
  nb::class_<Plane>(module, "Plane", "The half space z <= 0.").def(nb::init<>());
  nb::class_<ConvexHull>(module, "ConvexHull", "The convex hull of points.")
      .def(
          "__init__",
          [](ConvexHull* s, Like vertices) { new (s) ConvexHull{read_points({"ConvexHull", "vertices"}, vertices)}; },
          "vertices"_a)
      .def_prop_ro("vertices", [](const ConvexHull& h) { return to_array(h.vertices); }, "(points, 3) [m]");
  nb::class_<HeightField>(module, "HeightField", "Ground below heights on a grid around the origin.")
      .def(
          "__init__",
          [](HeightField* s, Like heights, Like size) { new (s) HeightField(make_height_field(heights, size)); },
          "heights"_a, "size"_a)
      .def_ro("rows", &HeightField::rows, "Of the grid, along y.")
      .def_ro("columns", &HeightField::columns, "Of the grid, along x.");
  nb::class_<TriangleMesh>(module, "TriangleMesh", "A surface of triangles, counterclockwise as seen from outside.")
      .def(
          "__init__",
          [](TriangleMesh* s, Like vertices, const std::vector<std::array<int, 3>>& triangles) {
            new (s) TriangleMesh(make_mesh(vertices, triangles));
          },
          "vertices"_a, "triangles"_a)
      .def_prop_ro(
          "vertices", [](const TriangleMesh& t) { return to_array(t.data->vertices); }, "(points, 3) [m]")
      .def_prop_ro(
          "triangles", [](const TriangleMesh& t) { return t.data->triangles; }, "Numbers of three vertices each.");
  module.def(
      "load_mesh",
      [](const PathLike& file, Like scale) {
        return value_or_raise(
            io::load_mesh(file, scale.is_none() ? Vec3<>{1, 1, 1} : read_vec3({"load_mesh", "scale"}, scale)));
      },
      "file"_a, "scale"_a.none() = nb::none(), "Reads an STL or OBJ file.");
  nb::class_<ContactMaterial>(module, "Material", "Contact properties of a surface.")
      .def(
          "__init__",
          [](ContactMaterial* c, double mu_s, double mu_d, double restitution, double spin_radius,
             double rolling_radius, double clearance) {
            new (c) ContactMaterial{mu_s,     std::isnan(mu_d) ? mu_s : mu_d, restitution, spin_radius, rolling_radius,
                                    clearance};
            MaterialTable().add(*c);  // raises if a number is not finite
          },
          "mu_s"_a = 0.8, "mu_d"_a = std::nan(""), "restitution"_a = 0.0, "spin_radius"_a = 0.0,
          "rolling_radius"_a = 0.0, "clearance"_a = 0.0,
          "mu_s, mu_d: static and dynamic friction (default of mu_d: mu_s); restitution: 0 ... 1; spin_radius: "
          "effective "
          "patch radius for torsional friction of point contacts [m]; rolling_radius: lever arm of rolling resistance "
          "[m]; clearance: distance at which shapes touch [m], added for the two surfaces.")
      .def_ro("mu_s", &ContactMaterial::mu_s, "Static friction.")
      .def_ro("mu_d", &ContactMaterial::mu_d, "Dynamic friction.")
      .def_ro("restitution", &ContactMaterial::restitution, "0 ... 1")
      .def_ro("spin_radius", &ContactMaterial::spin_radius,
              "Effective patch radius for torsional friction of point contacts [m].")
      .def_ro("rolling_radius", &ContactMaterial::rolling_radius, "Lever arm of rolling resistance [m].")
      .def_ro("clearance", &ContactMaterial::clearance, "Distance at which shapes touch [m].")
      .def("__repr__", [](const ContactMaterial& c) {
        return fmt::format(
            "Material(mu_s={}, mu_d={}, restitution={}, spin_radius={}, rolling_radius={}, clearance={})", c.mu_s,
            c.mu_d, c.restitution, c.spin_radius, c.rolling_radius, c.clearance);
      });
}

}  // namespace kansetsu::python
