#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/model.h"

/// What happened, as plain data: figures, the things around them, and one frame after the other. A recording needs nothing
/// else to be shown or replayed: it carries its models. Files and every RECnnn code: docs/formats/recording.md.
namespace kansetsu::io {

struct RecordedFigure {
  std::string name{};  ///< unique in the recording
  Model model;
};

/// A number that is worth a plot, e.g. {"energy", "J"}.
struct NumberChannel {
  std::string name{}, unit{};
  friend bool operator==(const NumberChannel&, const NumberChannel&) = default;
};

/// What does not change while recording.
struct RecordingHeader {
  std::vector<RecordedFigure> figures{};
  std::vector<LinkShape> environment{};  ///< shapes that rest in the world
  std::vector<NumberChannel> numbers{};
  std::map<std::string, std::string> notes{};  ///< free text by key: program, seed, scene …
};

/// A link of a figure, by index; the default is the world.
struct BodyRef {
  int figure = -1, link = -1;
  friend bool operator==(const BodyRef&, const BodyRef&) = default;
};

struct RecordedContact {
  BodyRef a{}, b{};
  Vec3<> point{}, normal{};  ///< in the world; the normal points from b to a
  Vec3<> force{};            ///< on a, in world axes [N]
  friend bool operator==(const RecordedContact&, const RecordedContact&) = default;
};

/// A grip, a weld, a closed loop: what the connection does to a.
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
  bool complete = true;  ///< false: the file has no end, and these are the frames that could be saved
};

enum class Compression { kNone, kLz4, kZstd };

struct RecorderOptions {
  Compression compression = Compression::kLz4;
  double chunk_seconds = 1;   ///< an interrupted run loses at most this much of recorded time
  double foxglove_rate = 30;  ///< [Hz] transforms and arrows for other programs, at most; 0: none
  bool embed_meshes = true;   ///< mesh files go into the recording, as far as kLargestMesh allows
  double gltf_rate = 60;      ///< [Hz] keys of glTF animations, at most
};

/// Takes frames one by one and writes them. What cannot be written (a full disk) does not stop a simulation: it is kept, and
/// finish() tells. Wrong sizes, numbers that are not finite and times that run backwards throw Error.
class Recorder {
 public:
  virtual ~Recorder() = default;
  void add(const RecordedFrame& frame);
  /// Completes the file; every problem on the way. The destructor does it, too, and tells nobody.
  std::vector<Diagnostic> finish();

  const RecordingHeader& header() const { return header_; }

 protected:
  explicit Recorder(RecordingHeader header);
  virtual void write(const RecordedFrame& frame) = 0;
  virtual std::vector<Diagnostic> close() = 0;

 private:
  RecordingHeader header_;
  double last_time_ = 0;
  bool finished_ = false;
};

/// A recorder for the format that the name asks for: .mcap, .csv, .npz or .glb. An existing file is replaced. MCAP and CSV
/// are written as frames come; NPZ and glTF keep them in memory until finish().
Loaded<std::unique_ptr<Recorder>> make_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                const RecorderOptions& options = {});
/// All of a recording at once.
std::vector<Diagnostic> write_recording(const Recording& recording, const std::filesystem::path& file,
                                        const RecorderOptions& options = {});
/// The same as MCAP in memory.
std::string to_mcap(const Recording& recording, const RecorderOptions& options = {});

/// Reads an MCAP recording. One that ends early gives the frames that are whole, `complete` = false and a warning.
Loaded<Recording> read_recording(const std::filesystem::path& file);
Loaded<Recording> parse_recording(std::string_view bytes, const std::string& file_name = {});
/// Whether the file begins as MCAP files do.
bool is_mcap(const std::filesystem::path& file);

/// Poses of the links of a figure in the world, straight from the description.
std::vector<Transform<>> recorded_poses(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q);
/// One name per number of q: base.x … base.qw, knee, hip.qx …
std::vector<std::string> position_names(const Model& model);
/// What a link looks like: its visuals, else its collision shapes; none: capsules from joint to joint, as thick as the mass
/// suggests (a body of the density of water).
std::vector<std::vector<LinkShape>> body_shapes(const Model& model);

inline constexpr std::size_t kLargestMesh = std::size_t{32} << 20;  ///< bytes, each

}  // namespace kansetsu::io
