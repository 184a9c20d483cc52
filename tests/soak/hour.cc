#include "hour.h"

#include <malloc.h>

#include <cstring>

#include "crowd.h"
#include "kansetsu/base/error.h"

namespace kansetsu::test {
namespace {

// Steps of a millisecond: every two seconds somebody is thrown up, then hands are joined, then let go.
constexpr std::uint64_t kPeriod = 2000, kThrow = 50, kGrip = 600, kRelease = 1400;
constexpr std::uint64_t kTurns = 4;  // a figure is thrown in every fourth period
constexpr double kThrowSpeed = 3;    // [m/s]: half a metre up
constexpr std::string_view kMark = "kansetsu hour 1\n";

}  // namespace

Hour::Hour(int figures, int threads) : world_(crowd(figures, threads)) {}

void Hour::step() {
  const std::uint64_t n = world_.totals().steps, phase = n % kPeriod, turn = n / kPeriod;
  const auto count = std::uint64_t(world_.figure_count());
  if (phase < kThrow) {
    for (std::uint64_t i = turn % kTurns; i < count; i += kTurns) {
      const BodyRef body{FigureId(int(i)), LinkId(0)};
      const double force =
          world_.model(body.figure).mass() * (kThrowSpeed / (double(kThrow) * world_.time_step()) + 9.81);
      world_.apply_wrench(body, {{}, {0, 0, force}}, world_.pose(body).p);
    }
  }
  if (phase == kGrip && count > 1) {
    const FigureId a{int(turn % (count - 1))}, b{a.value() + 1};
    ConnectionOptions hands{.mask = kPointMask, .hold = Hold::kRelativePose, .name = "hands"};
    grips_.push_back(
        world_.connect({a, world_.model(a).link_id("LowerArmL")}, {b, world_.model(b).link_id("LowerArmR")}, hands));
  }
  if (phase == kRelease) {
    for (const ConnectionId id : grips_) {
      if (world_.connected(id)) world_.release(id);
    }
    grips_.clear();
  }
  world_.step();
}

std::string Hour::save() const {
  std::string out(kMark);
  const auto put = [&](std::int32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(std::int32_t(grips_.size()));
  for (const ConnectionId id : grips_) put(id.value());
  return out + world_.save().to_bytes();
}

void Hour::restore(std::string_view bytes) {
  const auto take = [&](std::size_t size) {
    if (size > bytes.size()) throw Error("Hour::restore: the bytes are truncated");
    const std::string_view piece = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return piece;
  };
  const auto number = [&] {
    std::int32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  };
  if (take(kMark.size()) != kMark) throw Error("Hour::restore: this is no saved run");
  std::vector<ConnectionId> grips;
  for (std::int32_t left = number(); left > 0; --left) grips.emplace_back(number());
  world_.restore(Snapshot::from_bytes(bytes));
  grips_ = std::move(grips);
}

std::size_t heap_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace kansetsu::test
