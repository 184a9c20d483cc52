#pragma once

#include <string>

#include "cli/json_writer.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// The methods that solved the contacts, as text and as an object of a JSON report.
std::string tier_text(const WorldTotals& totals);
void write_tiers(const WorldTotals& totals, JsonWriter& json);

}  // namespace kansetsu::cli
