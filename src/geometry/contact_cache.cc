#include "kansetsu/geometry/contact_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "kansetsu/base/error.h"

namespace kansetsu {

ContactId ContactCache::new_id() {
  if (free_slots_.empty()) {
    generations_.push_back(0);
    free_slots_.push_back(int(generations_.size()) - 1);
    if (free_slots_.capacity() < generations_.capacity()) free_slots_.reserve(generations_.capacity());
  }
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return {slot, ++generations_[std::size_t(slot)]};
}

void ContactCache::free_id(ContactId id) {
  ++generations_[std::size_t(id.slot)];
  free_slots_.push_back(id.slot);
}

bool ContactCache::alive(ContactId id) const {
  return id.slot >= 0 && id.slot < slots() && generations_[std::size_t(id.slot)] == id.generation &&
         id.generation % 2 == 1;
}

void ContactCache::clear() {
  for (const Remembered& r : now_) free_id(r.id);
  now_.clear();
  matches_.clear();
  ended_.clear();
}

void ContactCache::repeat(int i, int times, std::span<const Vec3<>> p_W) {
  Remembered& r = now_[std::size_t(i)];
  check_size("ContactCache::repeat", "p_W", long(p_W.size()), r.count);
  r.age += times;
  std::copy(p_W.begin(), p_W.end(), r.p_W.begin());
}

namespace {

/// Points of now to points of last: by feature, then the nearest pairs of what is left, in order of their distance.
template <class Remembered>
void match_points(const Remembered& now, const Remembered& last, double reach, ContactMatch& match) {
  if (now.count == last.count) {  // mostly nothing has changed
    bool same = true;
    for (int i = 0; i < now.count; ++i) same &= now.features[std::size_t(i)] == last.features[std::size_t(i)];
    for (int i = 0; same && i < now.count; ++i) match.previous_point[std::size_t(i)] = std::int8_t(i);
    if (same) return;
  }
  bool taken[kMaxManifoldPoints] = {};
  for (int i = 0; i < now.count; ++i) {
    for (int k = 0; k < last.count; ++k) {
      if (taken[k] || now.features[std::size_t(i)] != last.features[std::size_t(k)]) continue;
      match.previous_point[std::size_t(i)] = std::int8_t(k);
      taken[k] = true;
      break;
    }
  }
  for (;;) {
    int best_i = -1, best_k = -1;
    double best = reach * reach;
    for (int i = 0; i < now.count; ++i) {
      if (match.previous_point[std::size_t(i)] >= 0) continue;
      for (int k = 0; k < last.count; ++k) {
        if (taken[k]) continue;
        const Vec3<> d = now.p_W[std::size_t(i)] - last.p_W[std::size_t(k)];
        if (const double d2 = dot(d, d); d2 < best) {
          best = d2;
          best_i = i;
          best_k = k;
        }
      }
    }
    if (best_i < 0) return;
    match.previous_point[std::size_t(best_i)] = std::int8_t(best_k);
    taken[best_k] = true;
  }
}

}  // namespace

void ContactCache::update(std::span<const PairKey> keys, std::span<const Manifold> manifolds) {
  check_size("ContactCache::update", "manifolds", long(manifolds.size()), long(keys.size()));
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (!(keys[i - 1] < keys[i])) {
      throw Error(fmt::format("ContactCache::update: key {} ({}, {}, {}) is not above the one before it", i, keys[i].a,
                              keys[i].b, keys[i].part));
    }
  }
  now_.swap(last_);
  now_.reserve(std::max(keys.size(), last_.capacity()));  // both lists grow together, so that swapping never costs
  now_.resize(keys.size());                               // what is there is written over
  matches_.clear();
  ended_.clear();
  std::size_t old = 0;  // both lists are sorted: one walk along both
  const auto end_old = [&] {
    ended_.push_back(last_[old].id);
    free_id(last_[old].id);
    ++old;
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    while (old < last_.size() && last_[old].key < keys[i]) end_old();
    Remembered& now = now_[i];
    now.key = keys[i], now.id = {}, now.age = 0, now.count = manifolds[i].count;
    for (int k = 0; k < now.count; ++k) {
      now.features[std::size_t(k)] = manifolds[i].points[k].feature;
      now.p_W[std::size_t(k)] = manifolds[i].points[k].p_W;
    }
    ContactMatch& match = matches_.emplace_back();
    if (old < last_.size() && last_[old].key == keys[i]) {
      now.id = last_[old].id;
      now.age = last_[old].age + 1;
      match.previous = int(old);
      match_points(now, last_[old], match_distance_, match);
      ++old;
    } else {
      now.id = new_id();
    }
    match.id = now.id;
    match.age = now.age;
  }
  while (old < last_.size()) end_old();
}

}  // namespace kansetsu
