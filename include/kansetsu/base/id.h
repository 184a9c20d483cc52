#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace kansetsu {

/// Index that cannot be mixed with another kind of index. A Model is immutable, so its ids never dangle.
template <class Tag>
class Id {
 public:
  constexpr explicit Id(int value) : value_(value) {}
  constexpr int value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::int32_t value_;
};

using LinkId = Id<struct LinkTag>;
using JointId = Id<struct JointTag>;
using FrameId = Id<struct FrameTag>;

}  // namespace kansetsu

template <class Tag>
struct std::hash<kansetsu::Id<Tag>> {
  std::size_t operator()(const kansetsu::Id<Tag>& id) const noexcept { return std::hash<int>{}(id.value()); }
};
