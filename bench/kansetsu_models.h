#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/model.h"
#include "plugin.h"

namespace kansetsu::bench {

/// A model of the benchmark by name: a built-in figure, or a file of $KANSETSU_DATA_DIR/robots/urdf. Links joined by fixed
/// joints are merged, so that no library has more to do than another, and every joint with its own coordinate has a rotor. None
/// if the file is not there.
std::optional<Model> find_model(const std::string& name);

/// The same model as plain data for the other libraries; `bodies` owns what `data` points to.
struct ExportedModel {
  std::string name;
  std::vector<BodyData> bodies;
  std::vector<Transform<>> X_LB;  ///< per body: its frame in the link's
  std::vector<LinkId> links;
  ModelData data{};
};
void export_model(const Model& model, const std::string& name, ExportedModel& out);

}  // namespace kansetsu::bench
