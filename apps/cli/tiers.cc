#include "cli/tiers.h"

#include <fmt/format.h>

namespace kansetsu::cli {

namespace {

constexpr const char* kNames[kContactTiers] = {"none", "newton", "proximal", "unsolved"};

}  // namespace

std::string tier_text(const WorldTotals& totals) {
  return fmt::format("Newton steps {}, proximal steps {}, unsolved {}", totals.tiers[int(ContactTier::kNewton)],
                     totals.tiers[int(ContactTier::kProximal)], totals.tiers[int(ContactTier::kUnsolved)]);
}

void write_tiers(const WorldTotals& totals, JsonWriter& json) {
  json.key("tiers").begin_object();
  for (int i = 0; i < kContactTiers; ++i) json.entry(kNames[i], double(totals.tiers[i]));
  json.end_object();
}

}  // namespace kansetsu::cli
