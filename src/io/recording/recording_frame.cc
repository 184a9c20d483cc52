#include "io/recording/recording_frame.h"

#include <algorithm>
#include <cmath>

#include "io/recording/proto.h"

namespace kansetsu::io {
namespace {

/// Contacts, connections and events of a frame: an empty one takes two bytes of a file and a hundred of memory.
constexpr std::size_t kMostParts = 1'000'000;

proto::Writer encode(const State& state) {
  const auto all = [](const Eigen::VectorXd& x) { return std::span<const double>(x.data(), std::size_t(x.size())); };
  return proto::Writer().numbers(1, all(state.q)).numbers(2, all(state.v));
}

void encode(proto::Writer& out, int field, const BodyRef& a, const BodyRef& b) {
  out.signed_varint(field, a.figure).signed_varint(field + 1, a.link);
  out.signed_varint(field + 2, b.figure).signed_varint(field + 3, b.link);
}

/// Fields `first` … `first` + 3; false if the field is another.
bool decode(proto::Reader& in, int first, BodyRef& a, BodyRef& b) {
  int* const targets[] = {&a.figure, &a.link, &b.figure, &b.link};
  if (in.field < first || in.field > first + 3) return false;
  *targets[in.field - first] = in.signed_varint();
  return true;
}

State decode_state(std::string_view bytes, bool& failed) {
  State state;
  proto::Reader in(bytes);
  while (in.next()) {
    if (in.field != 1 && in.field != 2) continue;
    Eigen::VectorXd& x = in.field == 1 ? state.q : state.v;
    in.numbers([&](std::size_t n) {
      x.resize(Eigen::Index(n));
      return x.data();
    });
  }
  failed = failed || in.failed;
  return state;
}

/// A state that a newer version knows is unknown here.
ContactState state_of(int number) {
  return number >= 0 && number <= int(ContactState::kImpact) ? ContactState(number) : ContactState::kUnknown;
}

/// A contact or a connection, whose bodies are in the fields from `first` on and whose vectors follow these.
template <class Record>
Record decode_force(std::string_view bytes, int first, bool& failed) {
  Record out;
  const auto vectors = vectors_of(out);
  proto::Reader in(bytes);
  while (in.next()) {
    if (decode(in, first, out.a, out.b)) continue;
    const int k = in.field - first - 4;
    if (k >= 0 && k < int(vectors.size())) *vectors[std::size_t(k)] = in.vec3();
    if constexpr (std::is_same_v<Record, RecordedConnection>) {
      if (in.field == 1) out.name = in.text();
    } else {
      if (in.field == 10) out.state = state_of(in.signed_varint());
    }
  }
  failed = failed || in.failed;
  return out;
}

bool fits(const RecordedFrame& frame, const RecordingHeader& header) {
  if (frame.states.size() != header.figures.size() || frame.numbers.size() != header.numbers.size()) return false;
  for (std::size_t i = 0; i < frame.states.size(); ++i) {
    const Model& model = header.figures[i].model;
    if (frame.states[i].q.size() != model.nq() || frame.states[i].v.size() != model.nv()) return false;
    if (!frame.states[i].q.allFinite() || !frame.states[i].v.allFinite()) return false;
  }
  const auto good = [&](const auto& c) { return fits(c.a, header) && fits(c.b, header) && is_finite(c); };
  if (!std::ranges::all_of(frame.contacts, good) || !std::ranges::all_of(frame.connections, good)) return false;
  return frame.time >= 0 && frame.time < kLatestTime;
}

}  // namespace

bool is_finite(const Vec3<>& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

bool fits(const BodyRef& body, const RecordingHeader& header) {
  if (body == BodyRef{}) return true;
  if (body.figure < 0 || std::size_t(body.figure) >= header.figures.size()) return false;
  return body.link >= 0 && body.link < header.figures[std::size_t(body.figure)].model.link_count();
}

std::string encode_frame(const RecordedFrame& frame) {
  proto::Writer out;
  out.number(1, frame.time);
  for (const State& state : frame.states) out.message(2, encode(state));
  for (const RecordedContact& c : frame.contacts) {
    proto::Writer inner;
    encode(inner, 1, c.a, c.b);
    inner.numbers(5, c.point).numbers(6, c.normal).numbers(7, c.force);
    if (c.moment != Vec3<>{}) inner.numbers(8, c.moment);
    if (c.impulse != Vec3<>{}) inner.numbers(9, c.impulse);
    if (c.state != ContactState::kUnknown) inner.signed_varint(10, int(c.state));
    out.message(3, inner);
  }
  for (const RecordedConnection& c : frame.connections) {
    proto::Writer inner;
    inner.text(1, c.name);
    encode(inner, 2, c.a, c.b);
    out.message(4, inner.numbers(6, c.point).numbers(7, c.wrench.f).numbers(8, c.wrench.t));
  }
  if (!frame.numbers.empty()) out.numbers(5, frame.numbers);
  for (const std::string& event : frame.events) out.text(6, event);
  return std::move(out.bytes);
}

std::optional<RecordedFrame> decode_frame(std::string_view bytes, const RecordingHeader& header) {
  RecordedFrame frame;
  bool failed = false;
  proto::Reader in(bytes);
  while (in.next()) {
    const std::size_t parts = frame.contacts.size() + frame.connections.size() + frame.events.size();
    if (parts > kMostParts || frame.states.size() > header.figures.size()) return std::nullopt;
    switch (in.field) {
      case 1:
        frame.time = in.number();
        break;
      case 2:
        frame.states.push_back(decode_state(in.text(), failed));
        break;
      case 3:
        frame.contacts.push_back(decode_force<RecordedContact>(in.text(), 1, failed));
        break;
      case 4:
        frame.connections.push_back(decode_force<RecordedConnection>(in.text(), 2, failed));
        break;
      case 5:
        frame.numbers = in.number_list();
        break;
      case 6:
        frame.events.emplace_back(in.text());
        break;
      default:
        break;
    }
  }
  if (failed || in.failed || !fits(frame, header)) return std::nullopt;
  return frame;
}

std::size_t memory_of(const RecordedFrame& frame) {
  std::size_t sum = sizeof frame + sizeof(State) * frame.states.size() + sizeof(double) * frame.numbers.size() +
                    sizeof(RecordedContact) * frame.contacts.size() +
                    sizeof(RecordedConnection) * frame.connections.size() + sizeof(std::string) * frame.events.size();
  for (const State& state : frame.states) sum += sizeof(double) * std::size_t(state.q.size() + state.v.size());
  for (const RecordedConnection& c : frame.connections) sum += c.name.size();
  for (const std::string& event : frame.events) sum += event.size();
  return sum;
}

}  // namespace kansetsu::io
