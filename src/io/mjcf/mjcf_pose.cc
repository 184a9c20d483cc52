#include <fmt/format.h>

#include <array>
#include <cmath>

#include "io/mjcf/mjcf_reader.h"
#include "io/shapes.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::io::mjcf {
namespace {

/// The direction of a vector; an error if it has none.
std::optional<Vec3<>> direction(Reader& reader, const Attributes& a, const char* name, const Vec3<>& v) {
  const double length = norm(v);
  if (has_direction(length)) return (1 / length) * v;
  return reader.report.refuse(a.element(), kZeroVector, fmt::format("{} has no direction", name),
                              "give a vector that is not zero");
}

Mat3<> columns(const Vec3<>& x, const Vec3<>& y, const Vec3<>& z) {
  return {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
}

Mat3<> read_quat(Reader& reader, const Attributes& a) {
  std::array<double, 4> q{};
  if (a.numbers("quat", q, 4) != 4) return Mat3<>::identity();
  const auto turn = turn_of(q);
  if (!turn) reader.report.error(a.element(), kZeroVector, "zero quaternion is not allowed", "the identity is 1 0 0 0");
  return to_mat3(turn.value_or(Quaternion<>{}));
}

Mat3<> read_axisangle(Reader& reader, const Attributes& a) {
  std::array<double, 4> v{};
  if (a.numbers("axisangle", v, 4) != 4) return Mat3<>::identity();
  const auto axis = direction(reader, a, "axisangle", {v[0], v[1], v[2]});
  return axis ? exp_rotation(reader.compiler_of(a.element()).angle(v[3]) * *axis) : Mat3<>::identity();
}

Mat3<> read_xyaxes(Reader& reader, const Attributes& a) {
  std::array<double, 6> v{};
  if (a.numbers("xyaxes", v, 6) != 6) return Mat3<>::identity();
  const auto x = direction(reader, a, "the x axis", {v[0], v[1], v[2]});
  if (!x) return Mat3<>::identity();
  Vec3<> y{v[3], v[4], v[5]};
  y = y - dot(*x, y) * *x;
  const auto unit_y = direction(reader, a, "the y axis across x", y);
  return unit_y ? columns(*x, *unit_y, cross(*x, *unit_y)) : Mat3<>::identity();
}

Mat3<> read_zaxis(Reader& reader, const Attributes& a) {
  Vec3<> z{0, 0, 1};
  if (!a.vec3("zaxis", z)) return Mat3<>::identity();
  const auto unit = direction(reader, a, "zaxis", z);
  return unit ? rotation_to(*unit) : Mat3<>::identity();
}

Mat3<> read_euler(Reader& reader, const Attributes& a) {
  std::array<double, 3> angles{};
  if (a.numbers("euler", angles, 3) != 3) return Mat3<>::identity();
  return euler_rotation(reader.compiler_of(a.element()), angles);
}

}  // namespace

std::optional<Quaternion<>> turn_of(std::span<const double, 4> q) {
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!has_direction(length)) return std::nullopt;
  return Quaternion<>{q[1] / length, q[2] / length, q[3] / length, q[0] / length};
}

/// Lower-case letters are intrinsic rotations, upper-case letters extrinsic ones.
Mat3<> euler_rotation(const Compiler& compiler, const std::array<double, 3>& angles) {
  Mat3<> R = Mat3<>::identity();
  for (std::size_t i = 0; i < 3; ++i) {
    const char letter = compiler.eulerseq[i];
    const char axis = char(letter | 0x20);
    const Vec3<> e{axis == 'x' ? 1.0 : 0.0, axis == 'y' ? 1.0 : 0.0, axis == 'z' ? 1.0 : 0.0};
    const Mat3<> turn = exp_rotation(compiler.angle(angles[i]) * e);
    R = letter == axis ? R * turn : turn * R;
  }
  return R;
}

Transform<> read_pose(Reader& reader, const Attributes& a) {
  Transform<> X;
  a.vec3("pos", X.p);
  using Read = Mat3<> (*)(Reader&, const Attributes&);
  static constexpr std::pair<const char*, Read> kForms[] = {{"quat", read_quat},
                                                            {"axisangle", read_axisangle},
                                                            {"xyaxes", read_xyaxes},
                                                            {"zaxis", read_zaxis},
                                                            {"euler", read_euler}};
  int forms = 0;
  for (const auto& [name, read] : kForms) {
    // The element's own orientation overrides that of its class.
    if (a.element().Attribute(name) && ++forms == 1) X.R = read(reader, a);
  }
  if (forms > 1) {
    reader.report.error(a.element(), kOrientations, "several orientations for one frame",
                        "give one of quat, axisangle, xyaxes, zaxis, euler");
  }
  if (forms > 0) return X;
  for (const auto& [name, read] : kForms) {
    if (a.has(name)) X.R = read(reader, a);
  }
  return X;
}

std::optional<Ends> read_ends(Reader& reader, const Attributes& a) {
  std::array<double, 6> v{};
  if (a.numbers("fromto", v, 6) != 6) return std::nullopt;
  const Vec3<> from{v[0], v[1], v[2]}, to{v[3], v[4], v[5]};
  const double length = norm(from - to);
  if (!(length > kShortestVector))
    return reader.report.refuse(a.element(), kZeroVector, "fromto: the two points are the same",
                                "give two different points");
  return Ends{{rotation_to(from - to), 0.5 * (from + to)}, length / 2};
}

std::vector<Transform<>> poses_at_rest(const Reader& reader) {
  std::vector<Transform<>> X_WB;
  for (const Body& body : reader.bodies) {
    Transform<> X_PB = body.X_PB;
    for (const Joint& joint : body.joints) {
      if (body.carried) break;  // a free joint
      const double q = joint.dof.rest - joint.reference;
      if (joint.kind == JointKind::kSlide) X_PB = X_PB * Transform<>{Mat3<>::identity(), q * joint.axis};
      if (joint.kind != JointKind::kHinge) continue;
      const Mat3<> R = exp_rotation(q * joint.axis);
      X_PB = X_PB * Transform<>{R, joint.p - R * joint.p};
    }
    X_WB.push_back(body.parent < 0 ? X_PB : X_WB[std::size_t(body.parent)] * X_PB);
  }
  return X_WB;
}

}  // namespace kansetsu::io::mjcf
