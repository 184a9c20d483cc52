#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/mjcf/mjcf_writer.h"
#include "model/tendon_path.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr double kSameLength = 1e-12;  // [m] the rest length equals the reference length

/// The figure of a place; empty for the world.
std::string figure_of(const FigureDescription& f, const TendonPlace& place) {
  return place.link.empty() ? std::string() : f.name;
}

std::string site_of(Writer& w, const FigureDescription& f, const TendonPlace& place, const std::string& wanted) {
  return w.site_at(figure_of(f, place), place.link, place.pose, wanted);
}

struct PlaceOnBody {
  int body = -1;
  Transform<> X_BP{};
};
PlaceOnBody locate(const Writer& w, const FigureDescription& f, const TendonPlace& place) {
  const LinkPlace at = w.find_place(figure_of(f, place), place.link);
  return {at.body, at.X_BL * to_transform(place.pose)};
}

/// The geom that a tendon wraps around: an existing one, or a new one without contacts.
std::string wrap_geom(Writer& w, const FigureDescription& f, const TendonPart& part, const std::string& wanted) {
  const PlaceOnBody at = locate(w, f, part.at);
  const bool sphere = part.kind == TendonPartKind::kSphere;
  for (WrittenGeom& geom : w.geoms) {
    if (geom.body != at.body) continue;
    const auto* s = std::get_if<Sphere>(&geom.shape->shape);
    const auto* c = std::get_if<Cylinder>(&geom.shape->shape);
    const bool fits = sphere ? s && s->radius == part.radius : c && c->radius == part.radius;
    if (!fits || geom.shape->origin != to_pose(at.X_BP)) continue;
    return name_geom(w, geom, wanted);
  }
  Element& e = w.add(w.element_of(at.body), "geom");
  const std::string name = w.take_name("geom", f.name, wanted);
  w.set(e, "name", name);
  w.set(e, "type", sphere ? "sphere" : "cylinder");
  w.set(e, "size", std::array{part.radius, part.radius});
  w.set_pose(e, at.X_BP);
  w.set(e, "contype", "0"), w.set(e, "conaffinity", "0"), w.set(e, "group", "3");
  return name;
}

void write_path(Writer& w, const FigureDescription& f, const TendonDescription& t, Element& e) {
  int number = 0;
  for (const TendonPart& part : t.path) {
    const std::string wanted = fmt::format("{}_{}", t.name, ++number);
    if (part.when) w.lose("conditional points of tendons; written as permanent points", t.name);
    if (!part.shifts.empty()) w.lose("moving points of tendons; written as fixed points", t.name);
    if (part.length < kInfinity) w.lose("ends of wrapping cylinders; written without ends", t.name);
    if (part.side && part.side_is == TendonSide::kHalf)
      w.lose("halves of wrap objects; replaced by side sites", t.name);
    if (part.kind == TendonPartKind::kPulley) {
      w.set(w.add(e, "pulley"), "divisor", part.divisor);
    } else if (part.kind == TendonPartKind::kPoint) {
      w.set(w.add(e, "site"), "site", site_of(w, f, part.at, wanted));
    } else {
      Element& round = w.add(e, "geom");
      w.set(round, "geom", wrap_geom(w, f, part, wanted));
      if (part.side) w.set(round, "sidesite", site_of(w, f, *part.side, wanted + "_side"));
    }
  }
}

void write_tendon(Writer& w, const FigureDescription& f, const TendonDescription& t) {
  Element& e = w.add(w.section("tendon"), t.path.empty() ? "fixed" : "spatial");
  const std::string name = w.take_name("tendon", f.name, t.name);
  w.tendons[{f.name, t.name}] = name;
  w.set(e, "name", name);
  w.set_range(e, "range", t.limit);
  w.set_range(e, "actuatorfrcrange", t.effort);
  w.set_unless(e, "stiffness", t.stiffness, 0);
  w.set_unless(e, "damping", t.damping, 0);
  w.set_unless(e, "frictionloss", t.friction, 0);
  const double length = reference_length(w, f, t);
  const bool by_itself = t.rest_lower == t.rest_upper && std::abs(t.rest_lower - length) <= kSameLength;
  if (!by_itself && t.rest_lower < 0) w.lose("tendon springs with a negative rest length", t.name);
  if (!by_itself && t.rest_lower >= 0) w.set(e, "springlength", std::array{t.rest_lower, t.rest_upper});
  if (!t.path.empty()) w.set_unless(e, "width", t.width, 0.003);
  if (!t.path.empty() && t.rgba.size() == 4) w.set(e, "rgba", t.rgba);
  write_path(w, f, t, e);
  write_terms(w, f, t.terms, e);
}

/// A spring between two points becomes a tendon; a rope is slack below its rest length.
void write_spring(Writer& w, const SpringDescription& s) {
  Element& e = w.add(w.section("tendon"), "spatial");
  w.set(e, "name", w.take_name("tendon", {}, s.name));
  w.set(e, "stiffness", s.stiffness);
  w.set_unless(e, "damping", s.damping, 0);
  if (s.pull_only && s.damping != 0) w.lose("ropes that are undamped while slack", s.name);
  const LinkPlace a = w.find_place(s.a.figure, s.a.link), b = w.find_place(s.b.figure, s.b.link);
  const auto point = [&](const LinkPlace& at, const Anchor& anchor) {
    const Transform<> X = at.X_BL * to_transform(anchor.pose);
    return at.body < 0 ? X.p : (w.bodies[std::size_t(at.body)].X_W0 * X).p;
  };
  const double rest = s.rest_length.value_or(norm(point(a, s.a) - point(b, s.b)));
  w.set(e, "springlength", std::array{s.pull_only ? 0 : rest, rest});
  for (const Anchor* anchor : {&s.a, &s.b}) {
    const std::string wanted = s.name + (anchor == &s.a ? "_a" : "_b");
    w.set(w.add(e, "site"), "site", w.site_at(anchor->figure, anchor->link, anchor->pose, wanted));
  }
}

}  // namespace

void write_terms(Writer& w, const FigureDescription& f, const std::vector<TendonTerm>& terms, Element& tendon) {
  for (const TendonTerm& term : terms) {
    Element& joint = w.add(tendon, "joint");
    w.set(joint, "joint", w.joint_of(f.name, term.dof));
    w.set(joint, "coef", term.ratio);
  }
}

double reference_length(const Writer& w, const FigureDescription& f, const TendonDescription& t) {
  double length = 0;
  for (const TendonTerm& term : t.terms) {
    const JointDescription* joint = find_named(f.model.joints, term.dof.joint);
    if (joint) length += term.ratio * reference_of(f, *joint)[std::size_t(term.dof.index)];
  }
  if (t.path.empty()) return length;
  std::vector<PathPart> path;
  for (const TendonPart& part : t.path) {
    PathPart& p = path.emplace_back(PathPart{.kind = part.kind, .divisor = part.divisor, .radius = part.radius});
    if (part.kind == TendonPartKind::kPulley) continue;
    const PlaceOnBody at = locate(w, f, part.at);
    p.body = at.body, p.X_BP = at.X_BP;
    if (!part.side) continue;
    const PlaceOnBody side = locate(w, f, *part.side);
    p.has_side = true, p.side_body = side.body, p.side = side.X_BP.p, p.side_is = part.side_is;
  }
  std::vector<Transform<>> X_WB;
  for (const WrittenBody& body : w.bodies) X_WB.push_back(body.X_W);
  PathTrace trace;
  trace_path(path, X_WB, trace);
  return trace.length;
}

void write_tendons(Writer& w) {
  for (const FigureDescription& f : w.scene.figures) {
    for (const TendonDescription& t : f.actuation.tendons) write_tendon(w, f, t);
  }
  for (const SpringDescription& s : w.scene.springs) write_spring(w, s);
}

}  // namespace kansetsu::io::mjcf
