#include "io/model_json.h"

#include <cmath>

#include "io/json.h"
#include "io/recording/recording_codes.h"

namespace kansetsu::io {
namespace {

using Json = nlohmann::ordered_json;

/// One direction for both ways: a `Fields` visitor is handed every member of every type below, with its name, and either
/// writes it into JSON or reads it from there. So the two cannot disagree.
template <class V>
void fields(V& v, Pose& x) {
  v("p", x.p);
  v("rpy", x.rpy);
}
template <class V>
void fields(V& v, Inertial& x) {
  v("mass", x.mass);
  v("origin", x.origin);
  v("inertia", x.inertia);
}
template <class V>
void fields(V& v, Material& x) {
  v("name", x.name);
  v("rgba", x.rgba);
  v("texture", x.texture);
}
template <class V>
void fields(V& v, Sphere& x) {
  v("radius", x.radius);
}
template <class V>
void fields(V& v, Box& x) {
  v("size", x.size);
}
template <class V>
void fields(V& v, Cylinder& x) {
  v("radius", x.radius);
  v("length", x.length);
}
template <class V>
void fields(V& v, Capsule& x) {
  v("radius", x.radius);
  v("length", x.length);
}
template <class V>
void fields(V& v, Mesh& x) {
  v("uri", x.uri);
  v("path", x.path);
  v("scale", x.scale);
}
template <class V>
void fields(V&, Plane&) {}
template <class V>
void fields(V& v, ConvexHull& x) {
  v("vertices", x.vertices);
}
template <class V>
void fields(V& v, HeightField& x) {
  v("columns", x.columns);
  v("rows", x.rows);
  v("size_x", x.size_x);
  v("size_y", x.size_y);
  v("heights", x.heights);
}
template <class V>
void fields(V&, TriangleMesh&) {}  // its data is shared: see to_json() and shape_from()
template <class V>
void fields(V& v, LinkShape& x) {
  v("name", x.name);
  v("origin", x.origin);
  v("shape", x.shape);
  v("material", x.material);
}
template <class V>
void fields(V& v, LinkDescription& x) {
  v("name", x.name);
  v("inertial", x.inertial);
  v("visuals", x.visuals);
  v("collisions", x.collisions);
}
template <class V>
void fields(V& v, DofDescription& x) {
  v("lower", x.lower);
  v("upper", x.upper);
  v("velocity", x.velocity);
  v("effort", x.effort);
  v("rotor_inertia", x.rotor_inertia);
  v("damping", x.damping);
  v("friction", x.friction);
  v("stiffness", x.stiffness);
  v("rest", x.rest);
}
template <class V>
void fields(V& v, SwingTwistLimit& x) {
  v("swing", x.swing);
  v("twist_lower", x.twist_lower);
  v("twist_upper", x.twist_upper);
}
template <class V>
void fields(V& v, JointDescription& x) {
  v("name", x.name);
  v("type", x.type);
  v("parent", x.parent);
  v("child", x.child);
  v("socket", x.socket);
  v("plug", x.plug);
  v("axis", x.axis);
  v("second_axis", x.second_axis);
  v("pitch", x.pitch);
  v("dofs", x.dofs);
  v("swing_twist", x.swing_twist);
  v("continuous", x.continuous);
}
template <class V>
void fields(V& v, DofRef& x) {
  v("joint", x.joint);
  v("index", x.index);
}
template <class V>
void fields(V& v, Coupling::Term& x) {
  v("dof", x.dof);
  v("ratio", x.ratio);
}
template <class V>
void fields(V& v, Coupling& x) {
  v("dependent", x.dependent);
  v("terms", x.terms);
  v("offset", x.offset);
}
template <class V>
void fields(V& v, FrameDescription& x) {
  v("name", x.name);
  v("link", x.link);
  v("origin", x.origin);
}
template <class V>
void fields(V& v, Actuator& x) {
  v("name", x.name);
  v("dof", x.dof);
  v("gear", x.gear);
  v("effort", x.effort);
}
template <class V>
void fields(V& v, CollisionFilter& x) {
  v("a", x.a);
  v("b", x.b);
}
template <class V>
void fields(V& v, ModelDescription& x) {
  v("name", x.name);
  v("base", x.base);
  v("base_pose", x.base_pose);
  v("gravity", x.gravity);
  v("links", x.links);
  v("joints", x.joints);
  v("couplings", x.couplings);
  v("frames", x.frames);
  v("actuators", x.actuators);
  v("collision_filters", x.collision_filters);
  v("materials", x.materials);
}

constexpr const char* kShapes[] = {"sphere", "box",         "cylinder",     "capsule",  "mesh",
                                   "plane",  "convex_hull", "height_field", "triangles"};
static_assert(std::size(kShapes) == std::variant_size_v<Shape>,
              "a new shape needs a name here, and its fields() above");

template <class T>
Json to_json(const T& x);
template <class T>
Json to_json(const std::vector<T>& x);
template <class T>
Json to_json(const std::optional<T>& x);
Json to_json(const std::string& x);

/// Writes members that differ from those of a default object.
template <class Object>
class Write {
 public:
  explicit Write(Json& out) : out_(out) {}
  template <class T>
  void operator()(const char* name, T& member) {
    const auto offset = reinterpret_cast<const char*>(&member) - base_;
    const T& usual = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(&default_) + offset);
    if (!(member == usual)) out_[name] = to_json(member);
  }
  void from(Object& object) {
    base_ = reinterpret_cast<const char*>(&object);
    fields(*this, object);
  }

 private:
  Json& out_;
  Object default_{};
  const char* base_ = nullptr;
};

Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}
Json to_json(const std::string& x) { return x; }
template <class T>
Json to_json(const std::vector<T>& x) {
  Json out = Json::array();
  for (const T& one : x) out.push_back(to_json(one));
  return out;
}
template <class T>
Json to_json(const std::optional<T>& x) {
  return x ? to_json(*x) : Json();
}

template <class T>
Json to_json(const T& x) {
  if constexpr (std::is_same_v<T, double>) {
    return number(x);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int>) {
    return x;
  } else if constexpr (std::is_same_v<T, Vec3<>>) {
    return {number(x.x), number(x.y), number(x.z)};
  } else if constexpr (std::is_same_v<T, Sym3<>>) {
    return {number(x.xx), number(x.yy), number(x.zz), number(x.xy), number(x.xz), number(x.yz)};
  } else if constexpr (std::is_same_v<T, JointType>) {
    return info(x).name;
  } else if constexpr (std::is_same_v<T, Base>) {
    return x == Base::kFree ? "free" : "fixed";
  } else if constexpr (std::is_same_v<T, Shape>) {
    Json out{{"type", kShapes[x.index()]}};
    std::visit([&](auto shape) { Write<decltype(shape)>(out).from(shape); }, x);
    if (const auto* mesh = std::get_if<TriangleMesh>(&x); mesh && mesh->data) {
      out["vertices"] = to_json(mesh->data->vertices);
      out["triangles"] = mesh->data->triangles;
    }
    return out;
  } else {
    Json out = Json::object();
    T copy = x;
    Write<T>(out).from(copy);
    return out;
  }
}

// ---------------------------------------------------------------------------------------------------------------- reading

template <class T>
void from_json(const Json& in, T& x);
template <class T>
void from_json(const Json& in, std::vector<T>& x);
template <class T>
void from_json(const Json& in, std::optional<T>& x);

template <class Object>
class Read {
 public:
  explicit Read(const Json& in) : in_(in) {}
  template <class T>
  void operator()(const char* name, T& member) {
    if (const auto found = in_.find(name); found != in_.end()) from_json(*found, member);
  }

 private:
  const Json& in_;
};

double number_from(const Json& in) {
  if (!in.is_string()) return in.get<double>();
  const auto& text = in.get_ref<const std::string&>();
  if (text == "inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  throw WrongJson("'" + text + "' is no number");
}

template <class T>
void from_json(const Json& in, std::vector<T>& x) {
  if (!in.is_array()) throw WrongJson("an array is missing");
  x.clear();
  for (const Json& one : in) from_json(one, x.emplace_back());
}
template <class T>
void from_json(const Json& in, std::optional<T>& x) {
  if (!in.is_null()) from_json(in, x.emplace());
}

template <std::size_t I = 0>
void shape_from(const Json& in, const std::string& type, Shape& x) {
  if constexpr (I < std::size(kShapes)) {
    if (type != kShapes[I]) return shape_from<I + 1>(in, type, x);
    std::variant_alternative_t<I, Shape> shape{};
    Read<decltype(shape)> read(in);
    fields(read, shape);
    if constexpr (std::is_same_v<decltype(shape), TriangleMesh>) {
      TriangleMeshData data;
      from_json(in.at("vertices"), data.vertices);
      from_json(in.at("triangles"), data.triangles);
      shape.data = std::make_shared<const TriangleMeshData>(std::move(data));
    }
    x = shape;
  } else {
    throw WrongJson("'" + type + "' is no shape");
  }
}

template <class T>
void from_json(const Json& in, T& x) {
  if constexpr (std::is_same_v<T, double>) {
    x = number_from(in);
  } else if constexpr (std::is_same_v<T, int>) {
    x = int_from(in);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    x = in.get<T>();
  } else if constexpr (std::is_same_v<T, std::array<int, 3>>) {
    if (in.size() != 3) throw WrongJson("a triangle has three corners");
    for (std::size_t i = 0; i < 3; ++i) x[i] = int_from(in.at(i));
  } else if constexpr (std::is_same_v<T, Vec3<>>) {
    x = {number_from(in.at(0)), number_from(in.at(1)), number_from(in.at(2))};
  } else if constexpr (std::is_same_v<T, Sym3<>>) {
    double* const targets[] = {&x.xx, &x.yy, &x.zz, &x.xy, &x.xz, &x.yz};
    for (std::size_t i = 0; i < 6; ++i) *targets[i] = number_from(in.at(i));
  } else if constexpr (std::is_same_v<T, JointType>) {
    const auto type = find_joint_type(in.get_ref<const std::string&>());
    if (!type) throw WrongJson("'" + in.get<std::string>() + "' is no joint type");
    x = *type;
  } else if constexpr (std::is_same_v<T, Base>) {
    x = in == "free" ? Base::kFree : Base::kFixed;
  } else if constexpr (std::is_same_v<T, Shape>) {
    shape_from(in, in.at("type").get<std::string>(), x);
  } else {
    if (!in.is_object()) throw WrongJson("an object is missing");
    Read<T> read(in);
    fields(read, x);
  }
}

}  // namespace

std::string model_to_json(const ModelDescription& description) {
  Json out{{"format", "kansetsu-model"}, {"version", kModelJsonVersion}};
  ModelDescription copy = description;
  Write<ModelDescription>(out).from(copy);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Loaded<ModelDescription> model_from_json(std::string_view text, const std::string& file_name) {
  const auto fail = [&](const std::string& why) {
    return Loaded<ModelDescription>{
        std::nullopt,
        {{Severity::kError, recording::kBadModel, file_name, 0, {}, "the model cannot be understood: " + why, {}}}};
  };
  try {
    const Json in = Json::parse(text);
    if (in.value("format", "") != "kansetsu-model") return fail("it is no kansetsu-model");
    if (int_from(in.at("version")) > kModelJsonVersion) return fail("it was written by a newer version of kansetsu");
    ModelDescription description;
    from_json(in, description);
    return {std::move(description), {}};
  } catch (const nlohmann::json::exception& error) {
    return fail(error.what());
  } catch (const WrongJson& error) {
    return fail(error.what());
  }
}

}  // namespace kansetsu::io
