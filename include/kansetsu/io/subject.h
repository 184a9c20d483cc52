#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/model/measured.h"

/// Subjects of AddBiomechanics (.b3d): a fitted OpenSim model, and trials with its coordinates, markers and forces. See
/// docs/formats/measured.md.
namespace kansetsu::io {

/// One trial, from its last processing pass; OpenSim's axes, y up.
struct SubjectTrial {
  std::string name{};
  std::vector<std::string> passes{};  ///< "kinematics", "dynamics", "low-pass filter"
  TimeTable coordinates{};            ///< of the model [rad, m]
  /// ground_force_BODY_vx … vz, ground_force_BODY_px … pz, ground_torque_BODY_x … z of each body that forces act on; one row a frame.
  TimeTable forces{};
  Markers markers{};
  int frames_without_force = 0;  ///< in which unmeasured forces act
};

struct Subject {
  std::string name{}, file{}, sex{};
  double mass = 0, height = 0;        ///< [kg, m]; 0: unknown
  std::string osim{};                 ///< text of the model, of the last pass
  std::vector<ExternalLoad> loads{};  ///< which columns of `forces` act on which body
  std::vector<SubjectTrial> trials{};
};

/// Whether the extension is .b3d.
bool names_subject(const std::filesystem::path& file);
Loaded<Subject> read_b3d(const std::filesystem::path& file);
Loaded<Subject> parse_b3d(std::string_view bytes, const std::string& file_name = {});

}  // namespace kansetsu::io
