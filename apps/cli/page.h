#pragma once

#include "cli/chart.h"

/// Pages (.html) that stand by themselves: tables and charts, in light and dark alike.
namespace kansetsu::cli {

using PageRows = std::vector<std::vector<std::string>>;

/// @param head  the first row is one
std::string html_table(const PageRows& rows, bool head);
/// A chart as wide as the page.
std::string page_chart(const TimeChart& chart);
std::string html_page(const std::string& title, const std::string& content);

}  // namespace kansetsu::cli
