#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "base/lookup.h"
#include "io/capture/capture_codes.h"
#include "io/capture/capture_reader.h"
#include "io/recording/npz_reader.h"
#include "io/text.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/model/human.h"
#include "kansetsu/spatial/rotations.h"

/// Motions of AMASS: turns of the joints of the SMPL models, in arrays of NumPy. Joints turn by rotation vectors on their parents; at
/// rest they stand with stretched arms, x to the left, y up, z forward.
namespace kansetsu::io {
namespace {

using namespace capture;

/// The joints that all models of the family share, in their order.
struct SmplJoint {
  const char* name;
  int parent;
};
constexpr std::array<SmplJoint, 22> kSmpl{
    {{"Pelvis", -1},  {"L_Hip", 0},    {"R_Hip", 0},    {"Spine1", 0},  {"L_Knee", 1},      {"R_Knee", 2},
     {"Spine2", 3},   {"L_Ankle", 4},  {"R_Ankle", 5},  {"Spine3", 6},  {"L_Foot", 7},      {"R_Foot", 8},
     {"Neck", 9},     {"L_Collar", 9}, {"R_Collar", 9}, {"Head", 12},   {"L_Shoulder", 13}, {"R_Shoulder", 14},
     {"L_Elbow", 16}, {"R_Elbow", 17}, {"L_Wrist", 18}, {"R_Wrist", 19}}};
constexpr std::size_t kSmplJoints = kSmpl.size();
/// Numbers of a frame of `poses`: body alone, SMPL, SMPL+H and SMPL-X.
constexpr std::array<std::size_t, 4> kWidths{66, 72, 156, 165};
/// Numbers of a frame of the body's joints without the root: with and without the two of SMPL's hands.
constexpr std::array<std::size_t, 2> kBodyWidths{63, 69};
constexpr double kUsualRate = 120;  ///< [Hz] of most of AMASS

/// Names that the makers of such files give to the same array; the first is AMASS's.
using ArrayNames = std::span<const char* const>;
constexpr const char *kPoses[]{"poses", "smpl_poses"}, *kRoot[]{"root_orient", "global_orient"},
    *kBody[]{"pose_body", "body_pose"}, *kTrans[]{"trans", "transl", "smpl_trans"},
    *kRates[]{"mocap_framerate", "mocap_frame_rate", "fps"};

constexpr double kLongestBone = 3;  ///< [m]
/// World axes (x forward, y left, z up at rest) from those of a body at rest, and back.
Vec3<> from_rest(const Vec3<>& p) { return {p.z, p.x, p.y}; }
constexpr Mat3<> kToRest{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};

using Centres = std::array<Vec3<>, kSmplJoints>;

/// Joint centres of a person of mean size by the tables of the figure `human`, arms stretched: files have none of their own.
Centres usual_centres(Sex sex) {
  std::map<std::string, Vec3<>> at{{"pelvis", {}}};
  const Model figure = human({.sex = sex});
  for (const JointDescription& joint : figure.description().joints)
    at[joint.child] = at[joint.parent] + joint.socket.p;  // all links are parallel to the world
  Centres out{};
  const Vec3<> neck = at["head"], chest = at["thorax"];
  out[0] = 0.5 * at["abdomen"], out[3] = at["abdomen"], out[6] = chest;
  out[9] = chest + (1. / 3) * (neck - chest);
  out[12] = neck, out[15] = neck + 0.5 * (neck - chest);
  for (const auto& [side, first] : {std::pair<std::string, std::size_t>{"_l", 0}, {"_r", 1}}) {
    const Vec3<> shoulder = at["upper_arm" + side], fore = at["forearm" + side], hand = at["hand" + side];
    const Vec3<> outward{0, first == 0 ? 1. : -1., 0};
    out[1 + first] = at["thigh" + side], out[4 + first] = at["shank" + side];
    out[7 + first] = at["foot" + side], out[10 + first] = at["toes" + side];
    out[13 + first] = {shoulder.x, 0.3 * shoulder.y, shoulder.z}, out[16 + first] = shoulder;
    out[18 + first] = shoulder + norm(fore - shoulder) * outward;
    out[20 + first] = out[18 + first] + norm(hand - fore) * outward;
  }
  return out;
}

class AmassReader {
 public:
  AmassReader(std::string_view bytes, const std::string& file, const CaptureOptions& options)
      : report_(file), options_(options), file_(parse_npz(bytes)) {
    capture_.name = stem_of(file), capture_.file = file;
  }

  Loaded<Capture> read() {
    if (!file_.problem.empty()) {
      report_.error(0, kUnreadable, {}, file_.problem, "numpy.load() must be able to read it");
    } else {
      read_skeleton();
      read_rate();
      read_frames();
    }
    return loaded(std::move(capture_), report_.take());
  }

 private:
  const NpzArray* find(ArrayNames names) const {
    for (const char* name : names)
      if (const NpzArray* found = find_in(file_.arrays, name); found && !found->numbers.empty()) return found;
    return nullptr;
  }
  /// Why one of them is not there although the file has it.
  std::string why_not(ArrayNames names) const {
    for (const char* name : names)
      if (const auto found = file_.unread.find(name); found != file_.unread.end())
        return fmt::format("; '{}' is of the type {}, float32 and float64 are read", name,
                           found->second.empty() ? "of no array" : quote(found->second));
    return {};
  }

  Sex sex() const {
    const NpzArray* gender = find_in(file_.arrays, "gender");
    const bool stated = gender && !gender->texts.empty();
    // Some files contain the text of a Python bytes object, b'female'.
    return stated && gender->texts[0].find("female") != std::string::npos ? Sex::kFemale : Sex::kMale;
  }

  void read_skeleton() {
    Centres centres{};
    if (options_.skeleton.empty()) {
      centres = usual_centres(sex());
      report_.warn(0, kGuess, {}, "lengths of bones are those of a mean person: the file has none",
                   "--skeleton FILE.npz with an array J gives the joint centres of the body at rest");
    } else if (const std::optional<std::string> text = load_text(options_.skeleton, report_)) {
      const NpzFile given = parse_npz(*text);
      const auto j = given.arrays.find("J");
      if (j == given.arrays.end() || j->second.columns != 3 || j->second.rows < kSmplJoints)
        return report_.error(
            0, kNoSkeleton, {},
            fmt::format("{} has no array J of {} joint centres", options_.skeleton.string(), kSmplJoints),
            "it is the joints of the body model at rest, one row each [m]");
      const double* x = j->second.numbers.data();
      for (std::size_t i = 0; i < kSmplJoints; ++i) centres[i] = from_rest({x[3 * i], x[3 * i + 1], x[3 * i + 2]});
      begin_ = {x[0], x[1], x[2]};
    }
    for (std::size_t i = 0; i < kSmplJoints; ++i) {
      Bone bone{.name = kSmpl[i].name, .parent = kSmpl[i].parent, .moves = i == 0};
      if (i > 0) bone.offset = centres[i] - centres[std::size_t(kSmpl[i].parent)];
      if (!(norm(bone.offset) < kLongestBone))  // also what is no number
        report_.error(0, kNumber, bone.name, "a bone is longer than 3 m", "lengths are in metres");
      // Where nothing follows, a bone goes on as it came.
      if (i == 10 || i == 11 || i == 15 || i >= 20) bone.tip = 0.4 * bone.offset;
      capture_.bones.push_back(std::move(bone));
    }
  }

  void read_rate() {
    double rate = 0;
    if (const NpzArray* array = find(kRates)) rate = array->numbers[0];
    if (!(rate > 0 && rate < kLargestNumber)) {
      report_.warn(0, kGuess, {}, fmt::format("there is no frame rate; {} Hz is assumed", kUsualRate),
                   "--frame-rate HZ overrides");
      rate = kUsualRate;
    }
    capture_.frame_time = 1 / rate;
  }

  /// Rotation vectors of the joints of each frame, the root's first.
  struct Turns {
    const NpzArray *root = nullptr, *body = nullptr;
    std::size_t skip = 0;  ///< columns of `body` before those of the first joint but the root
    Vec3<> at(std::size_t frame, std::size_t joint) const {
      const double* x = joint == 0 ? root->numbers.data() + frame * root->columns
                                   : body->numbers.data() + frame * body->columns + skip + 3 * (joint - 1);
      return {x[0], x[1], x[2]};
    }
  };

  std::optional<Turns> find_turns() {
    if (const NpzArray* poses = find(kPoses)) {
      for (const std::size_t width : kWidths)
        if (poses->columns == width) return Turns{poses, poses, 3};
      return report_.refuse(0, kFrame, "poses",
                            fmt::format("{} numbers per frame; 66, 72, 156 or 165 are known", poses->columns),
                            "three for each joint of SMPL, SMPL+H or SMPL-X");
    }
    const NpzArray *root = find(kRoot), *body = find(kBody);
    const bool known = body && std::find(kBodyWidths.begin(), kBodyWidths.end(), body->columns) != kBodyWidths.end();
    if (root && known && root->columns == 3 && root->rows == body->rows) return Turns{root, body, 0};
    if (root && body)
      return report_.refuse(0, kFrame, "pose_body",
                            fmt::format("the root has {} × {} numbers, the body {} × {}", root->rows, root->columns,
                                        body->rows, body->columns),
                            "three for the root, and 63 or 69 for the body, in each frame");
    return report_.refuse(
        0, kFrame, {}, "there is neither 'poses' nor 'root_orient' with 'pose_body'" + why_not(kPoses) + why_not(kBody),
        "AMASS files have an array of rotations, poses");
  }

  void read_frames() {
    const std::optional<Turns> turns = find_turns();
    const NpzArray* trans = find(kTrans);
    if (!trans)
      report_.error(0, kFrame, "trans", "the position of the root is missing" + why_not(kTrans),
                    "AMASS files have an array trans");
    if (!turns || !trans || report_.failed()) return;
    const std::size_t frames = turns->root->rows;
    if (trans->columns != 3 || trans->rows != frames)
      return report_.error(
          0, kFrameCount, "trans",
          fmt::format("{} × {} numbers, {} frames have rotations", trans->rows, trans->columns, frames),
          "one row of three numbers for each frame");
    const Mat3<> world = world_axes(*turns, frames);
    capture_.poses.reserve(frames * kSmplJoints);
    for (std::size_t k = 0; k < frames; ++k) {
      const double* p = trans->numbers.data() + 3 * k;
      for (std::size_t i = 0; i < kSmplJoints; ++i) {
        const Vec3<> turn = turns->at(k, i);
        const Vec3<> place = i == 0 ? world * (Vec3<>{p[0], p[1], p[2]} + begin_) : capture_.bones[i].offset;
        // Also false for what is no number.
        if (!(norm(turn) < kLargestNumber && norm(place) < kLargestNumber))
          return report_.error(0, kNumber, kSmpl[i].name, fmt::format("frame {} has {}", k, kNoNumber),
                               "remove the frame");
        // A turn about axes at rest is the same turn about the world's; the root brings axes at rest into the world.
        const Mat3<> R = i == 0 ? world * exp_rotation(turn) * kToRest : exp_rotation(from_rest(turn));
        capture_.poses.push_back({to_quaternion(R), place});
      }
    }
  }

  /// World axes from those of the file: its trunk points upward on average. AMASS has z up, other makers of such files y up or down.
  Mat3<> world_axes(const Turns& turns, std::size_t frames) {
    Vec3<> trunk{};
    for (std::size_t k = 0; k < frames; ++k) trunk += exp_rotation(turns.at(k, 0)) * Vec3<>{0, 1, 0};
    const double mean[] = {trunk.x, trunk.y, trunk.z};
    std::size_t up = 2;
    for (const std::size_t i : {0u, 1u})
      if (std::abs(mean[i]) > std::abs(mean[up])) up = i;
    if (options_.up) up = std::size_t(*options_.up);
    const double sign = mean[up] < 0 ? -1 : 1;
    if (up == 2 && sign > 0) return Mat3<>::identity();
    if (!options_.up)
      report_.warn(0, kGuess, {}, fmt::format("{}{} is up: the trunk points there", sign < 0 ? "-" : "", "xyz"[up]),
                   "--up x, y or z overrides");
    constexpr Vec3<> kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const Vec3<> z = sign * kAxes[up], x = kAxes[(up + 1) % 3];
    return {x, cross(z, x), z};
  }

  Report report_;
  const CaptureOptions& options_;
  NpzFile file_;
  Capture capture_;
  Vec3<> begin_{};  ///< of the root at rest, file axes
};

}  // namespace

Loaded<Capture> parse_amass(std::string_view bytes, const std::string& file_name, const CaptureOptions& options) {
  return AmassReader(bytes, file_name, options).read();
}

Loaded<Capture> read_amass(const std::filesystem::path& file, const CaptureOptions& options) {
  return parse_file(file, kFileCodes,
                    [&](const std::string& bytes) { return parse_amass(bytes, file.string(), options); });
}

bool holds_amass(const std::filesystem::path& file) {
  const FileText read = read_file(file);
  // A directory of a ZIP file stands at its end, so that names of its members stand there once more.
  const std::string_view text = read.text;
  constexpr std::string_view kMembers[]{"poses.npy", "pose_body.npy", "body_pose.npy"};
  return !read.problem && text.starts_with("PK") &&
         std::any_of(std::begin(kMembers), std::end(kMembers),
                     [&](std::string_view name) { return text.rfind(name) != std::string_view::npos; });
}

}  // namespace kansetsu::io
