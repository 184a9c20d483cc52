#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/io/references.h"
#include "kansetsu/model/actuator.h"
#include "kansetsu/model/coordinate_map.h"
#include "kansetsu/model/measured.h"

/// OpenSim models (.osim of versions 2, 3 and 4), external loads and setup files. Supported features and OSIMnnn codes:
/// docs/formats/osim.md.
namespace kansetsu::io {

/// Axes are rotated such that z is up, x forward and y left; `axes` maps file axes to world axes.
struct OsimModel {
  ModelDescription model{};
  CoordinateMap map{};
  Mat3<> axes = Mat3<>::identity();
  std::vector<std::string> markers{};  ///< frames of the model
  ActuationDescription actuation{};    ///< muscles on their paths
};
Loaded<OsimModel> read_osim(const std::filesystem::path& file);
Loaded<OsimModel> parse_osim(std::string_view text, const std::string& file_name = {});
/// Whether the extension is .osim.
bool names_osim(const std::filesystem::path& file);

/// External forces: columns of a table, and the bodies they act on.
struct ExternalLoads {
  std::filesystem::path data{};  ///< .mot or .sto
  std::vector<ExternalLoad> loads{};
};
/// Its data file must be in its package or in an allowed folder.
Loaded<ExternalLoads> read_external_loads(const std::filesystem::path& file, const ReferenceOptions& references = {});

/// A setup file of inverse dynamics: the files it names, and its filter.
struct InverseDynamicsSetup {
  std::filesystem::path model{}, coordinates{}, loads{};
  std::filesystem::path package{};           ///< of the setup file (ReferenceOptions)
  double from = -kInfinity, to = kInfinity;  ///< [s]
  double cutoff = 0;                         ///< [Hz]; 0: none
};
Loaded<InverseDynamicsSetup> read_inverse_dynamics_setup(const std::filesystem::path& file,
                                                         const ReferenceOptions& references = {});

}  // namespace kansetsu::io
