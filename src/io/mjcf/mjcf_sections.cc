#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::mjcf {

namespace {

template <class Part>
PlaceOf<Part> find_part(const Reader& reader, const PartIndex::Places& places, std::vector<Part> Body::* parts,
                        std::string_view name) {
  const auto* place = find_in(places, name);
  if (!place) return {};
  return {place->first, &(reader.body(place->first).*parts)[std::size_t(place->second)]};
}

}  // namespace

JointPlace find_joint(const Reader& reader, std::string_view name) {
  return find_part(reader, reader.index.joints, &Body::joints, name);
}
SitePlace find_site(const Reader& reader, std::string_view name) {
  return find_part(reader, reader.index.sites, &Body::sites, name);
}
GeomPlace find_geom(const Reader& reader, std::string_view name) {
  return find_part(reader, reader.index.geoms, &Body::geoms, name);
}

void unknown(Reader& reader, const Element& at, const char* kind, const std::string& name) {
  reader.report.error(at, kUnknownName, fmt::format("unknown {} {}", kind, quote(name)),
                      "define it, or correct the name");
}

namespace {

std::string equality_name(Reader& reader, const Element& element) {
  return take_name(reader, element, "equality", fmt::format("equality{}", reader.names["equality"].size() + 1));
}

}  // namespace

void add_coupling(Reader& reader, const Element& element, int figure, const CoupledPart& dependent,
                  const std::optional<CoupledPart>& driver, bool tendons) {
  PolynomialCoupling coupling;
  coupling.name = equality_name(reader, element);
  coupling.tendons = tendons;
  coupling.dependent = {dependent.name, 0};
  coupling.reference = dependent.reference;
  if (driver) {
    coupling.driver = DofRef{driver->name, 0};
    coupling.driver_reference = driver->reference;
  }
  coupling.coefficient = {0, 1, 0, 0, 0};
  Attributes(reader, element, nullptr).numbers("polycoef", coupling.coefficient, 1);
  coupling.line = element.GetLineNum();
  reader.figure(figure).couplings.push_back(std::move(coupling));
}

namespace {

/// The body that an attribute names; the world if it is absent and need not be there.
std::optional<int> read_body_name(Reader& reader, const Element& element, const char* attribute, bool required) {
  const auto name =
      required ? read_required_text(reader.report, element, attribute) : read_text(reader.report, element, attribute);
  if (!name) return required ? std::nullopt : std::optional<int>(0);
  return find_known(reader, element, "body", *name, find_body);
}

struct Closure {
  int body1 = 0, body2 = 0;
  Transform<> X_1A, X_2B;  ///< where they meet, on each body
};

std::optional<Closure> read_sites(Reader& reader, const Element& element) {
  Closure ends;
  for (const bool first : {true, false}) {
    const SitePlace found = read_named(reader, element, first ? "site1" : "site2", "site", find_site);
    if (!found) return std::nullopt;
    (first ? ends.body1 : ends.body2) = found.body;
    (first ? ends.X_1A : ends.X_2B) = found->X_BS;
  }
  return ends;
}

/// Anchors on two bodies that coincide in the reference configuration, or as relpose specifies.
std::optional<Closure> read_bodies(Reader& reader, const Element& element, bool weld) {
  const auto body1 = read_body_name(reader, element, "body1", true),
             body2 = read_body_name(reader, element, "body2", false);
  if (!body1 || !body2) return std::nullopt;
  Closure ends{*body1, *body2, {}, {}};
  const Attributes a(reader, element, nullptr);
  const Transform<>& X_W1 = reader.body(*body1).X_WB;
  const Transform<>& X_W2 = reader.body(*body2).X_WB;
  if (!weld) {
    if (!a.has("anchor"))
      report_missing(reader.report, element, "attribute anchor", "give the point in the frame of body1");
    a.vec3("anchor", ends.X_1A.p);
    ends.X_2B = inverse(X_W2) * X_W1 * ends.X_1A;
    return ends;
  }
  std::array<double, 7> pose{};
  ends.X_1A = inverse(X_W1) * X_W2;
  if (a.numbers("relpose", pose, 7) == 7) {
    if (const auto turn = turn_of(std::span(pose).subspan<3, 4>()))
      ends.X_1A = {to_mat3(*turn), {pose[0], pose[1], pose[2]}};
  }
  return ends;
}

/// A loop within a figure, or a connection between two; nothing if neither end can move.
void add_closure(Reader& reader, const Element& element, const Closure& ends, ConstraintMask mask, bool active) {
  const int figure1 = reader.body(ends.body1).figure, figure2 = reader.body(ends.body2).figure;
  const std::string name = equality_name(reader, element);
  if (figure1 < 0 && figure2 < 0) return;
  const Anchor a = anchor_on(reader, ends.body1, ends.X_1A), b = anchor_on(reader, ends.body2, ends.X_2B);
  const int line = element.GetLineNum();
  if (figure1 == figure2 && active) {
    reader.figure(figure1).loops.push_back({name, a.link, b.link, a.pose, b.pose, mask, line});
    return;
  }
  ConnectionDescription connection;
  connection.name = name;
  connection.a = a;
  connection.b = b;
  connection.mask = mask;
  connection.hold = Hold::kTogether;
  connection.active = active;
  connection.line = line;
  reader.scene.connections.push_back(std::move(connection));
}

void read_coupling(Reader& reader, const Element& element, bool active) {
  const auto name1 = read_required_text(reader.report, element, "joint1"),
             name2 = read_text(reader.report, element, "joint2");
  if (!name1) return;
  const JointPlace first = find_known(reader, element, "joint", *name1, find_joint);
  const JointPlace second = first && name2 ? find_known(reader, element, "joint", *name2, find_joint) : JointPlace{};
  if (!first || (name2 && !second)) return;
  const auto scalar = [](const Joint& joint) {
    return joint.kind == JointKind::kHinge || joint.kind == JointKind::kSlide;
  };
  if (!scalar(*first.part) || (second && !scalar(*second.part)))
    return reader.report.error(element, kRange, "only hinge and slide joints can be coupled",
                               "name joints of one coordinate");
  if (!active) return reader.report.warning(element, kEquality, "inactive couplings are ignored");
  const int figure = reader.body(first.body).figure;
  if (second && reader.body(second.body).figure != figure)
    return reader.report.missing(element, kEquality, "a coupling of joints of two figures is ignored");
  std::optional<CoupledPart> driver;
  if (second) driver = CoupledPart{*name2, second->reference};
  add_coupling(reader, element, figure, {*name1, first->reference}, driver, false);
}

ShapeRef shape_of(const Reader& reader, const GeomPlace& place) {
  const int figure = reader.body(place.body).figure;
  return {place->shape.name, {}, figure < 0 ? "" : reader.figure(figure).name};
}

/// Lookups for exclusions, computed once.
struct ContactParts {
  std::map<std::string, int> fixed{};  ///< lines of named shapes of the environment
  std::vector<int> welded{};           ///< by body: how many bodies welded to it can touch, itself included
};
ContactParts contact_parts(const Reader& reader) {
  ContactParts out;
  for (const EnvironmentShape& shape : reader.scene.environment) out.fixed.emplace(shape.shape.name, shape.line);
  std::vector<std::pair<int, int>> weld;  // of each body: its figure, and the body with the joints; 0: none
  std::map<std::pair<int, int>, int> count;
  for (int i = 0; i < int(reader.bodies.size()); ++i) {
    const Body& body = reader.body(i);
    const int carrier = !body.joints.empty() ? i : body.parent > 0 ? weld[std::size_t(body.parent)].second : 0;
    weld.emplace_back(body.figure, carrier);
    count[weld.back()] += std::ranges::any_of(body.geoms, [&](const Geom& geom) { return can_touch(reader, geom); });
  }
  for (const auto& key : weld) out.welded.push_back(count.at(key));
  return out;
}

void read_exclude(Reader& reader, const Element& element, const ContactParts& parts) {
  constexpr std::size_t kMostExclusions = 1'000'000;  // a body that cannot move is all of its geoms
  const auto a = read_body_name(reader, element, "body1", true), b = read_body_name(reader, element, "body2", true);
  if (!a || !b) return;
  const Body& first = reader.body(*a);
  const Body& second = reader.body(*b);
  // A filter of the model is between all that is welded to the two bodies.
  const bool alone = parts.welded[std::size_t(*a)] <= 1 && parts.welded[std::size_t(*b)] <= 1;
  if (first.figure == second.figure && first.figure >= 0 && alone) {
    reader.figure(first.figure).model.collision_filters.push_back({first.name, second.name});
    return;
  }
  if (first.figure < 0 && second.figure < 0) return;  // they never touch
  // A fixed body is represented by its shapes in the environment.
  const auto shapes_of = [&](const Body& body) {
    std::vector<ShapeRef> refs;
    if (body.figure >= 0) return std::vector<ShapeRef>{{{}, body.name, reader.figure(body.figure).name}};
    for (const Geom& geom : body.geoms) {
      const auto shape = parts.fixed.find(geom.shape.name);
      if (shape != parts.fixed.end() && shape->second == geom.element->GetLineNum())
        refs.push_back({geom.shape.name, {}, {}});
    }
    return refs;
  };
  if (reader.scene.exclusions.size() + first.geoms.size() + second.geoms.size() > kMostExclusions)
    return reader.report.error(element, kTooLargeModel,
                               fmt::format("more than {} pairs of shapes are excluded", kMostExclusions),
                               "reduce the number of geoms on fixed bodies");
  for (const ShapeRef& x : shapes_of(first)) {
    for (const ShapeRef& y : shapes_of(second)) reader.scene.exclusions.push_back({x, y, element.GetLineNum()});
  }
}

void read_pair(Reader& reader, const Element& element) {
  const GeomPlace first = read_named(reader, element, "geom1", "geom", find_geom),
                  second = read_named(reader, element, "geom2", "geom", find_geom);
  if (!first || !second) return;
  ContactPair pair{shape_of(reader, first), shape_of(reader, second), {}, element.GetLineNum()};
  // The parameters of a pair do not depend on its geoms.
  const Attributes a = attributes_of(reader, element, "pair", {});
  std::array<double, 5> friction{1, 1, 0.005, 0.0001, 0.0001};
  int condim = 3;
  a.numbers("friction", friction, 1);
  a.integer("condim", condim);
  const double mu = condim == 1 ? 0 : std::max(friction[0], 0.0);
  const bool known = mu > 0 && friction[2] >= 0 && friction[3] >= 0;
  pair.surface = fmt::format("pair{}", reader.scene.pairs.size() + 1);
  reader.scene.surfaces.push_back(
      {pair.surface, contact_material(mu, known && condim >= 4 ? friction[2] : 0,
                                      known && condim == 6 ? friction[3] : 0, read_margin(reader, a))});
  reader.scene.pairs.push_back(std::move(pair));
}

/// The sizes of a joint in qpos and qvel.
std::pair<std::size_t, std::size_t> sizes_of(JointKind kind) {
  static constexpr std::pair<std::size_t, std::size_t> kSizes[] = {{7, 6}, {4, 3}, {1, 1}, {1, 1}};
  return kSizes[std::size_t(kind)];
}

/// A vector of a keyframe; an error unless it has this size.
std::optional<std::vector<double>> read_vector(Reader& reader, const Element& element, const char* name,
                                               std::size_t size) {
  if (is_blank(element.Attribute(name))) return std::nullopt;
  std::vector<double> values(size);
  if (auto problem = parse_numbers(element.Attribute(name), values))
    return reader.report.refuse(element, kKeySize, fmt::format("{}: {}", name, *problem),
                                fmt::format("the model needs {} numbers", size));
  return values;
}

/// A quaternion w x y z of a keyframe; zero is the identity, as in MuJoCo.
Quaternion<> key_turn(const double* q) { return turn_of(std::span<const double, 4>(q, 4)).value_or(Quaternion<>{}); }

void read_free_state(const double* q, FigureState& state) {
  state.base = to_pose({to_mat3(key_turn(q + 3)), {q[0], q[1], q[2]}});
}

/// What a keyframe applies to: the whole model, or the parts attached together with it.
struct KeyParts {
  std::vector<const Body*> bodies, given;  ///< bodies with joints; mocap bodies
  std::vector<const Reader::Input*> inputs;
  std::size_t nq = 0, nv = 0, na = 0;
};

KeyParts parts_of(const Reader& reader, const Element& key) {
  static const std::vector<int> kNone;
  const auto through = [&](const Element* element) -> const std::vector<int>& {
    const auto* found = find_in(reader.attached, element);
    return found ? *found : kNone;
  };
  const std::vector<int>& scope = through(&key);
  const auto within = [&](const Element* element) {
    const std::vector<int>& all = through(element);
    return std::ranges::all_of(scope, [&](int n) { return contains(all, n); });
  };
  KeyParts out;
  for (const Body& body : reader.bodies) {
    if (!within(body.element)) continue;
    if (body.mocap && body.figure >= 0) out.given.push_back(&body);
    if (!body.joints.empty()) out.bodies.push_back(&body);
    for (const Joint& joint : body.joints) {
      out.nq += sizes_of(joint.kind).first;
      out.nv += sizes_of(joint.kind).second;
    }
  }
  for (const Reader::Input& input : reader.inputs) {
    if (!within(input.element)) continue;
    out.inputs.push_back(&input);
    out.na += input.has_activation;
  }
  return out;
}

/// Whether a keyframe of an attached model has the sizes of the attached parts.
bool is_complete(const Element& key, const KeyParts& parts) {
  const auto fits = [&](const char* name, std::size_t size) {
    const char* text = key.Attribute(name);
    std::vector<double> values(size);
    return is_blank(text) || !parse_numbers(text, values);
  };
  return fits("qpos", parts.nq) && fits("qvel", parts.nv) && fits("ctrl", parts.inputs.size()) &&
         fits("act", parts.na) && fits("mpos", 3 * parts.given.size()) && fits("mquat", 4 * parts.given.size());
}

/// ctrl and act of a keyframe, by figure and actuator; controls are clamped to their ranges.
void read_controls(Reader& reader, const Element& element, const KeyParts& parts, Keyframe& key) {
  const auto ctrl = read_vector(reader, element, "ctrl", parts.inputs.size());
  const auto act = read_vector(reader, element, "act", parts.na);
  std::size_t next = 0;
  for (std::size_t i = 0; i < parts.inputs.size(); ++i) {
    const Reader::Input& input = *parts.inputs[i];
    const std::size_t at = next;
    next += input.has_activation;
    if (input.figure < 0) continue;
    FigureState& state = key.figures[reader.figure(input.figure).name];
    if (ctrl) state.control[input.name] = input.range.clamp((*ctrl)[i]);
    if (act && input.has_activation) state.activation[input.name] = (*act)[at];
  }
}

/// Poses of mocap bodies.
void read_mocap(Reader& reader, const Element& element, const std::vector<const Body*>& bodies, Keyframe& key) {
  const auto places = read_vector(reader, element, "mpos", 3 * bodies.size());
  const auto turns = read_vector(reader, element, "mquat", 4 * bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Pose before = to_pose(bodies[i]->X_WB);
    const Quaternion<> q = to_quaternion(bodies[i]->X_WB.R);
    std::array<double, 7> pose{before.p.x, before.p.y, before.p.z, q.w, q.x, q.y, q.z};
    if (places) std::copy_n(places->begin() + std::ptrdiff_t(3 * i), 3, pose.begin());
    if (turns) std::copy_n(turns->begin() + std::ptrdiff_t(4 * i), 4, pose.begin() + 3);
    read_free_state(pose.data(), key.figures[reader.figure(bodies[i]->figure).name]);
  }
}

void read_key(Reader& reader, const Element& element) {
  const KeyParts parts = parts_of(reader, element);
  if (reader.attached.contains(&element) && !is_complete(element, parts)) {
    reader.report.missing(element, kUnsupportedElement, "keyframes of models of which a part is attached are ignored");
    return;
  }
  Keyframe key;
  key.name = take_name(reader, element, "key", fmt::format("key{}", reader.scene.keyframes.size() + 1));
  key.line = element.GetLineNum();
  const Attributes a(reader, element, nullptr);
  a.number("time", key.time);
  const auto qpos = read_vector(reader, element, "qpos", parts.nq),
             qvel = read_vector(reader, element, "qvel", parts.nv);
  for (const FigureDescription& figure : reader.scene.figures) key.figures[figure.name] = figure.initial;
  read_mocap(reader, element, parts.given, key);
  read_controls(reader, element, parts, key);
  std::size_t iq = 0, iv = 0;
  for (const Body* body : parts.bodies) {
    for (const Joint& joint : body->joints) {
      const bool free = joint.kind == JointKind::kFree, ball = joint.kind == JointKind::kBall;
      FigureState& state = key.figures[reader.figure(body->figure).name];
      if (qpos) {
        const double* q = qpos->data() + iq;
        if (free)
          read_free_state(q, state);
        else if (const Quaternion<> turn = ball ? key_turn(q) : Quaternion<>{}; ball)
          state.q[joint.name] = {turn.x, turn.y, turn.z, turn.w};
        else
          state.q[joint.name] = {*q};
      }
      if (qvel) {
        const double* v = qvel->data() + iv;
        if (free) {
          const Mat3<> R = to_transform(state.base).R;
          state.velocity = {R * Vec3<>{v[3], v[4], v[5]}, {v[0], v[1], v[2]}};
        } else if (ball) {
          state.v[joint.name] = {v[0], v[1], v[2]};
        } else {
          state.v[joint.name] = {*v};
        }
      }
      iq += sizes_of(joint.kind).first;
      iv += sizes_of(joint.kind).second;
    }
  }
  reader.scene.keyframes.push_back(std::move(key));
}

}  // namespace

void read_equalities(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "equality")) {
    const std::string_view tag = element->Name();
    const bool weld = tag == "weld";
    const Attributes a = attributes_of(reader, *element, "equality", {});
    const bool active = a.boolean("active").value_or(true);
    if (!reader.equalities) continue;
    if (tag == "joint") {
      read_coupling(reader, *element, active);
    } else if (tag == "tendon") {
      read_tendon_coupling(reader, *element, active);
    } else if (tag == "connect" || weld) {
      const auto ends =
          element->Attribute("site1") ? read_sites(reader, *element) : read_bodies(reader, *element, weld);
      if (ends) add_closure(reader, *element, *ends, weld ? kWeldMask : kPointMask, active);
    }
  }
}

void read_contacts(Reader& reader, const Element& root) {
  const ContactParts parts = contact_parts(reader);
  for (const Element* element : sections(reader, root, "contact")) {
    const std::string_view tag = element->Name();
    if (tag == "exclude")
      read_exclude(reader, *element, parts);
    else if (tag == "pair")
      read_pair(reader, *element);
  }
}

void read_keyframes(Reader& reader, const Element& root) {
  constexpr std::size_t kMostStates =
      2'000'000;  // of bodies and actuators in all keys: six letters ask for one of each
  const std::vector<const Element*> keys = sections(reader, root, "keyframe");
  const std::size_t each = std::max<std::size_t>(1, reader.bodies.size() + reader.inputs.size());
  if (keys.size() > kMostStates / each)
    return reader.report.error(*keys.front(), kTooLargeModel,
                               fmt::format("{} keyframes of {} bodies and actuators", keys.size(), each),
                               "remove some of them");
  for (const Element* element : keys) {
    if (std::string_view(element->Name()) == "key") read_key(reader, *element);
  }
}

}  // namespace kansetsu::io::mjcf
