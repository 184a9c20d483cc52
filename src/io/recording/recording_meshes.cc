#include "io/recording/recording_meshes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/lookup.h"
#include "io/mesh/mesh_content.h"
#include "io/recording/recording_codes.h"
#include "io/text.h"

namespace kansetsu::io {
namespace {

constexpr int kHere = -2;  ///< in the place of a figure: a file of this machine

/// What the recording that a header came with holds, by figure and uri.
class RecordedFiles {
 public:
  explicit RecordedFiles(const RecordingHeader& header) {
    for (const RecordedMesh& mesh : header.meshes) files_.insert_or_assign({mesh.figure, mesh.uri}, &mesh);
  }
  const RecordedMesh* find(int figure, const std::string& uri) const {
    const RecordedMesh* const* found = find_in(files_, {figure, uri});
    return found ? *found : nullptr;
  }

 private:
  std::map<std::pair<int, std::string_view>, const RecordedMesh*> files_;
};

std::vector<ShownMesh> meshes_of(const RecordingHeader& header, const RecordedFiles& recorded) {
  std::vector<ShownMesh> found;
  const auto look = [&](const std::vector<LinkShape>& shapes, int figure) {
    for (const LinkShape& shape : shapes) {
      if (const auto* mesh = std::get_if<Mesh>(&shape.shape)) found.push_back({*mesh, figure});
    }
  };
  const auto is_missing = [&](const ShownMesh& m) {
    return m.mesh.path.empty() && !recorded.find(m.figure, m.mesh.uri);
  };
  for (std::size_t k = 0; k < header.figures.size(); ++k) {
    const Model& model = header.figures[k].model;
    for (int i = 0; i < model.link_count(); ++i) {
      const LinkDescription& link = model.link(LinkId(i));
      const auto before = std::ptrdiff_t(found.size());
      look(link.visuals, int(k));
      if (link.visuals.empty() || std::any_of(found.begin() + before, found.end(), is_missing))
        look(link.collisions, int(k));
    }
  }
  look(header.environment, -1);
  return found;
}

/// Fills in the files of a header. Each is read and checked once, by whatever names it goes.
class Collector {
 public:
  Collector(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics, std::size_t most)
      : header_(header), recorded_(header), diagnostics_(diagnostics), left_(most) {}

  MeshFiles collect() {
    for (const ShownMesh& shown : meshes_of(header_, recorded_)) {
      if (out_.find(shown.mesh, shown.figure)) continue;
      if (const auto file = file_of(shown.mesh.path, shown.mesh.uri, shown.figure, Kind::kMesh))
        out_.name(shown.mesh, shown.figure, *file);
    }
    for (std::size_t k = 0; k < header_.figures.size(); ++k) {
      const ModelDescription& model = header_.figures[k].model.description();
      const Materials materials(model);
      for (const LinkDescription& link : model.links) {
        for (const LinkShape& shape : link.visuals.empty() ? link.collisions : link.visuals) {
          if (const std::string texture = materials.texture(shape); !texture.empty()) add_texture(texture, int(k));
        }
      }
    }
    return std::move(out_);
  }

 private:
  enum class Kind { kMesh, kTexture };
  /// A file here by its name with links followed, one of a recording by its bytes.
  using Identity = std::tuple<Kind, std::string, const std::string*>;

  void add_texture(const std::string& texture, int figure) {
    if (out_.find_texture(texture, figure)) return;
    const std::string path = std::filesystem::path(texture).is_absolute() ? texture : "";
    if (const auto file = file_of(path, texture, figure, Kind::kTexture)) out_.name_texture(texture, figure, *file);
  }

  std::optional<std::size_t> file_of(const std::string& path, const std::string& uri, int figure, Kind kind) {
    const RecordedMesh* recorded = path.empty() ? recorded_.find(figure, uri) : nullptr;
    if (path.empty() && (!recorded || !recorded->data)) return std::nullopt;  // it was never found
    std::error_code error;
    const Identity identity{kind, path.empty() ? "" : std::filesystem::weakly_canonical(path, error).string(),
                            recorded ? recorded->data.get() : nullptr};
    const auto [known, is_new] = known_.try_emplace(identity, std::nullopt);
    if (!is_new) return known->second;
    std::string problem;
    std::shared_ptr<const std::string> data = recorded ? recorded->data : read(path, kind, problem);
    const std::string ending = kind == Kind::kTexture ? ".png" : recorded ? recorded->ending : lower_ending(path);
    if (data) data = checked(std::move(data), ending, kind, problem);
    const std::string& place = path.empty() ? uri : path;
    if (data) {
      left_ -= data->size();
      int& count = kind == Kind::kMesh ? meshes_ : textures_;
      const char* folder = kind == Kind::kMesh ? "mesh" : "texture";
      known->second = out_.add({place, fmt::format("{}/{}{}", folder, count++, ending), std::move(data)});
    } else {
      diagnostics_.push_back(about_file(Severity::kWarning, recording::kMeshLeftOut, place, problem,
                                        "the recording shows the figure without it"));
    }
    return known->second;
  }

  static const char* word(Kind kind) { return kind == Kind::kMesh ? "mesh" : "texture"; }

  std::shared_ptr<const std::string> read(const std::string& path, Kind kind, std::string& problem) const {
    FileText text = read_file(path, std::min(kLargestMesh, left_));
    if (!text.problem) return std::make_shared<const std::string>(std::move(text.text));
    const bool full = *text.problem == FileProblem::kTooLarge;
    problem = full && left_ >= kLargestMesh
                  ? fmt::format("the {} is larger than {} MiB; omitted", word(kind), kLargestMesh >> 20)
              : full ? too_many()
                     : fmt::format("the {} cannot be read; omitted", word(kind));
    return nullptr;
  }

  static std::string too_many() { return "too much mesh data in total; this mesh is omitted"; }

  std::shared_ptr<const std::string> checked(std::shared_ptr<const std::string> data, const std::string& ending,
                                             Kind kind, std::string& problem) const {
    const auto clean = mesh_content(*data, ending);
    if (!clean) {
      problem = kind == Kind::kMesh ? "not a supported mesh; omitted" : "not a PNG picture; omitted";
      return nullptr;
    }
    if (clean->size() > left_) {
      problem = too_many();
      return nullptr;
    }
    return clean->size() == data->size() ? data : std::make_shared<const std::string>(*clean);
  }

  const RecordingHeader& header_;
  RecordedFiles recorded_;
  std::vector<Diagnostic>& diagnostics_;
  MeshFiles out_;
  std::map<Identity, std::optional<std::size_t>> known_;  ///< none: it is left out, which was reported
  std::size_t left_;                                      ///< bytes that may yet be taken
  int meshes_ = 0, textures_ = 0;
};

}  // namespace

MeshFiles::Key MeshFiles::key_of(const Mesh& mesh, int figure) {
  return mesh.path.empty() ? Key{figure, mesh.uri} : Key{kHere, mesh.path};
}
MeshFiles::Key MeshFiles::key_of(const std::string& texture, int figure) {
  return {std::filesystem::path(texture).is_absolute() ? kHere : figure, texture};
}

const MeshFile* MeshFiles::find(const std::map<Key, std::size_t>& places, const Key& key) const {
  const std::size_t* place = find_in(places, key);
  return place ? &files_[*place] : nullptr;
}
const MeshFile* MeshFiles::find(const Mesh& mesh, int figure) const { return find(meshes_, key_of(mesh, figure)); }
const MeshFile* MeshFiles::find_texture(const std::string& texture, int figure) const {
  return texture.empty() ? nullptr : find(textures_, key_of(texture, figure));
}

std::size_t MeshFiles::add(MeshFile file) {
  files_.push_back(std::move(file));
  return files_.size() - 1;
}
void MeshFiles::name(const Mesh& mesh, int figure, std::size_t file) { meshes_.emplace(key_of(mesh, figure), file); }
void MeshFiles::name_texture(const std::string& texture, int figure, std::size_t file) {
  textures_.emplace(key_of(texture, figure), file);
}

std::vector<ShownMesh> meshes_of(const RecordingHeader& header) { return meshes_of(header, RecordedFiles(header)); }

MeshFiles collect_meshes(const RecordingHeader& header, std::vector<Diagnostic>& diagnostics, std::size_t most) {
  return Collector(header, diagnostics, most).collect();
}

Materials::Materials(const ModelDescription& model) {
  for (const Material& material : model.materials) {
    Named& named = named_[material.name];
    if (!named.first) named.first = &material;
    if (!named.coloured && material.rgba && material.rgba->size() == 4) named.coloured = &material;
  }
}

std::string Materials::texture(const LinkShape& shape) const {
  if (!shape.material) return {};
  if (!shape.material->texture.empty()) return shape.material->texture;
  const Named* found = find_in(named_, shape.material->name);
  return found ? found->first->texture : std::string();
}

std::optional<std::array<double, 4>> Materials::colour(const LinkShape& shape) const {
  const auto four = [](const std::vector<double>& c) { return std::array<double, 4>{c[0], c[1], c[2], c[3]}; };
  if (!shape.material) return std::nullopt;
  if (shape.material->rgba && shape.material->rgba->size() == 4) return four(*shape.material->rgba);
  const Named* found = find_in(named_, shape.material->name);
  return found && found->coloured ? std::optional(four(*found->coloured->rgba)) : std::nullopt;
}

}  // namespace kansetsu::io
