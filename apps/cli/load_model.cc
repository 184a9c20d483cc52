#include "cli/load_model.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "cli/command.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

bool is_file(const std::string& name) {
  std::error_code ignored;
  const auto status = std::filesystem::status(name, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

Model edited(Model model, const ModelSource& source) {
  if (source.base && *source.base != model.base()) model = with_base(model, *source.base);
  if (source.fixed_links == FixedLinks::kMerge) model = merge_fixed_links(model);
  return model;
}

/// A file that is not there was perhaps meant to be a figure.
void add_figures(std::vector<Diagnostic>& diagnostics, const std::string& name) {
  std::error_code ignored;
  if (diagnostics.size() != 1 || std::filesystem::exists(name, ignored)) return;
  diagnostics[0].hint = fmt::format("name a URDF file, or a built-in figure: {}", fmt::join(figure_names(), ", "));
}

/// A model that needs no file, if the source names one.
std::optional<Model> figure(const ModelSource& source) {
  if (is_file(source.name)) return std::nullopt;
  std::optional<Model> found = find_figure(source.name);
  if (found) found = edited(*std::move(found), source);
  return found;
}

io::UrdfOptions options_of(const ModelSource& source) {
  return {.base = source.base, .merge_fixed = source.fixed_links == FixedLinks::kMerge};
}

template <class T>
T value_or_fail(Loaded<T>&& loaded, const std::string& name) {
  if (!loaded) {
    std::string text = to_string(loaded.diagnostics);
    if (text.ends_with('\n')) text.pop_back();
    throw Failure(kBadFile, text);
  }
  if (const std::size_t count = loaded.diagnostics.size()) {
    fmt::print(stderr, "{0}: {1} warning{2}; 'kansetsu check {0}' shows {3}\n", name, count, count == 1 ? "" : "s",
               count == 1 ? "it" : "them");
  }
  return *std::move(loaded.value);
}

}  // namespace

Loaded<ModelDescription> load_description(const ModelSource& source) {
  if (const auto model = figure(source)) return {model->description(), validate(model->description())};
  Loaded<ModelDescription> read = io::read_urdf(source.name, options_of(source));
  add_figures(read.diagnostics, source.name);
  return read;
}

Loaded<Model> load_model(const ModelSource& source) {
  if (const auto model = figure(source)) return {model, validate(model->description())};
  Loaded<Model> read = io::load_urdf(source.name, options_of(source));
  add_figures(read.diagnostics, source.name);
  return read;
}

Model model_or_fail(const ModelSource& source) { return value_or_fail(load_model(source), source.name); }

ModelDescription description_or_fail(const ModelSource& source) {
  return value_or_fail(load_description(source), source.name);
}

}  // namespace kansetsu::cli
