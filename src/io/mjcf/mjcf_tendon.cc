#include <fmt/format.h>

#include <array>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

/// A tendon being read.
struct TendonDraft {
  Tendon info;
  TendonDescription description;
  std::vector<PathPart> path;  ///< with body indices of the file
  double rest = 0;             ///< its length with all joint springs at rest
  bool several = false;

  void on(const Reader& reader, int body) {
    const int figure = reader.body(body).figure;
    if (figure < 0) return;
    several = several || (info.figure >= 0 && info.figure != figure);
    info.figure = figure;
  }
};

/// A place on a body in the figure's model; for a fixed body, in the world.
TendonPlace place_on(const Reader& reader, int index, const std::string& frame, const Transform<>& X_BP) {
  const Body& body = reader.body(index);
  if (body.figure < 0) return {{}, to_pose(body.X_WB * X_BP)};
  if (!frame.empty()) return {frame, {}};
  return {body.name, to_pose(X_BP)};
}

// Parts of a tendon: return false, and report an error, if a part is invalid.

bool read_point(Reader& reader, const Element& element, TendonDraft& draft) {
  const SitePlace found = read_named(reader, element, "site", "site", find_site);
  if (!found) return false;
  draft.on(reader, found.body);
  draft.description.path.push_back(
      {.kind = TendonPartKind::kPoint, .at = place_on(reader, found.body, found->frame, found->X_BS)});
  draft.path.push_back({.kind = TendonPartKind::kPoint, .body = found.body, .X_BP = found->X_BS});
  return true;
}

bool read_pulley(Reader& reader, const Element& element, TendonDraft& draft) {
  const Attributes a(reader, element, nullptr);
  TendonPart part{.kind = TendonPartKind::kPulley};
  if (!a.has("divisor")) report_missing(reader.report, element, "attribute divisor", "how many strands there are");
  a.number("divisor", part.divisor);
  if (!(part.divisor > 0)) {
    reader.report.error(element, kRange, "the divisor of a pulley is not above zero", "2: the length counts half");
    part.divisor = 1;
  }
  draft.description.path.push_back(part);
  draft.path.push_back({.kind = part.kind, .divisor = part.divisor});
  return true;
}

bool read_wrap(Reader& reader, const Element& element, TendonDraft& draft) {
  const auto [i, found_geom] = read_named(reader, element, "geom", "geom", find_geom);
  if (!found_geom) return false;
  const Geom& geom = *found_geom;
  const auto* sphere = std::get_if<Sphere>(&geom.shape.shape);
  const auto* cylinder = std::get_if<Cylinder>(&geom.shape.shape);
  if (!geom.has_shape || (!sphere && !cylinder))
    return reader.report.fail(element, kTendon,
                              fmt::format("a tendon cannot wrap around the geom {}", quote(geom.shape.name)),
                              "name a sphere or a cylinder");
  TendonPart part{.kind = sphere ? TendonPartKind::kSphere : TendonPartKind::kCylinder};
  PathPart path{.kind = part.kind, .body = i, .X_BP = to_transform(geom.shape.origin)};
  part.radius = path.radius = sphere ? sphere->radius : cylinder->radius;
  part.at = place_on(reader, i, {}, path.X_BP);
  draft.on(reader, i);
  if (const auto side = read_text(reader.report, element, "sidesite")) {
    const SitePlace found = find_known(reader, element, "site", *side, find_site);
    if (!found) return true;
    draft.on(reader, found.body);
    part.side = place_on(reader, found.body, found->frame, found->X_BS);
    path.has_side = true, path.side_body = found.body, path.side = found->X_BS.p;
  }
  draft.description.path.push_back(std::move(part));
  draft.path.push_back(path);
  return true;
}

bool read_spatial(Reader& reader, const Element& element, TendonDraft& draft) {
  bool complete = true;
  for (const Element* child : children(reader, element)) {
    const std::string_view tag = child->Name();
    if (tag == "site") complete = read_point(reader, *child, draft) && complete;
    if (tag == "geom") complete = read_wrap(reader, *child, draft) && complete;
    if (tag == "pulley") complete = read_pulley(reader, *child, draft) && complete;
  }
  if (complete && !has_ends(draft.description.path))
    return reader.report.fail(element, kTendon, "the path of the tendon does not begin and end at a site",
                              "a branch has at least two sites, and a site before and after each geom");
  return complete;
}

bool read_term(Reader& reader, const Element& element, TendonDraft& draft) {
  const JointPlace place = read_named(reader, element, "joint", "joint", find_joint);
  if (!place) return false;
  if (place->kind != JointKind::kHinge && place->kind != JointKind::kSlide)
    return reader.report.fail(element, kTendon, "a ball or free joint cannot be part of a tendon",
                              "name hinges and slides");
  const Attributes a(reader, element, nullptr);
  TendonTerm term{{place->name, 0}, 0};
  if (!a.has("coef")) report_missing(reader.report, element, "attribute coef", "the length is Σ coef·q");
  a.number("coef", term.ratio);
  draft.on(reader, place.body);
  draft.info.length += term.ratio * place->reference;
  draft.rest += term.ratio * place->dof.rest;
  draft.info.joints.emplace_back(place->name, term.ratio);
  draft.description.terms.push_back(std::move(term));
  return true;
}

bool read_fixed(Reader& reader, const Element& element, TendonDraft& draft) {
  bool complete = true;
  for (const Element* child : children(reader, element)) {
    if (std::string_view(child->Name()) == "joint") complete = read_term(reader, *child, draft) && complete;
  }
  if (complete && draft.description.terms.empty())
    return reader.report.fail(element, kTendon, "the tendon has no joints",
                              "a fixed tendon has <joint joint=… coef=…/>");
  return complete;
}

void read_tendon(Reader& reader, const Element& element) {
  const std::string_view tag = element.Name();
  if (tag != "spatial" && tag != "fixed") return;
  const Attributes a = attributes_of(reader, element, "tendon", {});
  TendonDraft draft;
  TendonDescription& t = draft.description;
  t.name = draft.info.name = take_name(reader, element, "tendon", fmt::format("tendon{}", reader.tendons.size() + 1));
  t.line = element.GetLineNum();
  if (!(tag == "fixed" ? read_fixed : read_spatial)(reader, element, draft)) return;
  if (tag == "spatial") {
    PathTrace trace;
    trace_path(draft.path, reader.index.X_WB_rest, trace);
    draft.rest = trace.length;
    trace_path(draft.path, reader.index.X_WB, trace);
    draft.info.length = trace.length;
    draft.info.pulls = std::move(trace.pulls);
  }
  t.limit = draft.info.limit = read_limits(reader, a, "range", "limited");
  const double margin = read_margin(reader, a);
  t.limit.lower += margin, t.limit.upper -= margin;
  if (t.limit.lower > t.limit.upper) t.limit.lower = t.limit.upper = 0.5 * (t.limit.lower + t.limit.upper);
  t.effort = read_limits(reader, a, "actuatorfrcrange", "actuatorfrclimited");
  t.stiffness = read_amount(reader, a, "stiffness");
  t.damping = read_amount(reader, a, "damping");
  t.friction = read_amount(reader, a, "frictionloss");
  std::array<double, 2> rest{-1, -1};
  if (a.numbers("springlength", rest, 1) == 1) rest[1] = rest[0];
  if (rest[0] < 0) rest[0] = rest[1] = draft.rest;
  t.rest_lower = rest[0], t.rest_upper = rest[1];
  a.number("width", t.width);
  std::array<double, 4> rgba{};
  if (a.numbers("rgba", rgba, 4) == 4) t.rgba.assign(rgba.begin(), rgba.end());
  if (draft.several || draft.info.figure < 0) {
    if (draft.several)
      reader.report.missing(element, kTendon, "a tendon between two figures is ignored",
                            "bodies of one figure belong to one child of <worldbody>");
    draft.info.figure = -1;
  } else {
    reader.figure(draft.info.figure).actuation.tendons.push_back(std::move(t));
  }
  reader.index.tendons.emplace(draft.info.name, reader.tendons.size());
  reader.tendons.push_back(std::move(draft.info));
}

}  // namespace

Interval read_limits(Reader& reader, const Attributes& a, const char* range_name, const char* limited_name,
                     bool always) {
  std::array<double, 2> range{};
  const int limited = a.keyword(limited_name, {"false", "true", "auto"}).value_or(2);
  const bool given = a.numbers(range_name, range, 2) == 2;
  const bool holds = always || limited == 1 || (limited == 2 && given && reader.compiler_of(a.element()).autolimits);
  if (!holds) return {};
  if (!given && !always) {
    reader.report.error(a.element(), kRange, fmt::format("{} is true, but there is no {}", limited_name, range_name),
                        "give the range");
    return {};
  }
  if (!(range[0] < range[1]) && given) {
    reader.report.error(a.element(), kRange, fmt::format("the lower end of {} is not below its upper one", range_name),
                        "write the smaller number first");
    return {};
  }
  return {range[0], range[1]};
}

const Tendon* find_tendon(const Reader& reader, std::string_view name) {
  const std::size_t* place = find_in(reader.index.tendons, name);
  return place ? &reader.tendons[*place] : nullptr;
}

void read_tendons(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "tendon")) read_tendon(reader, *element);
}

void read_tendon_coupling(Reader& reader, const Element& element, bool active) {
  const auto name1 = read_required_text(reader.report, element, "tendon1"),
             name2 = read_text(reader.report, element, "tendon2");
  if (!name1) return;
  const Tendon* first = find_known(reader, element, "tendon", *name1, find_tendon);
  const Tendon* second = first && name2 ? find_known(reader, element, "tendon", *name2, find_tendon) : nullptr;
  if (!first || (name2 && !second)) return;
  const bool apart = first->figure < 0 || (second && second->figure != first->figure);
  if (!active) return reader.report.warning(element, kEquality, "inactive couplings are ignored");
  if (apart) return reader.report.missing(element, kEquality, "a coupling of tendons of two figures is ignored");
  std::optional<CoupledPart> driver;
  if (second) driver = CoupledPart{*name2, second->length};
  add_coupling(reader, element, first->figure, {*name1, first->length}, driver, true);
}

}  // namespace kansetsu::io::mjcf
