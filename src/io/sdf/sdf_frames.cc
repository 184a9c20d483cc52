#include <fmt/format.h>

#include "io/sdf/sdf_reader.h"
#include "io/text.h"

/// Frames form a graph: each pose is relative to the frame that it names, or to the default of its element. "__model__" and, in a world,
/// "world" are predefined; "inner::name" refers to a nested model.
namespace kansetsu::io::sdf {
namespace {

/// The frame of an element's pose.
std::string base_of(const Model& model, const Frame& frame) {
  if (!frame.pose.relative_to.empty()) return frame.pose.relative_to;
  if (frame.kind == Frame::Kind::kJoint) return model.joints[std::size_t(frame.index)].child;
  return frame.kind == Frame::Kind::kFrame ? frame.attached_to : std::string();
}

bool is_own_frame(const Model& model, std::string_view name) {
  return name.empty() || name == "__model__" || (!model.parent && name == "world");
}

struct SplitName {
  std::string_view first, rest;
};
SplitName split_name(std::string_view name) {
  const std::size_t at = name.find("::");
  if (at == std::string_view::npos) return {name, {}};
  return {name.substr(0, at), name.substr(at + 2)};
}

Model* nested_model(Model& model, const Frame& frame) { return model.nested[std::size_t(frame.index)].get(); }

constexpr int kLongestChain = 2000;  // limit of recursion

bool resolve(Reader& reader, Model& model, Frame& frame) {
  if (frame.progress == Frame::Progress::kDone) return true;
  if (reader.chain > kLongestChain)
    return reader.report.fail(*frame.element, kTooLarge, fmt::format("more than {} nested frames", kLongestChain),
                              "give some of them in __model__");
  if (frame.progress == Frame::Progress::kBusy)
    return reader.report.fail(*frame.element, kCycle, "poses of frames form a cycle", "give one of them in __model__");
  frame.progress = Frame::Progress::kBusy;
  ++reader.chain;
  const auto base = find_frame(reader, model, base_of(model, frame), *frame.element);
  --reader.chain;
  if (!base) return false;
  frame.X_MF = *base * frame.pose.X;
  if (frame.kind == Frame::Kind::kModel) {
    Model& inner = *nested_model(model, frame);
    if (!inner.placement_frame.empty()) {
      const auto placed = find_frame(reader, inner, inner.placement_frame, *frame.element);
      if (!placed) return false;
      frame.X_MF = frame.X_MF * inverse(*placed);
    }
  }
  frame.progress = Frame::Progress::kDone;
  return true;
}

}  // namespace

std::optional<Transform<>> find_frame(Reader& reader, Model& model, std::string_view name, const Element& at) {
  if (is_own_frame(model, name)) return Transform<>{};
  const SplitName parts = split_name(name);
  const auto found = model.frames.find(parts.first);
  if (found == model.frames.end() || (!parts.rest.empty() && found->second.kind != Frame::Kind::kModel)) {
    unknown_name(reader, at, "frame", std::string(name));
    return std::nullopt;
  }
  if (!resolve(reader, model, found->second)) return std::nullopt;
  if (parts.rest.empty()) return found->second.X_MF;
  const auto inner = find_frame(reader, *nested_model(model, found->second), parts.rest, at);
  if (!inner) return std::nullopt;
  return found->second.X_MF * *inner;
}

void resolve_frames(Reader& reader, Model& model) {
  for (auto& [name, frame] : model.frames) resolve(reader, model, frame);
  for (auto& [name, frame] : model.frames) {
    if (frame.kind != Frame::Kind::kModel) continue;
    Model& inner = *nested_model(model, frame);
    inner.X_WM = model.X_WM * frame.X_MF;
    resolve_frames(reader, inner);
  }
}

std::optional<LinkRef> find_link(Reader& reader, Model& start, std::string_view name, const Element& at) {
  Model* model = &start;
  std::string rest(name);
  std::vector<Frame*> passed;  // all are attached to one link
  const auto found_on = [&](const LinkRef& link) {
    for (Frame* frame : passed) frame->on = link;
    return link;
  };
  for (int step = 0; step < 10000; ++step) {  // longer than any chain of attachments: detects cycles
    if (rest.empty() || rest == "__model__") {
      if (!model->canonical_link.empty()) {
        rest = model->canonical_link;
      } else if (!model->links.empty()) {
        return found_on({model, 0});
      } else if (!model->nested.empty()) {
        model = model->nested.front().get();
        continue;
      } else {
        break;
      }
    }
    const SplitName parts = split_name(rest);
    const auto found = model->frames.find(parts.first);
    if (found == model->frames.end()) break;
    Frame& frame = found->second;
    if (frame.kind == Frame::Kind::kModel) {
      model = nested_model(*model, frame);
      rest = std::string(parts.rest);
    } else if (!parts.rest.empty()) {
      break;
    } else if (frame.kind == Frame::Kind::kLink) {
      return found_on({model, frame.index});
    } else if (frame.on.model) {
      return found_on(frame.on);
    } else {
      passed.push_back(&frame);
      rest = frame.kind == Frame::Kind::kJoint ? model->joints[std::size_t(frame.index)].child : frame.attached_to;
    }
    if (step == 9999)
      return reader.report.refuse(at, kCycle, "attachments of frames form a cycle", "attach one of them to a link");
  }
  unknown_name(reader, at, "link", std::string(name));
  return std::nullopt;
}

}  // namespace kansetsu::io::sdf
