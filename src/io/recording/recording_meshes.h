#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/io/recording.h"

/// Files embedded in a recording: meshes and textures of its shapes.
namespace kansetsu::io {

struct MeshFile {
  std::string place{};  ///< where it came from, for messages
  std::string name{};   ///< mesh/0.stl, as the scene refers to it
  std::shared_ptr<const std::string> data{};
};

class MeshFiles {
 public:
  const MeshFile* find(const Mesh& mesh, int figure) const;
  const MeshFile* find_texture(const std::string& texture, int figure) const;
  /// Each file once.
  const std::vector<MeshFile>& all() const { return files_; }

  std::size_t add(MeshFile file);
  void name(const Mesh& mesh, int figure, std::size_t file);
  void name_texture(const std::string& texture, int figure, std::size_t file);

 private:
  /// A local file by its path, a file of the source recording by figure and uri.
  using Key = std::pair<int, std::string>;
  static Key key_of(const Mesh& mesh, int figure);
  static Key key_of(const std::string& texture, int figure);
  const MeshFile* find(const std::map<Key, std::size_t>& places, const Key& key) const;

  std::vector<MeshFile> files_;
  std::map<Key, std::size_t> meshes_, textures_;
};

/// The files of a recording for one figure.
struct MeshSet {
  const MeshFiles& files;
  int figure = -1;  ///< −1: the environment

  const MeshFile* find(const Mesh& mesh) const { return files.find(mesh, figure); }
  const MeshFile* find_texture(const std::string& texture) const { return files.find_texture(texture, figure); }
};

/// A mesh of the header and its figure.
struct ShownMesh {
  const Mesh& mesh;
  int figure = -1;
};
std::vector<ShownMesh> meshes_of(const RecordingHeader& header);

/// Limit of embedded bytes. Two hundred meshes of a robot take some 50 MB; a small file could refer to any number.
inline constexpr std::size_t kMostMeshBytes = std::size_t{512} << 20;

/// The meshes that shapes of the header refer to, each at most kLargestMesh bytes and in total at most `most`, then PNG textures.
/// Missing, too large and invalid files are omitted with a warning: only geometry and images get into a recording.
MeshFiles collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics,
                         std::size_t most = kMostMeshBytes);

/// The materials of a model by name, to resolve references of shapes.
class Materials {
 public:
  Materials() = default;  ///< of the environment: there are none
  explicit Materials(const ModelDescription& model);

  std::string texture(const LinkShape& shape) const;  ///< empty: none
  std::optional<std::array<double, 4>> colour(const LinkShape& shape) const;

 private:
  struct Named {
    const Material* first = nullptr;
    const Material* coloured = nullptr;
  };
  std::map<std::string_view, Named> named_;
};

}  // namespace kansetsu::io
