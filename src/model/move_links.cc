#include <map>

#include "kansetsu/model/edit.h"

namespace kansetsu {

ModelDescription move_links_to_joints(ModelDescription model) {
  std::map<std::string, Transform<>> X_PL;  // of the old link frame in the plug, the new one
  for (JointDescription& joint : model.joints) {
    if (joint.plug == Pose{}) continue;
    X_PL.emplace(joint.child, inverse(to_transform(joint.plug)));
    joint.plug = {};
  }
  const auto move = [&](const std::string& link, Pose& pose) {
    if (const auto found = X_PL.find(link); found != X_PL.end()) pose = to_pose(found->second * to_transform(pose));
  };
  for (JointDescription& joint : model.joints) move(joint.parent, joint.socket);
  for (FrameDescription& frame : model.frames) move(frame.link, frame.origin);
  for (LinkDescription& link : model.links) {
    if (link.inertial) move(link.name, link.inertial->origin);
    for (LinkShape& shape : link.visuals) move(link.name, shape.origin);
    for (LinkShape& shape : link.collisions) move(link.name, shape.origin);
  }
  return model;
}

}  // namespace kansetsu
