#include "io/recording/proto_schema.h"

#include <algorithm>
#include <vector>

#include "io/number.h"
#include "io/recording/proto.h"
#include "kansetsu/base/error.h"

namespace kansetsu::io::proto {
namespace {

/// A message: "field:type" each, numbered from 1 on; a star marks repeated ones, a question mark those that may be absent. Types with a dot are messages, "Type" is the
/// message's own enumeration.
struct Message {
  std::string_view name, fields, enumeration = {};
};

constexpr Message kMessages[] = {
    {"google.protobuf.Timestamp", "seconds:int64 nanos:int32"},
    {"google.protobuf.Duration", "seconds:int64 nanos:int32"},
    {"foxglove.Color", "r:double g:double b:double a:double"},
    {"foxglove.Quaternion", "x:double y:double z:double w:double"},
    {"foxglove.Vector3", "x:double y:double z:double"},
    {"foxglove.Point3", "x:double y:double z:double"},
    {"foxglove.Pose", "position:foxglove.Vector3 orientation:foxglove.Quaternion"},
    {"foxglove.KeyValuePair", "key:string value:string"},
    {"foxglove.ArrowPrimitive",
     "pose:foxglove.Pose shaft_length:double shaft_diameter:double head_length:double head_diameter:double "
     "color:foxglove.Color"},
    {"foxglove.CubePrimitive", "pose:foxglove.Pose size:foxglove.Vector3 color:foxglove.Color"},
    {"foxglove.SpherePrimitive", "pose:foxglove.Pose size:foxglove.Vector3 color:foxglove.Color"},
    {"foxglove.CylinderPrimitive",
     "pose:foxglove.Pose size:foxglove.Vector3 bottom_scale:double top_scale:double color:foxglove.Color"},
    {"foxglove.LinePrimitive",
     "type:Type pose:foxglove.Pose thickness:double scale_invariant:bool points:foxglove.Point3* color:foxglove.Color "
     "colors:foxglove.Color* indices:fixed32*",
     "LINE_STRIP LINE_LOOP LINE_LIST"},
    {"foxglove.TriangleListPrimitive",
     "pose:foxglove.Pose points:foxglove.Point3* color:foxglove.Color colors:foxglove.Color* indices:fixed32*"},
    {"foxglove.TextPrimitive",
     "pose:foxglove.Pose billboard:bool font_size:double scale_invariant:bool color:foxglove.Color text:string"},
    {"foxglove.ModelPrimitive",
     "pose:foxglove.Pose scale:foxglove.Vector3 color:foxglove.Color override_color:bool url:string media_type:string "
     "data:bytes"},
    {"foxglove.SceneEntity",
     "timestamp:google.protobuf.Timestamp frame_id:string id:string lifetime:google.protobuf.Duration "
     "frame_locked:bool "
     "metadata:foxglove.KeyValuePair* arrows:foxglove.ArrowPrimitive* cubes:foxglove.CubePrimitive* "
     "spheres:foxglove.SpherePrimitive* cylinders:foxglove.CylinderPrimitive* lines:foxglove.LinePrimitive* "
     "triangles:foxglove.TriangleListPrimitive* texts:foxglove.TextPrimitive* models:foxglove.ModelPrimitive*"},
    {"foxglove.SceneEntityDeletion", "timestamp:google.protobuf.Timestamp type:Type id:string", "MATCHING_ID ALL"},
    {"foxglove.SceneUpdate", "deletions:foxglove.SceneEntityDeletion* entities:foxglove.SceneEntity*"},
    {"foxglove.FrameTransform",
     "timestamp:google.protobuf.Timestamp parent_frame_id:string child_frame_id:string translation:foxglove.Vector3 "
     "rotation:foxglove.Quaternion"},
    {"foxglove.FrameTransforms", "transforms:foxglove.FrameTransform*"},
    {"foxglove.JointState", "name:string position:double? velocity:double? acceleration:double? effort:double?"},
    {"foxglove.JointStates", "timestamp:google.protobuf.Timestamp joints:foxglove.JointState*"},
    {"kansetsu.FigureState", "q:double* v:double*"},
    {"kansetsu.Contact",
     "figure_a:sint32 link_a:sint32 figure_b:sint32 link_b:sint32 point:double* normal:double* force:double* "
     "moment:double* impulse:double* state:sint32"},
    {"kansetsu.Connection",
     "name:string figure_a:sint32 link_a:sint32 figure_b:sint32 link_b:sint32 point:double* force:double* "
     "moment:double*"},
    {"kansetsu.Frame",
     "time:double figures:kansetsu.FigureState* contacts:kansetsu.Contact* connections:kansetsu.Connection* "
     "numbers:double* events:string*"},
    {"kansetsu.Number", "value:double"},
};

/// Numbers of google.protobuf.FieldDescriptorProto.Type.
constexpr std::pair<std::string_view, int> kTypes[] = {{"double", 1}, {"int64", 3},  {"int32", 5},  {"fixed32", 7},
                                                       {"bool", 8},   {"string", 9}, {"bytes", 12}, {"sint32", 17}};
constexpr int kMessageType = 11, kEnumType = 14;

const Message& find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMessages), std::end(kMessages), [&](auto& m) { return m.name == name; });
  if (found == std::end(kMessages)) throw Error("no schema of " + std::string(name));
  return *found;
}

struct Field {
  std::string_view name, type;
  bool repeated = false, optional = false;
  bool is_message() const { return type.find('.') != std::string_view::npos; }
};

std::vector<Field> fields_of(const Message& message) {
  std::vector<Field> fields;
  for (const std::string_view word : split_words(message.fields)) {
    const std::size_t colon = word.find(':');
    const bool repeated = word.ends_with('*'), optional = word.ends_with('?');
    const std::size_t end = word.size() - (repeated || optional ? 1 : 0);
    fields.push_back({word.substr(0, colon), word.substr(colon + 1, end - colon - 1), repeated, optional});
  }
  return fields;
}

/// Where the message is published: "foxglove.Pose" in foxglove/Pose.proto, Google's in lower case.
std::string file_of(std::string_view name) {
  std::string path(name);
  std::replace(path.begin(), path.end(), '.', '/');
  if (name.starts_with("google.")) {
    std::transform(path.begin(), path.end(), path.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  }
  return path + ".proto";
}

std::string_view package_of(std::string_view name) { return name.substr(0, name.rfind('.')); }

Writer field_descriptor(const Message& message, const Field& field, int number) {
  Writer out;
  out.text(1, field.name).varint(3, static_cast<unsigned>(number)).varint(4, field.repeated ? 3 : 1);
  if (field.is_message()) return out.varint(5, kMessageType).text(6, "." + std::string(field.type));
  if (field.type == "Type") return out.varint(5, kEnumType).text(6, "." + std::string(message.name) + ".Type");
  for (const auto& [name, type] : kTypes) {
    if (name == field.type) out.varint(5, static_cast<unsigned>(type));
  }
  return out;
}

Writer file_descriptor(const Message& message) {
  Writer file, type;
  file.text(1, file_of(message.name)).text(2, package_of(message.name));
  std::vector<std::string_view> seen;
  type.text(1, message.name.substr(package_of(message.name).size() + 1));
  int number = 0;
  std::uint64_t optional = 0;
  for (const Field& field : fields_of(message)) {
    Writer described = field_descriptor(message, field, ++number);
    if (field.optional) described.varint(9, optional++).varint(17, 1);  // a group of its own, as protoc makes it
    type.message(2, described);
    if (!field.is_message() || std::ranges::count(seen, field.type)) continue;
    seen.push_back(field.type);
    file.text(3, file_of(field.type));
  }
  for (const Field& field : fields_of(message)) {
    if (field.optional) type.message(8, Writer().text(1, "_" + std::string(field.name)));
  }
  if (!message.enumeration.empty()) {
    Writer values;
    values.text(1, "Type");
    std::uint64_t value = 0;
    for (const std::string_view name : split_words(message.enumeration))
      values.message(2, Writer().text(1, name).varint(2, value++));
    type.message(4, values);
  }
  return file.message(4, type).text(12, "proto3");
}

/// Dependencies first, each once.
void add(std::string_view name, std::vector<std::string_view>& done, Writer& set) {
  if (std::ranges::count(done, name)) return;
  done.push_back(name);
  const Message& message = find(name);
  for (const Field& field : fields_of(message)) {
    if (field.is_message()) add(field.type, done, set);
  }
  set.message(1, file_descriptor(message));
}

}  // namespace

std::string descriptor_set(std::string_view message) {
  Writer set;
  std::vector<std::string_view> done;
  add(message, done, set);
  return set.bytes;
}

}  // namespace kansetsu::io::proto
