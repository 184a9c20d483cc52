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
  /// http://127.0.0.1:PORT/?token=…, and what else the page should know ("&picture=1").
  std::string url(const std::string& more = {}) const;

  /// Serve until stop(), or for the given time at most; false if the time ran out.
  void run();
  /// By Ctrl-C or SIGTERM, which are handled from `announce` on.
  void run_until_interrupted(const std::function<void()>& announce);
  bool run_for(std::chrono::milliseconds limit);
  void stop();  ///< from any thread

 private:
  friend class HttpSession;
  friend class LiveViewer;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu::serve
