#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kansetsu::serve {

/// A program on PATH, by the first name that is there; empty if there is none.
std::string find_program(const std::vector<std::string>& names);

/// Shows an address in the user's browser; false if there is none that can be asked.
bool open_browser(const std::string& url);

/// Chromium without a window, software rendering, and a profile of its own that is removed with it.
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
