#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kansetsu::serve {

/// The first of these programs that is on PATH; empty if none is.
std::string find_program(const std::vector<std::string>& names);

/// Opens an address in the user's browser; false if no browser is found.
bool open_browser(const std::string& url);

/// Headless Chromium with software rendering and a temporary profile, which is removed at the end.
class HeadlessBrowser {
 public:
  /// Throws Error if no Chromium is found (KANSETSU_CHROMIUM names one) or it cannot be started.
  explicit HeadlessBrowser(const std::string& url);
  ~HeadlessBrowser();  ///< ends it
  HeadlessBrowser(const HeadlessBrowser&) = delete;
  HeadlessBrowser& operator=(const HeadlessBrowser&) = delete;

 private:
  std::string profile_;
  int process_ = -1;
};

}  // namespace kansetsu::serve
