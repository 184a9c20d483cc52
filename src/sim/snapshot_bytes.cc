#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>

#include "kansetsu/base/error.h"
#include "sim/snapshot.h"

/// Snapshots as bytes, for other processes of the same build: all members in order, numbers as in memory, a checksum at the end.
/// Members are listed by structured bindings: a new one does not compile until it is added here.
namespace kansetsu {

/// Writes all its arguments to a string, or reads them from one.
class SnapshotArchive {
 public:
  SnapshotArchive() = default;
  explicit SnapshotArchive(std::string_view bytes) : reading_(true), in_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(out_); }
  bool at_end() const { return in_.empty(); }

 private:
  /// Types without pointers: copied as bytes.
  template <class T>
  static constexpr bool kPlain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

  void raw(void* data, std::size_t size) {
    if (!reading_) {
      out_.append(static_cast<const char*>(data), size);
      return;
    }
    if (size > in_.size()) throw Error("Snapshot: the bytes are truncated");
    if (size > 0) std::memcpy(data, in_.data(), size);
    in_.remove_prefix(size);
  }
  std::uint64_t size(std::size_t present, std::size_t each) {
    std::uint64_t n = present;
    raw(&n, sizeof n);
    if (reading_ && n > in_.size() / each) throw Error("Snapshot: the bytes are truncated");
    return n;
  }

  template <class T>
    requires kPlain<T>
  void put(T& x) {
    raw(&x, sizeof x);
  }
  void put(std::string& s) {
    const std::uint64_t n = size(s.size(), 1);
    if (reading_) s.resize(n);
    raw(s.data(), n);
  }
  void put(Eigen::VectorXd& x) {
    const std::uint64_t n = size(std::size_t(x.size()), sizeof(double));
    if (reading_) x.resize(Eigen::Index(n));
    raw(x.data(), n * sizeof(double));
  }
  void put(Eigen::ArrayXd& x) {
    const std::uint64_t n = size(std::size_t(x.size()), sizeof(double));
    if (reading_) x.resize(Eigen::Index(n));
    raw(x.data(), n * sizeof(double));
  }
  template <class T>
  void put(std::vector<T>& all) {
    const std::uint64_t n = size(all.size(), 1);
    if constexpr (kPlain<T>) {
      if (reading_ && n > in_.size() / sizeof(T)) throw Error("Snapshot: the bytes are truncated");
      if (reading_) all.assign(n, T(std::bit_cast<T>(std::array<std::byte, sizeof(T)>{})));
      raw(all.data(), n * sizeof(T));
    } else {
      if (reading_) all.assign(n, T{});
      for (T& x : all) put(x);
    }
  }
  template <class T>
    requires(!kPlain<std::optional<T>>)
  void put(std::optional<T>& x) {
    bool is = x.has_value();
    put(is);
    if (reading_) x = is ? std::optional<T>(T{}) : std::nullopt;
    if (is) put(*x);
  }

  template <class A, class B>
    requires(!kPlain<std::pair<A, B>>)
  void put(std::pair<A, B>& x) {
    (*this)(x.first, x.second);
  }

  void put(DofRef& x) {
    auto& [joint, index] = x;
    (*this)(joint, index);
  }
  void put(JointControl& x) {
    auto& [dof, value, amplitude, frequency, phase, deviation, kp, kd, effort] = x;
    (*this)(dof, value, amplitude, frequency, phase, deviation, kp, kd, effort);
  }
  void put(ControllerDescription& x) {
    auto& [name, figure, kind, joints, period, seed, active, line] = x;
    (*this)(name, figure, kind, joints, period, seed, active, line);
  }
  void put(ControllerState& x) {
    auto& [active, rng, next_draw, noise] = x;
    (*this)(active, rng, next_draw, noise);
  }
  void put(Controller& x) {
    auto& [description, figure, drives, joints, draws, limited, column, position, kp, kd, value, saturated, state] = x;
    (*this)(description, figure, drives, joints, draws, limited, column, position, kp, kd, value, saturated, state);
  }
  void put(ConnectionOptions& x) {
    auto& [mask, hold, X_AC, X_BC, force, torque, restitution, compliance, motion, name] = x;
    (*this)(mask, hold, X_AC, X_BC, force, torque, restitution.value, compliance.stiffness.value,
            compliance.damping.value, motion, name);
  }
  void put(ConnectionData& x) {
    // Members from `rows` on are geometry of a step; ends point into their world.
    auto& [a, b, options, X_AC, X_BD, active, is_new, kept, uses, start, wrench, impulse, struck, load, gap, angle,
           held, soft, rows, E, p, end_a, end_b, phi, velocity, acceleration, turn_axis, push, stored] = x;
    (*this)(a, b, options, X_AC, X_BD, active, is_new, kept, uses, start, wrench, impulse, struck, load, gap, angle,
            held, soft, rows, E, p, phi, velocity, acceleration, turn_axis, push, stored);
    if (reading_) end_a = end_b = RowEnd{};
  }
  void put(ShapeRef& x) {
    auto& [shape, link, figure] = x;
    (*this)(shape, link, figure);
  }
  void put(EventDescription& x) {
    auto& [name, trigger, time, connection, distance, force, torque, a, b, figure, dof, delay, once, action, target,
           line] = x;
    (*this)(name, trigger, time, connection, distance, force, torque, a, b, figure, dof, delay, once, action, target,
            line);
  }
  void put(EventData& x) {
    auto& [description, was_true, done, due] = x;
    (*this)(description, was_true, done, due);
  }
  void put(Event& x) {
    auto& [time, kind, name, detail] = x;
    (*this)(time, kind, name, detail);
  }
  void put(ContactCache& x) {
    (*this)(x.match_distance_, x.now_, x.last_, x.matches_, x.ended_, x.generations_, x.free_slots_);
  }
  void put(ContactFinder::Carried& x) {
    auto& [cache, remembered, arms] = x;
    (*this)(cache, remembered, arms);
  }

 public:
  void moment(WorldMoment& x) {
    auto& [time, q, v, vdot, torque, effort, bound, due, control, activation, external, wrenches, rest_time, nap,
           connections, contacts, gravity, controllers, event_states, sensors, events, totals, status, failure,
           next_step, shapes, springs] = x;
    (*this)(time, q, v, vdot, torque, effort, bound, due, control, activation, external, wrenches, rest_time, nap,
            connections, contacts, gravity, controllers, event_states, sensors, events, totals, status, failure,
            next_step, shapes, springs);
  }

 private:
  bool reading_ = false;
  std::string out_;
  std::string_view in_;
};

namespace {

constexpr std::string_view kSnapshotMark = "kansetsu snapshot 3\n";

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace

std::string Snapshot::to_bytes() const {
  if (!data_) throw Error("Snapshot::to_bytes: the snapshot is empty");
  WorldMoment copy = *data_;
  SnapshotArchive archive;
  archive.moment(copy);
  std::string out(kSnapshotMark);
  out += archive.take();
  const std::uint64_t sum = checksum(out);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return out;
}

Snapshot Snapshot::from_bytes(std::string_view bytes) {
  std::uint64_t sum = 0;
  if (!bytes.starts_with(kSnapshotMark) || bytes.size() < kSnapshotMark.size() + sizeof sum)
    throw Error("Snapshot::from_bytes: these bytes are not a snapshot of this version");
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  bytes.remove_suffix(sizeof sum);
  if (checksum(bytes) != sum) throw Error("Snapshot::from_bytes: the bytes are damaged");
  bytes.remove_prefix(kSnapshotMark.size());
  SnapshotArchive archive(bytes);
  auto data = std::make_shared<Data>();
  archive.moment(*data);
  if (!archive.at_end()) throw Error("Snapshot::from_bytes: these bytes are of another build");
  Snapshot out;
  out.data_ = std::move(data);
  return out;
}

}  // namespace kansetsu
