#pragma once

#include <filesystem>
#include <string>

#include "kansetsu/io/osim.h"
#include "kansetsu/model/model.h"

/// What holds for text of any origin that is taken for a model of OpenSim, or for one of its setup files.
namespace kansetsu::io::test {

inline std::string violation_of(const Loaded<OsimModel>& read) {
  if (bool(read) == has_errors(read.diagnostics)) return "a value with errors, or none without";
  if (!read) return "";
  const Loaded<Model> model = Model::build(read.value->model);
  if (!model) return "accepted, but cannot be built: " + to_string(model.diagnostics);
  return MappedModel(*model.value, read.value->map).size() >= 0 ? "" : "fewer coordinates than none";
}

/// Of a file with the text.
inline std::string setup_violation(const std::filesystem::path& file) {
  const Loaded<ExternalLoads> loads = read_external_loads(file);
  if (bool(loads) == has_errors(loads.diagnostics)) return "loads with errors, or none without";
  const Loaded<InverseDynamicsSetup> setup = read_inverse_dynamics_setup(file);
  if (bool(setup) == has_errors(setup.diagnostics)) return "a setup with errors, or none without";
  return "";
}

}  // namespace kansetsu::io::test
