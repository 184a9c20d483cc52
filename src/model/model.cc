#include "kansetsu/model/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kansetsu/base/error.h"
#include "kansetsu/base/owner.h"
#include "kansetsu/model/configuration.h"
#include "model/compile.h"
#include "model/massless.h"

namespace kansetsu {

/// Names to indices, with an error that lists what there is.
class NameMap {
 public:
  template <class Range>
  NameMap(const char* kind, const Range& items) : kind_(kind) {
    for (int i = 0; const auto& item : items) index_.emplace(item.name, i++);
  }
  std::optional<int> find(std::string_view name) const {
    const auto it = index_.find(std::string(name));
    if (it == index_.end()) return std::nullopt;
    return it->second;
  }
  int at(std::string_view name) const {
    if (const auto i = find(name)) return *i;
    std::vector<std::string> names;
    for (const auto& [key, value] : index_) names.push_back(key);
    std::ranges::sort(names);
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    throw Error("unknown " + std::string(kind_) + " '" + std::string(name) + "'; known: " + known);
  }

 private:
  const char* kind_;
  std::unordered_map<std::string, int> index_;
};

struct Model::Data {
  explicit Data(ModelDescription ordered)
      : description(std::move(ordered)),
        coordinates(assign_coordinates(description)),
        tree(compile_tree(description, coordinates)),
        links("link", description.links),
        joints("joint", description.joints),
        frames("frame", description.frames) {
    set_dofs();
    set_limits();
    for (const FrameDescription& f : description.frames) frame_links.push_back(*links.find(f.link));
    for (const JointDescription& j : description.joints) parents.push_back(*links.find(j.parent));
    for (const LinkPlacement& l : tree.links) mass += l.M_L.m;
    set_filters();
    set_massless();
  }

  void set_dofs() {
    for (JointDescription& j : description.joints) j.dofs.resize(size_t(info(j.type).nv));
  }

  /// Limits of the state: those of the independent coordinates, narrowed by what their gears allow.
  void set_limits() {
    lower = Eigen::VectorXd::Constant(coordinates.nq, -kInfinity);
    upper = Eigen::VectorXd::Constant(coordinates.nq, kInfinity);
    velocity = Eigen::VectorXd::Constant(coordinates.nv, kInfinity);
    effort = Eigen::VectorXd::Constant(coordinates.nv, kInfinity);
    for (size_t j = 0; j < description.joints.size(); ++j) {
      for (size_t k = 0; k < coordinates.rows[j].size(); ++k) {
        const Row& row = coordinates.rows[j][k];
        const DofDescription& dof = description.joints[j].dofs[k];
        if (row.terms.size() != 1 || row.terms[0].second == 0) continue;
        const auto [column, ratio] = row.terms[0];
        velocity[column] = std::min(velocity[column], dof.velocity / std::abs(ratio));
        const bool independent =
            int(column) >= coordinates.joints[j].v && column < coordinates.joints[j].v + coordinates.joints[j].nv;
        if (independent) effort[column] = dof.effort;
        const int q = coordinates.position_of_column[size_t(column)];
        if (q < 0) continue;
        const double a = (dof.lower - row.offset) / ratio, b = (dof.upper - row.offset) / ratio;
        lower[q] = std::max(lower[q], std::min(a, b));
        upper[q] = std::min(upper[q], std::max(a, b));
      }
    }
  }

  void set_filters() {
    const auto add = [&](int a, int b) { filtered.insert(std::minmax(body_of(a), body_of(b))); };
    for (const CollisionFilter& f : description.collision_filters) add(*links.find(f.a), *links.find(f.b));
    for (size_t j = 0; j < description.joints.size(); ++j) add(parents[j], int(j) + 1);
  }
  int body_of(int link) const { return tree.links[size_t(link)].body; }

  void set_massless() {
    for (int column : massless_columns(tree)) {
      for (size_t j = 0; j < coordinates.joints.size(); ++j) {
        const CoordinateRange& r = coordinates.joints[j];
        const JointId id(static_cast<int>(j));
        if (column >= r.v && column < r.v + r.nv && (massless.empty() || massless.back() != id)) massless.push_back(id);
      }
    }
  }

  ModelDescription description;
  Coordinates coordinates;
  Tree tree;
  NameMap links, joints, frames;
  std::vector<int> parents;  ///< link that carries joint j
  std::vector<int> frame_links;
  double mass = 0;
  Eigen::VectorXd lower, upper, velocity, effort;
  std::set<std::pair<int, int>> filtered;  ///< bodies of the tree
  std::vector<JointId> massless;
};

Loaded<Model> Model::build(ModelDescription description) {
  Loaded<Model> out;
  out.diagnostics = validate(description);
  if (has_errors(out.diagnostics)) return out;
  order_depth_first(description);
  out.value = Model(std::make_shared<const Data>(std::move(description)));
  return out;
}

Model::Model(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

const std::string& Model::name() const { return held(data_).description.name; }
int Model::nq() const { return held(data_).coordinates.nq; }
int Model::nv() const { return held(data_).coordinates.nv; }
Base Model::base() const { return held(data_).description.base; }
const Vec3<>& Model::gravity() const { return held(data_).description.gravity; }
double Model::mass() const { return held(data_).mass; }

int Model::link_count() const { return int(held(data_).description.links.size()); }
int Model::joint_count() const { return int(held(data_).description.joints.size()); }
int Model::frame_count() const { return int(held(data_).description.frames.size()); }
const LinkDescription& Model::link(LinkId id) const { return held(data_).description.links.at(size_t(id.value())); }
const JointDescription& Model::joint(JointId id) const { return held(data_).description.joints.at(size_t(id.value())); }
const FrameDescription& Model::frame(FrameId id) const { return held(data_).description.frames.at(size_t(id.value())); }
LinkId Model::frame_link(FrameId id) const { return LinkId(held(data_).frame_links.at(size_t(id.value()))); }
std::optional<LinkId> Model::parent(LinkId id) const {
  if (id.value() == 0) return std::nullopt;
  return parent_link(JointId(id.value() - 1));
}
LinkId Model::parent_link(JointId id) const { return LinkId(held(data_).parents.at(size_t(id.value()))); }
LinkId Model::child_link(JointId id) const { return LinkId(id.value() + 1); }

namespace {
template <class Id>
std::optional<Id> to_id(std::optional<int> i) {
  return i ? std::optional<Id>(Id(*i)) : std::nullopt;
}
}  // namespace

std::optional<LinkId> Model::find_link(std::string_view name) const {
  return to_id<LinkId>(held(data_).links.find(name));
}
std::optional<JointId> Model::find_joint(std::string_view name) const {
  return to_id<JointId>(held(data_).joints.find(name));
}
std::optional<FrameId> Model::find_frame(std::string_view name) const {
  return to_id<FrameId>(held(data_).frames.find(name));
}
LinkId Model::link_id(std::string_view name) const { return LinkId(held(data_).links.at(name)); }
JointId Model::joint_id(std::string_view name) const { return JointId(held(data_).joints.at(name)); }
FrameId Model::frame_id(std::string_view name) const { return FrameId(held(data_).frames.at(name)); }

CoordinateRange Model::coordinates(JointId id) const { return held(data_).coordinates.joints.at(size_t(id.value())); }
CoordinateRange Model::base_coordinates() const { return held(data_).coordinates.base; }
const std::vector<std::string>& Model::dof_names() const { return held(data_).coordinates.dof_names; }
const Model::Row& Model::row(JointId id, int index) const {
  return held(data_).coordinates.rows.at(size_t(id.value())).at(size_t(index));
}
const Eigen::VectorXd& Model::lower_position() const { return held(data_).lower; }
const Eigen::VectorXd& Model::upper_position() const { return held(data_).upper; }
const Eigen::VectorXd& Model::velocity_limit() const { return held(data_).velocity; }
const Eigen::VectorXd& Model::effort_limit() const { return held(data_).effort; }
const DofDescription& Model::dof(JointId id, int index) const { return joint(id).dofs.at(size_t(index)); }

Eigen::MatrixXd Model::actuation() const {
  const auto& actuators = held(data_).description.actuators;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(nv(), int(actuators.size()));
  for (int a = 0; const Actuator& actuator : actuators) {
    const Row& r = row(joint_id(actuator.dof.joint), actuator.dof.index);
    for (const auto& [column, ratio] : r.terms) out(column, a) += actuator.gear * ratio;
    ++a;
  }
  return out;
}

bool Model::may_collide(LinkId a, LinkId b) const {
  const int x = held(data_).body_of(a.value()), y = held(data_).body_of(b.value());
  return x != y && !held(data_).filtered.contains(std::minmax(x, y));
}

const std::vector<JointId>& Model::massless_joints() const { return held(data_).massless; }
const ModelDescription& Model::description() const& { return held(data_).description; }
ModelDescription Model::description() && { return held(data_).description; }
const Tree& Model::tree() const { return held(data_).tree; }

State::State(const Model& model) : q(neutral(model)), v(Eigen::VectorXd::Zero(model.nv())) {}

}  // namespace kansetsu
