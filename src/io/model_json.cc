#include "io/model_json.h"

#include <algorithm>
#include <cmath>

#include "io/json.h"
#include "io/recording/recording_codes.h"
#include "model/model_schema.h"

namespace kansetsu::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kShapes[] = {"sphere", "box",         "cylinder",     "capsule",  "mesh",
                                   "plane",  "convex_hull", "height_field", "triangles"};
static_assert(std::size(kShapes) == std::variant_size_v<Shape>, "a new shape needs a name here, and a RecordSchema");

template <class T>
Json to_json(const T& x);
template <class T>
Json to_json(const std::vector<T>& x);
template <class T>
Json to_json(const std::optional<T>& x);
Json to_json(const std::string& x);

/// Writes the members that differ from their defaults.
template <class Record>
void fields_to_json(const Record& x, Json& out) {
  const Record usual{};
  for_each_field<Record>([&](const auto& field) {
    if (!(x.*field.member == usual.*field.member)) out[field.key] = to_json(x.*field.member);
  });
}

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
  } else if constexpr (HasWords<T>) {
    return word_of(x);
  } else if constexpr (std::is_same_v<T, Shape>) {
    Json out{{"type", kShapes[x.index()]}};
    std::visit([&](const auto& shape) { fields_to_json(shape, out); }, x);
    if (const auto* mesh = std::get_if<TriangleMesh>(&x); mesh && mesh->data) {
      out["vertices"] = to_json(mesh->data->vertices);
      out["triangles"] = mesh->data->triangles;
    }
    return out;
  } else {
    Json out = Json::object();
    fields_to_json(x, out);
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

template <class Record>
void fields_from_json(const Json& in, Record& x) {
  for_each_field<Record>([&](const auto& field) {
    if (const auto found = in.find(field.key); found != in.end()) from_json(*found, x.*field.member);
  });
}

double number_from(const Json& in) {
  if (!in.is_string()) return in.get<double>();
  const auto& text = in.get_ref<const std::string&>();
  if (text == "inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  throw WrongJson("'" + text + "' is not a number");
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
    fields_from_json(in, shape);
    if constexpr (std::is_same_v<decltype(shape), TriangleMesh>) {
      TriangleMeshData data;
      from_json(in.at("vertices"), data.vertices);
      from_json(in.at("triangles"), data.triangles);
      shape.data = std::make_shared<const TriangleMeshData>(std::move(data));
    }
    x = shape;
  } else {
    throw WrongJson("'" + type + "' is not a shape");
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
    if (!type) throw WrongJson("'" + in.get<std::string>() + "' is not a joint type");
    x = *type;
  } else if constexpr (HasWords<T>) {
    const auto word = std::ranges::find(kWords<T>, in.get_ref<const std::string&>());
    if (word == kWords<T>.end()) throw WrongJson("'" + in.get<std::string>() + "' is not known");
    x = T(word - kWords<T>.begin());
  } else if constexpr (std::is_same_v<T, Shape>) {
    shape_from(in, in.at("type").get<std::string>(), x);
  } else {
    if (!in.is_object()) throw WrongJson("an object is missing");
    fields_from_json(in, x);
  }
}

}  // namespace

std::string model_to_json(const ModelDescription& description) {
  Json out{{"format", "kansetsu-model"}, {"version", kModelJsonVersion}};
  fields_to_json(description, out);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Loaded<ModelDescription> model_from_json(std::string_view text, const std::string& file_name) {
  const auto fail = [&](const std::string& why) {
    return Loaded<ModelDescription>{
        std::nullopt,
        {{Severity::kError, recording::kBadModel, file_name, 0, {}, "the model cannot be parsed: " + why, {}}}};
  };
  try {
    const Json in = parse_json<Json>(text);
    if (in.value("format", "") != "kansetsu-model") return fail("it is not a kansetsu-model");
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
