#include "cli/serve_page.h"

#include <fmt/format.h>

#include "serve/browser.h"
#include "serve/page.h"

namespace kansetsu::cli {

void need_viewer(std::string_view command) {
  if (!serve::viewer_page().empty()) return;
  throw Failure(kBadUsage, fmt::format("{}: this kansetsu was built without the viewer\n  help: build it where Node 18 "
                                       "is installed (script/bootstrap does), with KANSETSU_VIEWER=ON",
                                       command));
}

Exit serve_page(serve::Content content, const PageOptions& options) {
  serve::Server server(std::move(content), {.port = options.port});
  server.stop_by_signals();
  fmt::print(stderr, "{}\n", server.url());
  if (!options.no_browser && !serve::open_browser(server.browser_url()))
    fmt::print(stderr, "open this address in a browser on this machine\n");
  fmt::print(stderr, "press Ctrl-C to stop\n");
  server.run();
  return kOk;
}

}  // namespace kansetsu::cli
