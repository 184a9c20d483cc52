#include "io/capture/asf_reader.h"

#include <algorithm>
#include <map>

#include "base/lookup.h"
#include "io/capture/capture_codes.h"
#include "io/text.h"

/// ASF: a skeleton in sections that begin with a colon. Bones have a direction and a length at rest; a joint is where its
/// parent ends.
namespace kansetsu::io::capture {
namespace {

/// rx, TY, l …: 0 1 2 slides, 3 4 5 turns, 6 length.
std::optional<int> find_dof(std::string_view word) {
  static constexpr std::string_view kNames[] = {"tx", "ty", "tz", "rx", "ry", "rz", "l"};
  for (int i = 0; i < 7; ++i)
    if (same_word(word, kNames[i])) return i;
  return std::nullopt;
}

/// "XYZ" in an ASF file: first about x, then about the fixed y, then z: R = Rz·Ry·Rx.
std::optional<Mat3<>> axes_of(const Vec3<>& angles, std::string_view letters) {
  const std::string backwards(letters.rbegin(), letters.rend());
  const std::optional<EulerOrder> order = find_euler_order(backwards);
  if (!order || backwards[0] == backwards[2]) return std::nullopt;  // each axis once
  const double angle[3] = {angles.x, angles.y, angles.z};
  const std::string_view o = to_string(*order);
  return from_euler(*order, {angle[o[0] - 'X'], angle[o[1] - 'X'], angle[o[2] - 'X']});
}

class AsfReader {
 public:
  AsfReader(std::string_view text, Report& report) : text_(text), report_(report) {
    asf_.bones.push_back({.name = "root", .moves = true});
    asf_.extra.push_back({});
    index_["root"] = 0;
  }

  Asf read() {
    while (next())
      if (word_.starts_with(':'))
        section_ = word_;
      else if (same_word(section_, ":units"))
        units();
      else if (same_word(section_, ":root"))
        root();
      else if (same_word(section_, ":bonedata"))
        bone_data();
      else if (same_word(section_, ":hierarchy"))
        hierarchy();
      else if (section_.empty())
        return foreign();
    finish();
    return std::move(asf_);
  }

 private:
  /// The next line that says something: its first word, and the rest of it.
  bool next() {
    while (!text_.empty()) {
      std::string_view line = trim(next_line(text_));
      ++line_;
      if (line.empty() || line.starts_with('#')) continue;
      Words words(line);
      word_ = words.next();
      rest_ = trim(line.substr(word_.size()));
      return true;
    }
    return false;
  }

  Asf foreign() {
    report_.error(line_, kForeign, {}, fmt::format("{} comes before any section", quote(word_)), "is it an ASF file?");
    return std::move(asf_);
  }

  std::string path() const { return open_ ? "bone " + name_ : std::string(section_); }

  std::optional<double> number() {
    const auto value = read_number(rest_);
    if (!value)
      report_.error(line_, kNumber, path(), fmt::format("{} is {}, not a finite number", word_, quote(rest_)),
                    "write one number");
    return value;
  }
  std::optional<Vec3<>> vector(Words& words) {
    Report inner(report_.file());
    const auto value = read_vector(words, inner, path());
    for (Diagnostic& d : inner.take())
      report_.error(line_, kNumber, d.path, fmt::format("{}: {}", word_, d.message), d.hint);
    return value;
  }

  void units() {
    if (same_word(word_, "length")) {
      if (const auto value = number(); value && *value > 0)
        asf_.length = *value;
      else if (value)
        report_.error(line_, kNumber, ":units", fmt::format("length is {}", *value), "it must be positive");
    } else if (same_word(word_, "angle")) {
      if (same_word(rest_, "rad"))
        asf_.degree = 1;
      else if (!same_word(rest_, "deg"))
        report_.error(line_, kSyntax, ":units", fmt::format("angle is {}", quote(rest_)), "known: deg, rad");
    }
  }

  void root() {
    Words words(rest_);
    if (same_word(word_, "order")) {
      asf_.extra[0].dofs = dofs(words);
    } else if (same_word(word_, "axis")) {
      root_letters_ = words.next();
    } else if (same_word(word_, "position")) {
      if (const auto p = vector(words)) asf_.bones[0].offset = *p;
    } else if (same_word(word_, "orientation")) {
      if (const auto angles = vector(words)) root_angles_ = asf_.degree * *angles;
    }
  }

  std::vector<int> dofs(Words& words) {
    std::vector<int> out;
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      const auto dof = find_dof(word);
      if (!dof || std::ranges::find(out, *dof) != out.end()) {
        report_.error(line_, kChannels, path(), fmt::format("{} is {}", quote(word), dof ? "named twice" : "not known"),
                      "known: tx ty tz rx ry rz l");
        return {};
      }
      if (*dof == 6)
        report_.warn(line_, kIgnored, path(), "the bone changes its length; its initial length is kept", "");
      out.push_back(*dof);
    }
    return out;
  }

  void bone_data() {
    Words words(rest_);
    if (same_word(word_, "begin")) {
      open_ = true;
      name_.clear(), direction_ = {}, length_ = 0, extra_ = {};
    } else if (same_word(word_, "end")) {
      close_bone();
    } else if (same_word(word_, "name")) {
      name_ = rest_;
    } else if (same_word(word_, "direction")) {
      if (const auto d = vector(words)) direction_ = *d;
    } else if (same_word(word_, "length")) {
      if (const auto l = number()) length_ = *l;
    } else if (same_word(word_, "axis")) {
      if (const auto angles = vector(words)) read_axes(*angles, words.next());
    } else if (same_word(word_, "dof")) {
      extra_.dofs = dofs(words);
    }
  }

  void read_axes(const Vec3<>& angles, std::string_view letters) {
    if (const auto axes = axes_of(asf_.degree * angles, letters)) {
      extra_.axes = *axes;
    } else {
      report_.error(line_, kSyntax, path(), fmt::format("axis order {} is not known", quote(letters)), "e.g. XYZ");
    }
  }

  void close_bone() {
    open_ = false;
    if (name_.empty() || !is_clean(name_) || name_.find_first_of("{}") != std::string::npos)
      return report_.error(line_, kName, ":bonedata", fmt::format("a bone has the name {}", quote(name_)),
                           "write 'name' and letters between begin and end");
    if (!index_.emplace(name_, static_cast<int>(asf_.bones.size())).second)
      return report_.error(line_, kName, "bone " + name_, "there are two bones of this name",
                           "names must be unique; rename one");
    if (asf_.bones.size() >= kMostBones)
      return report_.error(line_, kTooMany, {}, "too many bones", "is this the right file?");
    // Directions are written with few digits and meant to be of unit length.
    const double size = norm(direction_);
    extra_.reach = (size > 0 ? length_ / size : 0) * direction_;
    asf_.bones.push_back({.name = name_, .parent = kNobody});
    asf_.extra.push_back(extra_);
  }

  void hierarchy() {
    if (same_word(word_, "begin") || same_word(word_, "end")) return;
    const auto parent = find(word_);
    Words words(rest_);
    for (auto word = words.next(); !word.empty(); word = words.next()) {
      const auto child = find(word);
      if (!parent || !child) continue;
      Bone& bone = asf_.bones[static_cast<std::size_t>(*child)];
      if (*child == 0 || bone.parent != kNobody) {
        report_.error(line_, kTree, "bone " + bone.name, "it has two parents", "every bone has one parent");
      } else {
        bone.parent = *parent;
      }
    }
  }

  std::optional<int> find(std::string_view name) {
    if (const int* found = find_in(index_, name)) return *found;
    return report_.refuse(line_, kUnknownBone, ":hierarchy", fmt::format("there is no bone {}", quote(name)),
                          "it is not in :bonedata");
  }

  /// Parents first, in the order of the hierarchy; joints where parents end.
  void finish() {
    if (asf_.bones.size() == 1)
      report_.error(line_, kForeign, {}, "there are no bones", "an ASF file has :bonedata and :hierarchy");
    if (const auto axes = axes_of({}, root_letters_); !axes)
      report_.error(0, kSyntax, ":root", fmt::format("axis {} is not known", quote(root_letters_)), "e.g. XYZ");
    else
      asf_.extra[0].axes = axes_of(root_angles_, root_letters_).value();
    if (report_.failed()) return;
    std::vector<std::vector<int>> children(asf_.bones.size());
    for (std::size_t i = 1; i < asf_.bones.size(); ++i) {
      if (asf_.bones[i].parent == kNobody)
        report_.error(0, kTree, "bone " + asf_.bones[i].name, "it has no parent", "name it in :hierarchy");
      else
        children[static_cast<std::size_t>(asf_.bones[i].parent)].push_back(static_cast<int>(i));
    }
    Asf sorted{.length = asf_.length, .degree = asf_.degree};
    std::vector<std::pair<int, int>> open{{0, -1}};  // bone, new place of its parent
    while (!open.empty()) {
      const auto [old, parent] = open.back();
      open.pop_back();
      const auto i = static_cast<std::size_t>(old);
      Bone bone = asf_.bones[i];
      bone.parent = parent;
      if (parent >= 0) bone.offset = parent == 0 ? Vec3<>{} : sorted.extra[static_cast<std::size_t>(parent)].reach;
      if (children[i].empty()) bone.tip = asf_.extra[i].reach;
      sorted.bones.push_back(std::move(bone));
      sorted.extra.push_back(asf_.extra[i]);
      const int place = static_cast<int>(sorted.bones.size()) - 1;
      for (auto child = children[i].rbegin(); child != children[i].rend(); ++child) open.emplace_back(*child, place);
    }
    if (sorted.bones.size() != asf_.bones.size() && !report_.failed())
      report_.error(0, kTree, ":hierarchy", "some bones are not connected to the root", "look for a circle");
    asf_ = std::move(sorted);
  }

  static constexpr int kNobody = -2;

  std::string_view text_;
  Report& report_;
  Asf asf_;
  std::map<std::string, int, std::less<>> index_;
  int line_ = 0;
  std::string_view word_, rest_, section_;
  // The bone between begin and end.
  bool open_ = false;
  std::string name_;
  Vec3<> direction_{};
  double length_ = 0;
  AsfBone extra_{};
  std::string root_letters_ = "XYZ";
  Vec3<> root_angles_{};
};

}  // namespace

Asf read_asf(std::string_view text, Report& report) { return AsfReader(text, report).read(); }

}  // namespace kansetsu::io::capture
