#pragma once

#include <string>

#include "cli/json_writer.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// By which methods contacts were solved, for people and as an object of a JSON report.
std::string tier_text(const WorldTotals& totals);
void write_tiers(const WorldTotals& totals, JsonWriter& json);

}  // namespace kansetsu::cli
