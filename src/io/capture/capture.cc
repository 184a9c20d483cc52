#include "kansetsu/io/capture.h"

#include <array>
#include <numbers>

#include "io/capture/capture_codes.h"
#include "io/capture/capture_reader.h"
#include "io/number.h"
#include "io/text.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;
using namespace capture;

bool ends_in(const fs::path& file, std::string_view ending) { return same_word(file.extension().string(), ending); }

/// The skeleton of NN_MM.amc in the same folder: NN.asf or NN_MM.asf.
fs::path skeleton_beside(const fs::path& amc) {
  const std::string stem = amc.stem().string();
  std::error_code ignored;
  for (const std::string& name : {stem.substr(0, stem.find('_')), stem}) {
    for (const char* ending : {".asf", ".ASF"}) {
      const fs::path candidate = amc.parent_path() / (name + ending);
      if (fs::exists(candidate, ignored)) return candidate;
    }
  }
  return {};
}

std::string vector_text(const Vec3<>& v) { return format_numbers(std::array{v.x, v.y, v.z}); }

/// Writes bones depth first, as BVH requires; captures only have parents first. Returns the order.
std::vector<int> write_hierarchy(const Capture& capture, std::string& out) {
  std::vector<std::vector<int>> below(capture.bones.size() + 1);  // by parent, the root's first
  for (std::size_t i = 0; i < capture.bones.size(); ++i)
    below[static_cast<std::size_t>(capture.bones[i].parent + 1)].push_back(static_cast<int>(i));
  std::vector<int> order, open, pending(below[0].rbegin(), below[0].rend());
  const auto close = [&] {
    open.pop_back();
    out += std::string(open.size(), '\t') + "}\n";
  };
  while (!pending.empty()) {
    const int i = pending.back();
    pending.pop_back();
    const Bone& bone = capture.bones[static_cast<std::size_t>(i)];
    while (!open.empty() && open.back() != bone.parent) close();
    const std::string in(open.size(), '\t');
    out += fmt::format("{0}{1} {2}\n{0}{{\n{0}\tOFFSET {3}\n", in, bone.parent < 0 ? "ROOT" : "JOINT", bone.name,
                       vector_text(bone.offset));
    const std::string_view o = to_string(bone.order);
    out += fmt::format("{}\tCHANNELS {}{}rotation {}rotation {}rotation\n", in,
                       bone.moves ? "6 Xposition Yposition Zposition " : "3 ", o[0], o[1], o[2]);
    if (bone.tip)
      out += fmt::format("{0}\tEnd Site\n{0}\t{{\n{0}\t\tOFFSET {1}\n{0}\t}}\n", in, vector_text(*bone.tip));
    open.push_back(i);
    order.push_back(i);
    const auto& next = below[static_cast<std::size_t>(i + 1)];
    pending.insert(pending.end(), next.rbegin(), next.rend());
  }
  while (!open.empty()) close();
  return order;
}

}  // namespace

bool names_capture(const fs::path& file) {
  return ends_in(file, ".bvh") || ends_in(file, ".amc") || (ends_in(file, ".npz") && holds_amass(file));
}

Loaded<Capture> read_capture(const fs::path& file, const CaptureOptions& options) {
  if (ends_in(file, ".bvh")) return read_bvh(file, options);
  if (ends_in(file, ".npz")) return read_amass(file, options);
  Report report(file.string());
  if (!ends_in(file, ".amc")) {
    report.error(0, kUnknownFormat, {}, "unknown file name extension for captured motion",
                 "known: .bvh, .amc, .npz (AMASS)");
    return {std::nullopt, report.take()};
  }
  const fs::path skeleton = options.skeleton.empty() ? skeleton_beside(file) : options.skeleton;
  std::error_code ignored;
  if (skeleton.empty() && fs::exists(file, ignored)) {
    report.error(0, kNoSkeleton, {}, "there is no .asf file in its folder",
                 "name the skeleton, e.g. --skeleton 02.asf");
    return {std::nullopt, report.take()};
  }
  if (skeleton.empty()) {
    load_text(file, report);
    return {std::nullopt, report.take()};
  }
  return read_asf_amc(skeleton, file, options);
}

std::string to_bvh(const Capture& capture) {
  std::string out = "HIERARCHY\n";
  const std::vector<int> order = write_hierarchy(capture, out);
  out += fmt::format("MOTION\nFrames: {}\nFrame Time: {}\n", capture.frames(), format_number(capture.frame_time));
  for (int f = 0; f < capture.frames(); ++f) {
    for (const int i : order) {
      const BonePose& pose = capture.pose(f, i);
      const Bone& bone = capture.bones[static_cast<std::size_t>(i)];
      if (bone.moves) out += vector_text(pose.p) + ' ';
      out += vector_text((180 / std::numbers::pi) * to_euler(bone.order, to_mat3(pose.turn)));
      out += i == order.back() ? '\n' : ' ';
    }
  }
  return out;
}

std::vector<Diagnostic> write_bvh(const Capture& capture, const fs::path& file) {
  return write_text(file, to_bvh(capture));
}

std::string to_centres_csv(const Capture& capture) {
  std::string out = "time";
  for (const Bone& bone : capture.bones)
    for (const char* axis : {".x", ".y", ".z"}) out += ',' + csv_field(bone.name + axis);
  out += '\n';
  std::vector<Transform<>> poses;
  for (int f = 0; f < capture.frames(); ++f) {
    bone_poses(capture, f, poses);
    out += format_number(f * capture.frame_time);
    for (const Transform<>& X : poses) out += fmt::format(",{},{},{}", X.p.x, X.p.y, X.p.z);
    out += '\n';
  }
  return out;
}

std::vector<Diagnostic> write_centres_csv(const Capture& capture, const fs::path& file) {
  return write_text(file, to_centres_csv(capture));
}

}  // namespace kansetsu::io
