#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/model.h"

/// Recordings as plain data: figures, their environment, and frames. A recording is self-contained: it includes its models
/// and can be shown or replayed without other files. File formats and RECnnn codes: docs/formats/recording.md.
namespace kansetsu::io {

struct RecordedFigure {
  std::string name{};  ///< unique in the recording
  Model model;
};

/// A number over time, for plots, e.g. {"energy", "J"}.
struct NumberChannel {
  std::string name{}, unit{};
  bool topic = true;  ///< MCAP: as a topic of its own, not only in joint states
  friend bool operator==(const NumberChannel&, const NumberChannel&) = default;
};

/// A mesh file embedded in a recording, for a Mesh without a path: paths in a recording are never opened.
struct RecordedMesh {
  int figure = -1;       ///< index of the figure that shows it; −1: the environment
  std::string uri{};     ///< of the Mesh
  std::string ending{};  ///< ".stl"
  std::shared_ptr<const std::string> data{};
};

/// What does not change while recording.
/// Number channels called FIGURE/tau/DOF are the efforts in the joint states that other programs show.
struct RecordingHeader {
  std::vector<RecordedFigure> figures{};
  std::vector<LinkShape> environment{};  ///< shapes that rest in the world
  std::vector<NumberChannel> numbers{};
  std::map<std::string, std::string> notes{};  ///< free text by key: program, seed, scene …
  std::vector<RecordedMesh> meshes{};          ///< of a recording that was read
};

/// A link of a figure, by index; the default is the world.
struct BodyRef {
  int figure = -1, link = -1;
  friend bool operator==(const BodyRef&, const BodyRef&) = default;
};

/// The sliding state of a contact; kImpact: it closed and opened between two frames.
enum class ContactState : std::uint8_t { kUnknown, kStick, kSlide, kSpin, kImpact };
const char* to_string(ContactState state);

struct RecordedContact {
  BodyRef a{}, b{};
  Vec3<> point{}, normal{};  ///< the centre of pressure, in the world; the normal points from b to a
  Vec3<> force{};            ///< on a, in world axes [N]
  Vec3<> moment{};           ///< on a, about the point [N·m]
  Vec3<> impulse{};          ///< of impacts since the frame before, on a [N·s]
  ContactState state = ContactState::kUnknown;
  friend bool operator==(const RecordedContact&, const RecordedContact&) = default;
};

/// The force of a connection (a grip, weld or closed loop) on a.
struct RecordedConnection {
  std::string name{};
  BodyRef a{}, b{};
  Vec3<> point{};
  Force<> wrench{};  ///< on a, about the point, in world axes
  friend bool operator==(const RecordedConnection&, const RecordedConnection&) = default;
};

struct RecordedFrame {
  double time = 0;                ///< [s], not negative, never less than that of the frame before
  std::vector<State> states{};    ///< one per figure
  std::vector<double> numbers{};  ///< one per number channel
  std::vector<RecordedContact> contacts{};
  std::vector<RecordedConnection> connections{};
  std::vector<std::string> events{};  ///< "left foot lands": marks on the time line
};

struct Recording {
  RecordingHeader header{};
  std::vector<RecordedFrame> frames{};
  bool complete = true;  ///< false: the file is truncated; these are its complete frames
};

enum class Compression { kNone, kLz4, kZstd };

struct RecorderOptions {
  Compression compression = Compression::kLz4;
  double chunk_seconds = 1;   ///< an interrupted run loses at most this much of recorded time
  double foxglove_rate = 30;  ///< [Hz] transforms and arrows for other programs, at most; 0: none
  bool embed_meshes = true;   ///< mesh files go into the recording, as far as kLargestMesh allows
  double gltf_rate = 60;      ///< [Hz] keys of glTF animations, at most
};

/// Writes frames one by one. A write error, such as a full disk, does not stop a simulation: finish() reports
/// it. Wrong sizes, numbers that are not finite, and decreasing times throw Error.
class Recorder {
 public:
  virtual ~Recorder();
  void add(const RecordedFrame& frame);
  /// Completes the file and returns all problems. The destructor does the same without a report; if there are no frames it leaves
  /// an existing file unchanged.
  std::vector<Diagnostic> finish();
  void abandon() { finished_ = true; }  ///< gives up: nothing more is written

  const RecordingHeader& header() const { return header_; }

 protected:
  explicit Recorder(RecordingHeader header);
  virtual void write(const RecordedFrame& frame) = 0;
  virtual std::vector<Diagnostic> close() = 0;
  void finish_begun() noexcept;  ///< for destructors: finish(), if a frame was added

 private:
  RecordingHeader header_;
  double last_time_ = 0;
  bool begun_ = false, finished_ = false;
};

/// A recorder for a format by the file's extension: .mcap, .csv, .npz or .glb. An existing file is unchanged
/// until the first frame, and locked meanwhile. MCAP and CSV are written as frames arrive, in complete messages and
/// lines, so that an interrupted file is readable; NPZ and glTF keep frames in memory until finish(), which replaces an
/// existing file atomically.
Loaded<std::unique_ptr<Recorder>> make_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                const RecorderOptions& options = {});
/// Writes a whole recording; an existing file is replaced atomically, or unchanged on failure.
std::vector<Diagnostic> write_recording(const Recording& recording, const std::filesystem::path& file,
                                        const RecorderOptions& options = {});
/// The same as MCAP in memory.
std::string to_mcap(const Recording& recording, const RecorderOptions& options = {});

/// The first message to viewers of a running simulation: scene.json and the files that it refers to, as in recordings.
struct SceneMessage {
  std::string json{};
  std::map<std::string, std::shared_ptr<const std::string>> files{};  ///< by name: mesh/0.stl, texture/0.png …
  std::vector<Diagnostic> diagnostics{};                              ///< about omitted files
};
SceneMessage to_scene_message(const RecordingHeader& header);

/// Reads an MCAP recording. For a truncated file returns the complete frames, `complete` = false and a warning. Safe for untrusted
/// files: every index, count and checksum is verified, no other file is opened, and frames that need more memory than
/// kLeastMemory and kMemoryPerByte allow are an error.
Loaded<Recording> read_recording(const std::filesystem::path& file);
Loaded<Recording> parse_recording(std::string_view bytes, const std::string& file_name = {});
inline constexpr std::size_t kLeastMemory = std::size_t{1} << 30, kMemoryPerByte = 16;
/// Whether the file begins with MCAP's magic bytes.
bool is_mcap(const std::filesystem::path& file);

/// World poses of the links of a figure, from its description.
std::vector<Transform<>> recorded_poses(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q);
/// One name per number of q: base.x … base.qw, knee, hip.qx …
std::vector<std::string> position_names(const Model& model);
/// The shapes to draw for each link: visuals, or collision shapes if there are none; bones if the model has no shapes.
std::vector<std::vector<LinkShape>> body_shapes(const Model& model);
/// Shapes for a model without any: capsules between joints, with the volume of the link's mass as water.
std::vector<std::vector<LinkShape>> bone_shapes(const Model& model);

inline constexpr std::size_t kLargestMesh = std::size_t{32} << 20;  ///< bytes, each

}  // namespace kansetsu::io
