#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace kansetsu::cli {

/// A progress line on standard error: only on a terminal, and only after two seconds.
class Progress {
 public:
  Progress(std::string what, std::size_t total);  ///< total 0: unknown
  ~Progress();                                    ///< wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done(std::size_t count);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::size_t total_;
  bool terminal_, shown_ = false;
  Clock::time_point next_;
};

}  // namespace kansetsu::cli
