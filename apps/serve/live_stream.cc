#include "serve/live_stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace kansetsu::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers go out as they are in memory");

constexpr std::uint8_t kWhole = 0, kChange = 1;
constexpr std::size_t kGap = 2;  // unchanged numbers between two runs that are cheaper than a second header

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_bodies(std::string& out, const io::BodyRef& a, const io::BodyRef& b) {
  for (const int index : {a.figure, a.link, b.figure, b.link}) put(out, static_cast<std::int32_t>(index));
}

std::string parts_of(const io::RecordedFrame& frame) {
  std::string out;
  put(out, static_cast<std::uint32_t>(frame.contacts.size()));
  for (const io::RecordedContact& c : frame.contacts) put_bodies(out, c.a, c.b);
  put(out, static_cast<std::uint32_t>(frame.connections.size()));
  for (const io::RecordedConnection& c : frame.connections) {
    put_bodies(out, c.a, c.b);
    put_text(out, c.name);
  }
  return out;
}

void add(std::vector<float>& out, const Vec3<>& a) {
  out.insert(out.end(), {static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z)});
}

/// All numbers of a frame but its time, in the order of the format.
void collect(const io::RecordedFrame& frame, std::vector<float>& out) {
  out.clear();
  for (const State& state : frame.states) {
    for (const Eigen::VectorXd* x : {&state.q, &state.v}) {
      for (Eigen::Index i = 0; i < x->size(); ++i) out.push_back(static_cast<float>((*x)[i]));
    }
  }
  for (const double x : frame.numbers) out.push_back(static_cast<float>(x));
  for (const io::RecordedContact& c : frame.contacts) {
    for (const Vec3<>* a : {&c.point, &c.normal, &c.force, &c.moment, &c.impulse}) add(out, *a);
    out.push_back(static_cast<float>(c.state));
  }
  for (const io::RecordedConnection& c : frame.connections) {
    for (const Vec3<>& a : {c.point, c.wrench.f, c.wrench.t}) add(out, a);
  }
}

/// Also true for numbers that are not finite, unless they are equal.
bool differs(float now, float sent) {
  return !(std::abs(now - sent) <= kQuietRatio * std::abs(sent) + kQuiet) &&
         std::bit_cast<std::uint32_t>(now) != std::bit_cast<std::uint32_t>(sent);
}

std::string opening(std::uint8_t kind, double time, const std::string& events) {
  std::string out;
  put(out, kind);
  put(out, time);
  return out + events;
}

void put_run(std::string& out, const std::vector<float>& values, std::size_t first, std::size_t end) {
  put(out, static_cast<std::uint32_t>(first));
  put(out, static_cast<std::uint32_t>(end - first));
  out.append(reinterpret_cast<const char*>(values.data() + first), (end - first) * sizeof(float));
}

}  // namespace

void LiveStream::next(const io::RecordedFrame& frame) {
  collect(frame, wanted_);
  std::string parts = parts_of(frame);
  events_.clear();
  put(events_, static_cast<std::uint32_t>(frame.events.size()));
  for (const std::string& event : frame.events) put_text(events_, event);
  time_ = frame.time;

  std::string out = opening(kChange, time_, events_);
  put(out, std::uint8_t(parts != parts_));
  if (parts != parts_) out += parts;
  parts_ = std::move(parts);

  const std::size_t known = std::min(values_.size(), wanted_.size());
  values_.resize(wanted_.size());
  const auto changed = [&](std::size_t i) { return i >= known || differs(wanted_[i], values_[i]); };
  for (std::size_t i = 0; i < wanted_.size();) {
    if (!changed(i)) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    std::size_t end = i;
    for (; i < wanted_.size() && i <= end + kGap; ++i) {
      if (!changed(i)) continue;
      values_[i] = wanted_[i];
      end = i + 1;
    }
    put_run(out, values_, first, end);
  }
  change_ = std::make_shared<const std::string>(std::move(out));
  whole_.reset();
}

LiveStream::Message LiveStream::whole() {
  if (!whole_) {
    std::string out = opening(kWhole, time_, events_);
    put(out, std::uint8_t{1});
    out += parts_;
    put_run(out, values_, 0, values_.size());
    whole_ = std::make_shared<const std::string>(std::move(out));
  }
  return whole_;
}

}  // namespace kansetsu::serve
