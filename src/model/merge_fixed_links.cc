#include <algorithm>

#include "kansetsu/model/edit.h"
#include "model/compile.h"

namespace kansetsu {
namespace {

/// Where a link goes: onto the topmost link of its rigid group.
struct Placement {
  std::size_t top = 0;
  Transform<> X_TL;
  bool moved = false;  ///< false for the top itself, whose data stay as written
};

std::vector<Placement> place_links(const Model& model) {
  std::vector<Placement> out(std::size_t(model.link_count()));
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const std::size_t child = std::size_t(model.child_link(JointId(j)).value());
    if (joint.type != JointType::kFixed) {
      out[child] = {child, {}, false};
      continue;
    }
    const Placement& parent = out[std::size_t(model.parent_link(JointId(j)).value())];
    out[child] = {parent.top, parent.X_TL * to_transform(joint.socket) * inverse(to_transform(joint.plug)), true};
  }
  return out;
}

Pose carry(const Placement& place, const Pose& pose) {
  return place.moved ? to_pose(place.X_TL * to_transform(pose)) : pose;
}

/// The inertias of two bodies that are one, about the common centre of mass and in the axes of the link.
Inertial combine(const Inertial& a, const Inertial& b) {
  const Inertia<> M = link_inertia({.inertial = a}) + link_inertia({.inertial = b});
  if (M.m == 0) return {0, {}, M.I};
  const Vec3<> com = (1 / M.m) * M.h;
  return {M.m, {.p = com}, M.I - M.m * parallel_axis(com, com)};
}

void merge_into(LinkDescription& top, const LinkDescription& link, const Placement& place) {
  if (link.inertial) {
    Inertial moved = *link.inertial;
    moved.origin = carry(place, moved.origin);
    top.inertial = top.inertial ? combine(*top.inertial, moved) : moved;
  }
  const auto append = [&](std::vector<LinkShape>& to, const std::vector<LinkShape>& from) {
    for (LinkShape shape : from) {
      shape.origin = carry(place, shape.origin);
      to.push_back(std::move(shape));
    }
  };
  append(top.visuals, link.visuals);
  append(top.collisions, link.collisions);
}

}  // namespace

Model merge_fixed_links(const Model& model) {
  const std::vector<Placement> places = place_links(model);
  const ModelDescription& old = model.description();
  const auto place_of = [&](const std::string& link) -> const Placement& {
    return places[std::size_t(model.link_id(link).value())];
  };
  const auto top_name = [&](const std::string& link) { return old.links[place_of(link).top].name; };

  ModelDescription d = old;
  d.links.clear();
  std::vector<std::size_t> new_index(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {  // parents come first, so the top is there already
    if (places[i].moved) {
      merge_into(d.links[new_index[places[i].top]], old.links[i], places[i]);
      d.frames.push_back({old.links[i].name, old.links[i].name, {}});
    } else {
      new_index[i] = d.links.size();
      d.links.push_back(old.links[i]);
    }
  }
  std::erase_if(d.joints, [](const JointDescription& joint) { return joint.type == JointType::kFixed; });
  for (JointDescription& joint : d.joints) {
    joint.socket = carry(place_of(joint.parent), joint.socket);
    joint.parent = top_name(joint.parent);
  }
  for (FrameDescription& frame : d.frames) {
    frame.origin = carry(place_of(frame.link), frame.origin);
    frame.link = top_name(frame.link);
  }
  d.collision_filters.clear();
  for (const CollisionFilter& pair : old.collision_filters) {
    const CollisionFilter merged{top_name(pair.a), top_name(pair.b)};
    const bool known = std::ranges::find(d.collision_filters, merged) != d.collision_filters.end();
    if (merged.a != merged.b && !known) d.collision_filters.push_back(merged);
  }
  return value_or_throw(Model::build(std::move(d)));
}

}  // namespace kansetsu
