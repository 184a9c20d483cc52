#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kansetsu/dynamics/dynamics.h"

namespace kansetsu::cli {

class Problems;

/// One state of a request, in the order of the model.
struct StateInput {
  explicit StateInput(const Model& model)
      : state(model), vdot(Eigen::VectorXd::Zero(model.nv())), tau(Eigen::VectorXd::Zero(model.nv())) {}

  State state;
  Eigen::VectorXd vdot, tau;
  std::vector<std::pair<LinkId, Force<>>> wrenches;
  std::map<std::string, double> control, activation;  ///< by actuator
  std::optional<Transform<>> base_pose;               ///< of a fixed base, if the state gives one
  std::string error;                                  ///< why the state cannot be used; empty if it can
};

/// Reads the states of a request. Unknown names and wrong shapes are problems of the request as a whole; numbers that contradict
/// the model or each other make the state an error.
class StateReader {
 public:
  explicit StateReader(const Model& model);
  StateInput read(const nlohmann::json& state, const std::string& path, Problems& problems) const;

 private:
  struct Given;  // the coordinates of one joint as written
  std::vector<Given> read_joints(const nlohmann::json& state, const char* section, const std::string& path,
                                 Problems& problems) const;
  void read_base(const nlohmann::json& base, const std::string& path, StateInput& input, Problems& problems) const;
  void read_wrenches(const nlohmann::json& fext, const std::string& path, StateInput& input, Problems& problems) const;

  void set_positions(const std::vector<Given>& given, StateInput& input) const;
  void set_rates(const std::vector<Given>& given, Eigen::VectorXd& rates, StateInput& input) const;
  void set_torques(const std::vector<Given>& given, StateInput& input) const;
  bool is_dependent(JointId joint, int index) const { return dependent_.contains({joint.value(), index}); }

  Model model_;
  std::set<std::pair<int, int>> dependent_;            ///< coordinates (joint, index) that a coupling determines
  std::vector<std::string> link_names_, joint_names_;  ///< joints that have coordinates
};

}  // namespace kansetsu::cli
