#pragma once

#include <cstdint>
#include <string_view>

#include "cli/command.h"
#include "serve/server.h"

namespace kansetsu::cli {

struct PageOptions {
  std::uint16_t port = 0;  ///< 0: any free one
  bool no_browser = false;
};

/// Throws Failure if this program was built without the viewer. @param command  that needs it, as "kansetsu view"
void need_viewer(std::string_view command);
/// Serves the viewer with the content until Ctrl-C, and opens a browser.
Exit serve_page(serve::Content content, const PageOptions& options);

}  // namespace kansetsu::cli
