#pragma once

#include "kansetsu/model/model.h"

/// Editing: each function returns a new model and leaves the old one as it is. All throw Error with the reasons if the
/// result is not a valid model.
namespace kansetsu {

/// The named joints become fixed at their values in q (size model.nq()). Couplings stay in effect: a joint that is left without freedom
/// because its driver (or its follower) is held becomes fixed too; where several joints drive a held one, one of them
/// follows the others. Actuators of fixed joints vanish. Throws if only some coordinates of a joint would be held.
Model lock_joints(const Model& model, const std::vector<std::string>& joints,
                  const Eigen::Ref<const Eigen::VectorXd>& q);
/// Hangs `tool` (its root link) on a link of the model by a fixed joint, called prefix + "attachment"; names of the tool get
/// the prefix. The tool's own base, base pose and gravity are ignored.
Model attach(const Model& model, const std::string& link, const Model& tool, const Pose& pose,
             const std::string& prefix);
/// All lengths times `length`, all masses times `mass` (inertias times mass·length²), at the same unit of time: torques, and
/// with them damping, springs, friction and effort limits, grow like mass·length², forces like mass·length. Gravity stays.
Model scale(const Model& model, double length, double mass);
/// The same with a scale for each link (size link_count()): what is on a link, from the joint that carries it outward, grows by its own.
/// Limits and springs of joints grow as those of the link that carries them.
Model scale_links(const Model& model, const std::vector<double>& lengths, double mass);
/// The link and everything it carries, as a model of its own, named after the link. Couplings with joints outside are
/// dropped, so that their coordinates are free again.
Model extract_subtree(const Model& model, const std::string& link, Base base);
Model with_gravity(const Model& model, const Vec3<>& gravity);
/// The same mechanism with other inertias: 10 numbers per link, in the order of inertial_parameters() in dynamics.h. Links that have inertia keep
/// some, and those that have none keep none.
Model with_inertial_parameters(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& parameters);
Model with_base(const Model& model, Base base, const Pose& pose = {});
/// Links joined by fixed joints become one link each, named after the topmost; the others stay as frames.
Model merge_fixed_links(const Model& model);

/// The same mechanism with every link's frame at the plug of its joint, as URDF has it. Links, shapes, frames and joints stay
/// where they are in the world; only frames of links move.
ModelDescription move_links_to_joints(ModelDescription description);

}  // namespace kansetsu
