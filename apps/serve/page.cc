#include "serve/page.h"

#include <fmt/format.h>

#ifdef KANSETSU_VIEWER_PAGE
// The assembler puts the file into the program as it is.
asm(".section .rodata\n"
    "kansetsu_viewer_page_begin: .incbin \"" KANSETSU_VIEWER_PAGE
    "\"\n"
    "kansetsu_viewer_page_end: .byte 0\n"
    ".global kansetsu_viewer_page_begin\n"
    ".global kansetsu_viewer_page_end\n"
    ".text\n");
extern "C" {
extern const char kansetsu_viewer_page_begin[];
extern const char kansetsu_viewer_page_end[];
}
#endif

namespace kansetsu::serve {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u; };
    const unsigned group = (at(i) << 16) | (at(i + 1) << 8) | at(i + 2);
    out += kDigits[group >> 18];
    out += kDigits[(group >> 12) & 63];
    out += i + 1 < bytes.size() ? kDigits[(group >> 6) & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return out;
}

/// A text as the value of an attribute.
std::string attribute(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string_view viewer_page() {
#ifdef KANSETSU_VIEWER_PAGE
  return {kansetsu_viewer_page_begin, static_cast<std::size_t>(kansetsu_viewer_page_end - kansetsu_viewer_page_begin)};
#else
  return {};
#endif
}

std::string page_with_recording(std::string_view mcap, std::string_view name) {
  std::string page(viewer_page());
  constexpr std::string_view kHead = "<head>";
  if (const std::size_t head = page.find(kHead); head != std::string::npos) {  // a file has no server to say so
    page.insert(head + kHead.size(),
                fmt::format("\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", kPagePolicy));
  }
  const std::string data = "<script type=\"application/octet-stream\" id=\"recording\" data-name=\"" + attribute(name) +
                           "\">" + base64(mcap) + "</script>\n";
  const std::size_t at = page.rfind("<script type=\"module\">");
  return page.insert(at == std::string::npos ? page.size() : at, data);
}

}  // namespace kansetsu::serve
