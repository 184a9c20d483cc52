#pragma once

#include <string>
#include <vector>

#include "kansetsu/ik/method.h"

/// The three methods of inverse kinematics compared on one frame of a model: poses from one start, and rotations whose target
/// is at gimbal lock.
namespace kansetsu::cli {

struct MethodRow {
  std::string model;
  ik::Method method;
  int targets = 0, solved = 0;
  double steps = 0, us = 0;  ///< medians over all targets [µs]
  int at_lock = 0, solved_at_lock = 0;
  double median_left = 0, most_left = 0;  ///< remaining angle to a target at gimbal lock [rad]
};

/// Targets are poses of random configurations; starts are in the middle of the limits. @param seed  of the configurations
std::vector<MethodRow> compare_methods(const std::string& name, const Model& model, const ik::FrameOn& frame,
                                       int targets, unsigned seed);

std::string methods_table(const std::vector<MethodRow>& rows);
std::string methods_json(const std::vector<MethodRow>& rows, unsigned seed);
std::string methods_plot(const std::vector<MethodRow>& rows);

}  // namespace kansetsu::cli
