#include "cli/capture.h"

#include <fmt/format.h>

#include "cli/json_writer.h"
#include "cli/table.h"
#include "kansetsu/motion/clip.h"

namespace kansetsu::cli {
namespace {

std::vector<Landmark> known_landmarks(const Capture& capture, const LandmarkTable& table) {
  std::vector<Landmark> out;
  for (int l = 0; l < kLandmarkCount; ++l)
    if (find_bone_point(capture, table, Landmark(l))) out.push_back(Landmark(l));
  return out;
}

const char* up_of(const Capture& capture) {
  const Vec3<>& z = capture.axes.z;  // the world's z in file axes
  return z.x != 0 ? "x" : z.y != 0 ? "y" : "z";
}

}  // namespace

void add_clip_options(Arguments& args, ClipSource& source) {
  args.add("--unit M", source.unit, "length of the clip's unit [m]; default: estimated from the leg length").positive();
  args.add("--frame-rate HZ", source.rate, "frame rate of the clip [Hz]; default: that of the file").positive();
  static const std::map<std::string, UpAxis> kAxes{{"x", UpAxis::kX}, {"y", UpAxis::kY}, {"z", UpAxis::kZ}};
  args.add_word(
          "--up", [&source](const std::string& axis) { source.up = kAxes.at(axis); },
          "vertical axis of the clip; default: that of the skeleton at rest")
      .one_of({"x", "y", "z"});
  args.add("--skeleton FILE", source.skeleton,
           "the .asf file of an .amc, default: the one in the same folder; an .npz with joint centres J for AMASS, "
           "default: "
           "those of a mean person");
}

void add_retarget_options(Arguments& args, ClipSource& source) {
  args.add("--landmarks FILE", source.table, "table of bones and links (TOML); default: a built-in table");
  args.add("--scale X", source.scale, "size of the figure relative to the skeleton; default: ratio of leg lengths")
      .positive();
  args.add("--belt X,Y", source.belt,
           "velocity of the treadmill belt along the clip's x and y [m/s], e.g. -1.2,0; default: estimated from the "
           "feet")
      .delimiter(',');
  args.add_flag("--keep-feet", source.keep_feet, "do not pin the feet to the floor");
}

Loaded<Capture> load_capture(const ClipSource& source) {
  return io::read_capture(source.file, {.unit = source.unit, .up = source.up, .skeleton = source.skeleton});
}

Capture capture_or_fail(const ClipSource& source) {
  Capture capture = value_or_fail(load_capture(source));
  if (source.rate) capture.frame_time = 1 / *source.rate;
  return capture;
}

std::optional<Vec3<>> belt_of(const ClipSource& source) {
  if (source.belt.empty()) return std::nullopt;
  if (source.belt.size() != 2) throw Failure(kBadUsage, "--belt needs two numbers, e.g. -1.2,0");
  return Vec3<>{source.belt[0], source.belt[1], 0};
}

Retargeted retarget_or_fail(const Model& model, const Capture& capture, const ClipSource& source) {
  RetargetOptions options{
      .scale = source.scale, .pin_feet = !source.keep_feet, .limits = source.limits, .belt = belt_of(source)};
  if (!source.table.empty()) options.table = value_or_fail(io::read_landmarks(source.table));
  return value_or_fail(retarget(model, capture, options));
}

io::Recording to_recording(const Model& model, const Clip& clip, const std::string& program) {
  io::Recording out;
  out.header.figures.push_back({model.name().empty() ? "figure" : model.name(), model});
  out.header.environment.push_back({.name = "floor", .shape = Plane{}});
  out.header.notes = {{"title", clip.name}};
  if (!program.empty()) out.header.notes["program"] = program;
  const bool moves = clip.frames() >= 3;
  const Eigen::MatrixXd v = moves ? derivatives(model, clip).v : Eigen::MatrixXd::Zero(model.nv(), clip.frames());
  for (int k = 0; k < clip.frames(); ++k) {
    io::RecordedFrame frame{.time = clip.times[std::size_t(k)] - clip.times.front()};
    State state;
    state.q = clip.q.col(k), state.v = v.col(k);
    frame.states.push_back(std::move(state));
    out.frames.push_back(std::move(frame));
  }
  return out;
}

io::Recording to_recording(const Model& model, const Retargeted& motion) {
  io::Recording out = to_recording(model, motion.clip);
  for (const FootContacts& foot : motion.feet)
    for (const char* end : {"heel", "toe"})
      out.header.numbers.push_back({fmt::format("{} {} down", foot.name, end), ""});
  for (int k = 0; k < motion.clip.frames(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    io::RecordedFrame& frame = out.frames[i];
    for (const FootContacts& foot : motion.feet) {
      frame.numbers.push_back(foot.heel_down[i]);
      frame.numbers.push_back(foot.toe_down[i]);
      if (k > 0 && foot.down(k) != foot.down(k - 1))
        frame.events.push_back(fmt::format("{} foot {}", foot.name, foot.down(k) ? "lands" : "lifts"));
    }
  }
  return out;
}

std::string capture_text(const Capture& capture) {
  const LandmarkTable table = best_table(capture);
  std::string text = fmt::format("clip {}\n  {} frames, {:g} s at {:g} Hz, {} bones, unit {:.6g} m, {} up\n",
                                 capture.name, capture.frames(), capture.duration(), 1 / capture.frame_time,
                                 capture.bones.size(), capture.unit, up_of(capture));
  text += fmt::format("  {} of {} landmarks by table {}{}\n\n", known_landmarks(capture, table).size(), kLandmarkCount,
                      table.name, begins_at_rest(capture) ? "; begins with a rest pose" : "");
  std::vector<std::vector<std::string>> rows{{"bone", "parent", "length [m]", "angles", "landmark"}};
  for (std::size_t i = 0; i < capture.bones.size(); ++i) {
    const Bone& bone = capture.bones[i];
    std::string landmark;
    for (const Landmark l : known_landmarks(capture, table))
      if (find_bone_point(capture, table, l)->bone == static_cast<int>(i))
        landmark += (landmark.empty() ? "" : " ") + std::string(to_string(l));
    rows.push_back({bone.name, bone.parent < 0 ? "" : capture.bones[static_cast<std::size_t>(bone.parent)].name,
                    fmt::format("{:.4f}", capture.unit * norm(bone.offset)),
                    std::string(to_string(bone.order)) + (bone.moves ? " and position" : ""), landmark});
  }
  return text + cli::table(rows);
}

std::string capture_json(const Capture& capture) {
  const LandmarkTable table = best_table(capture);
  JsonWriter json;
  json.begin_object().entry("name", capture.name).entry("file", capture.file).entry("frames", capture.frames());
  json.entry("frame_time", capture.frame_time).entry("duration", capture.duration()).entry("unit", capture.unit);
  json.entry("up", up_of(capture)).entry("begins_at_rest", begins_at_rest(capture)).entry("table", table.name);
  json.key("landmarks").begin_object();
  for (const Landmark l : known_landmarks(capture, table))
    json.entry(to_string(l), capture.bones[static_cast<std::size_t>(find_bone_point(capture, table, l)->bone)].name);
  json.end_object().key("bones").begin_array();
  for (const Bone& bone : capture.bones) {
    json.line().begin_object().entry("name", bone.name).entry("parent", bone.parent).entry("offset", bone.offset);
    json.entry("order", to_string(bone.order)).entry("moves", bone.moves).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string retarget_text(const Retargeted& motion) {
  std::string text = fmt::format(
      "{}: {} frames, {:.2f} s, table {}, scale {:.4f}, floor at {:.3f} m tilted by {:.2f}°, skate {:.2g} mm\n",
      motion.clip.name, motion.clip.frames(), motion.clip.duration(), motion.table, motion.scale, motion.floor,
      57.29577951308232 * motion.floor_tilt, 1e3 * motion.skate);
  std::vector<std::vector<std::string>> rows{
      {"landmark", "bone", "link", "rms [mm]", "largest [mm]", "at frame", "proportions [mm]"}};
  for (const JointResidual& r : motion.residuals)
    rows.push_back({std::string(to_string(r.landmark)), r.bone, r.link, fmt::format("{:.1f}", 1e3 * r.rms),
                    fmt::format("{:.1f}", 1e3 * r.largest), std::to_string(r.worst_frame),
                    fmt::format("{:.1f}", 1e3 * r.from_capture)});
  text += table(rows);
  if (norm(motion.belt) > 0) text += fmt::format("  on a belt of {:.3f} m/s\n", norm(motion.belt));
  for (const FootContacts& foot : motion.feet) {
    int steps = 0, down = 0;
    for (int k = 0; k < motion.clip.frames(); ++k) {
      down += foot.down(k);
      steps += foot.down(k) && (k == 0 || !foot.down(k - 1));
    }
    text += fmt::format("  {} foot: down in {} frames, {} times\n", foot.name, down, steps);
  }
  return text;
}

}  // namespace kansetsu::cli
