#include <fmt/format.h>

#include <algorithm>

#include "io/file_gate.h"
#include "io/osim/osim_codes.h"
#include "io/osim/osim_reader.h"
#include "io/text.h"
#include "kansetsu/io/osim.h"

/// External loads, and setup files of inverse dynamics.
namespace kansetsu::io {
namespace {

using namespace osim;

/// Resolves files that elements refer to, relative to the document. Files outside of the package are refused.
class NamedFiles {
 public:
  NamedFiles(const std::filesystem::path& file, const ReferenceOptions& references, XmlReport& report)
      : folder_(file.parent_path()), gate_(file, references.allowed_paths, references.package), report_(report) {}

  const std::filesystem::path& package() const { return gate_.package(); }

  std::filesystem::path find(const Element& element, const char* child) {
    const std::string name = child_text(element, child);
    if (name.empty() || same_word(name, "Unassigned")) return {};
    std::filesystem::path path = folder_ / name;
    if (gate_.allows(path)) return path;
    report_.error(element, kOutside, fmt::format("the file {} of <{}> is outside of the package", quote(name), child),
                  gate_.hint(path));
    return {};
  }

 private:
  std::filesystem::path folder_;
  FileGate gate_;
  XmlReport& report_;
};

/// Reads the element with this tag.
template <class Record, class Read>
Loaded<Record> read_setup(const std::filesystem::path& file, const char* tag, const Read& read) {
  XmlReport report(file.string(), codes());
  tinyxml2::XMLDocument document;
  Record out;
  if (open_document(file, document, report)) {
    if (const Element* found = document.RootElement()->FirstChildElement(tag))
      read(*found, report, out);
    else
      report.error(*document.RootElement(), kMissing, fmt::format("there is no <{}>", tag),
                   "is it another kind of file?");
  }
  return loaded(std::move(out), report.take());
}

}  // namespace

Loaded<ExternalLoads> read_external_loads(const std::filesystem::path& file, const ReferenceOptions& references) {
  return read_setup<ExternalLoads>(
      file, "ExternalLoads", [&](const Element& loads, XmlReport& report, ExternalLoads& out) {
        out.data = NamedFiles(file, references, report).find(loads, "datafile");
        if (child_text(loads, "datafile").empty())
          report.error(loads, kMissing, "there is no <datafile>", "name the .mot or .sto of the forces");
        const auto name_of = [](const std::string& text) {
          return same_word(text, "Unassigned") ? std::string() : text;
        };
        for (const Element* e =
                 loads.FirstChildElement("objects") ? loads.FirstChildElement("objects")->FirstChildElement() : nullptr;
             e; e = e->NextSiblingElement()) {
          if (!child_flag(*e, "appliesForce", true) || child_flag(*e, "isDisabled", false)) continue;
          ExternalLoad load{.name = e->Attribute("name") ? e->Attribute("name") : "load"};
          load.body = last_part(child_text(*e, "applied_to_body"));
          load.force = name_of(child_text(*e, "force_identifier"));
          load.point = name_of(child_text(*e, "point_identifier"));
          load.torque = name_of(child_text(*e, "torque_identifier"));
          if (const std::string in = last_part(child_text(*e, "force_expressed_in_body")); !in.empty())
            load.force_in = in;
          if (const std::string in = last_part(child_text(*e, "point_expressed_in_body")); !in.empty())
            load.point_in = in;
          const auto words = {load.name, load.body, load.force, load.point, load.torque, load.force_in, load.point_in};
          if (!std::ranges::all_of(words, [](const std::string& word) { return is_clean(word); })) {
            report.error(*e, kName, "a name of the load contains control characters",
                         "use letters, digits and punctuation");
            continue;
          }
          if (load.body.empty() || (load.force.empty() && load.torque.empty())) {
            report.error(*e, kMissing, "the load has no body, or neither force nor torque",
                         "name applied_to_body and force_identifier");
            continue;
          }
          out.loads.push_back(std::move(load));
        }
        if (out.loads.empty()) report.warning(loads, kIgnored, "there are no loads", "nothing acts from outside");
      });
}

Loaded<InverseDynamicsSetup> read_inverse_dynamics_setup(const std::filesystem::path& file,
                                                         const ReferenceOptions& references) {
  return read_setup<InverseDynamicsSetup>(
      file, "InverseDynamicsTool", [&](const Element& tool, XmlReport& report, InverseDynamicsSetup& out) {
        NamedFiles files(file, references, report);
        out.package = files.package();
        out.model = files.find(tool, "model_file");
        out.coordinates = files.find(tool, "coordinates_file");
        out.loads = files.find(tool, "external_loads_file");
        for (const char* needed : {"model_file", "coordinates_file"})
          if (child_text(tool, needed).empty())
            report.error(tool, kMissing, fmt::format("there is no <{}>", needed), "name the file");
        double range[2] = {-kInfinity, kInfinity};
        child_numbers(report, tool, "time_range", range);
        out.from = range[0], out.to = range[1];
        out.cutoff = std::max(0.0, child_number(report, tool, "lowpass_cutoff_frequency_for_coordinates", 0));
      });
}

}  // namespace kansetsu::io
