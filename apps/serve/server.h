#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "serve/live_source.h"

/// The viewer's server: one page and what it shows, for browsers of this machine only.
namespace kansetsu::serve {

/// What is shown: a recording in a file or in memory, or a simulation that runs.
struct Content {
  std::string name{};
  std::filesystem::path file{};  ///< of a recording; empty: `bytes`
  std::string bytes{};
  LiveSource* live = nullptr;  ///< not owned; set: nothing else counts
};

struct ServerOptions {
  std::uint16_t port = 0;  ///< 0: a free one
  /// A picture that the page made, or the reason why it could not; without these nothing is accepted.
  std::function<void(std::string png)> on_picture{};
  std::function<void(std::string why)> on_failed{};
  std::function<void()> on_finished{};  ///< after the last of several pictures
};

class HttpSession;
class LiveViewer;

/// Listens on 127.0.0.1 only. Every request must name this host and carry the token of url(); pages of other origins are
/// refused, and so are bodies and messages beyond their limits. There are no files to reach by a path.
class Server {
 public:
  Server(Content content, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  const std::string& token() const;
  /// http://127.0.0.1:PORT/?token=…: for the user's eyes. Who has it is let in.
  std::string url() const;
  /// For the arguments of a browser, which other users of the machine can list: it leads this user to url(), others nowhere. `more`
  /// is what else the page should know ("&picture=1").
  std::string browser_url(const std::string& more = {}) const;

  /// Serve until stop(), or for the given time at most; false if the time ran out.
  void run();
  bool run_for(std::chrono::milliseconds limit);
  void stop();  ///< from any thread
  /// From here on Ctrl-C, SIGTERM and a closed terminal stop the server instead of ending the program.
  void stop_by_signals();
  int stopped_by() const;  ///< the signal; 0 if it was none

 private:
  friend class HttpSession;
  friend class LiveViewer;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu::serve
