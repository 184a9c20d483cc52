#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "kansetsu/geometry/contact.h"

/// Identity of contacts from step to step.
namespace kansetsu {

/// The key of a contact: two shapes, and the part of them (Manifold::part).
struct PairKey {
  int a = 0, b = 0;
  std::uint32_t part = 0;
  friend auto operator<=>(const PairKey&, const PairKey&) = default;
};

/// Identifies a contact while it exists. A slot is reused after its contact has ended, with another generation.
struct ContactId {
  int slot = -1;
  std::uint32_t generation = 0;
  friend bool operator==(const ContactId&, const ContactId&) = default;
};

/// The relation of a contact of this step to the last step.
struct ContactMatch {
  ContactId id;
  int age = 0;        ///< steps it has lasted: 0 if it is new
  int previous = -1;  ///< index of its manifold in the last step, −1 if it is new
  /// Of each point, the index of the same point in the manifold of the last step, −1 if there is none. No index twice.
  std::array<std::int8_t, kMaxManifoldPoints> previous_point{-1, -1, -1, -1, -1, -1, -1, -1};
};

/// Remembers the manifolds of the last step and finds them again: points first by their feature, then by their distance.
/// A plain value: copy it to save it.
///
/// Data of contacts (forces for a warm start, slip states) can be stored in an array indexed by slot, which stays valid while
/// the contact exists, or stored by manifold and point and moved by carry().
class ContactCache {
 public:
  /// Points further apart than this from step to step are not the same point unless their feature is [m].
  explicit ContactCache(double match_distance = 0.02) : match_distance_(match_distance) {}

  /// Takes the manifolds of this step, sorted by key, each key once (throws Error otherwise). No allocation once it has seen
  /// as many contacts.
  void update(std::span<const PairKey> keys, std::span<const Manifold> manifolds);

  /// One per manifold of the last update.
  std::span<const ContactMatch> matches() const { return matches_; }
  /// Keys of the contacts of the last update, and the features of their points.
  int size() const { return int(now_.size()); }
  const PairKey& key(int i) const { return now_[std::size_t(i)].key; }
  ContactId id(int i) const { return now_[std::size_t(i)].id; }
  std::span<const std::uint32_t> features(int i) const {
    return {now_[std::size_t(i)].features.data(), std::size_t(now_[std::size_t(i)].count)};
  }
  /// As if update() had found contact i `times` more times, with the same features, the last time at these points.
  void repeat(int i, int times, std::span<const Vec3<>> p_W);
  /// Contacts of the step before that no longer exist.
  std::span<const ContactId> ended() const { return ended_; }
  /// 1 + the highest slot ever in use.
  int slots() const { return int(generations_.size()); }
  bool alive(ContactId id) const;
  void clear();

 private:
  friend class SnapshotArchive;  // writes worlds down
  struct Remembered {
    PairKey key;
    ContactId id;
    int age;
    int count;
    std::array<std::uint32_t, kMaxManifoldPoints> features;
    std::array<Vec3<>, kMaxManifoldPoints> p_W;
  };
  ContactId new_id();
  void free_id(ContactId id);

  double match_distance_;
  std::vector<Remembered> now_, last_;
  std::vector<ContactMatch> matches_;
  std::vector<ContactId> ended_;
  std::vector<std::uint32_t> generations_;  ///< by slot; odd while it is in use
  std::vector<int> free_slots_;             ///< the one freed last is used next
};

/// Values stored by point in the last step, moved to where those points are now; `none` where a point is new.
template <class T>
void carry(const ContactMatch& match, const T* last, int count, const T& none, T* now) {
  for (int i = 0; i < count; ++i) {
    const int old = match.previous_point[std::size_t(i)];
    now[i] = old < 0 ? none : last[old];
  }
}

}  // namespace kansetsu
