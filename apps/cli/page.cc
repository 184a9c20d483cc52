#include "cli/page.h"

#include <fmt/format.h>

namespace kansetsu::cli {
namespace {

constexpr double kPageWidth = 860, kPageChart = 190;

constexpr const char* kPageStyle = R"(<style>
body { font-family: sans-serif; font-size: 14px; line-height: 1.45; max-width: 880px; margin: 24px auto; padding: 0 12px; color: #24292f; background: #ffffff }
h1 { font-size: 22px } h2 { font-size: 16px; margin-top: 28px } table { border-collapse: collapse } td, th { padding: 2px 14px 2px 0; text-align: right }
td:first-child, th:first-child { text-align: left } th { font-weight: 600; border-bottom: 1px solid #d0d7de } svg { width: 100%; height: auto }
.warn { color: #9a3412 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th { border-color: #30363d } .warn { color: #f0a060 } }
</style>
)";

}  // namespace

std::string html_table(const PageRows& rows, bool head) {
  std::string out = "<table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    const char* cell = head && r == 0 ? "th" : "td";
    for (const std::string& text : rows[r]) out += fmt::format("<{}>{}</{}>", cell, escaped(text), cell);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string page_chart(const TimeChart& chart) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\">\n", kPageWidth, kPageChart) +
         draw(chart, {0, 0, kPageWidth, kPageChart}) + "</svg>\n";
}

std::string html_page(const std::string& title, const std::string& content) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n",
                     escaped(title)) +
         chart_style() + kPageStyle + fmt::format("</head><body>\n<h1>{}</h1>\n", escaped(title)) + content +
         "</body></html>\n";
}

}  // namespace kansetsu::cli
