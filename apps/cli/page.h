#pragma once

#include "cli/chart.h"

/// Self-contained pages (.html) of tables and charts, for light and dark displays.
namespace kansetsu::cli {

using PageRows = std::vector<std::vector<std::string>>;

/// @param head  whether the first row is a header
std::string html_table(const PageRows& rows, bool head);
/// A chart that fills the width of the page.
std::string page_chart(const TimeChart& chart);
std::string html_page(const std::string& title, const std::string& content);

}  // namespace kansetsu::cli
