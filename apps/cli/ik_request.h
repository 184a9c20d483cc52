#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kansetsu/ik/method.h"
#include "kansetsu/ik/solver.h"

namespace kansetsu::cli {

/// tangent, log-quaternion, euler.
std::vector<std::string> method_names();

/// A request of `kansetsu ik`, from a file or from options.
struct IkRequest {
  explicit IkRequest(const Model& model);

  Eigen::VectorXd start;
  ik::Problem problem;
  ik::Options options;
};

/// {"start": {"q": …, "base": …}, "tasks": [{"type": …, …}], "clearances": […], "options": {…}}; docs/guide/ik.md lists all
/// entries. Throws Failure with every problem.
IkRequest read_ik_request(const nlohmann::json& request, const Model& model, const std::string& name);

/// FRAME:x,y,z or FRAME:x,y,z,roll,pitch,yaw or FRAME:x,y,z,qx,qy,qz,qw. Throws Failure.
ik::AnyTask parse_target(const std::string& text, const Model& model);

}  // namespace kansetsu::cli
