#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "serve/live_source.h"

/// The viewer's server: a page and its content, for browsers on this machine only.
namespace kansetsu::serve {

/// What is shown: a recording in a file or in memory, or a running simulation.
struct Content {
  std::string name{};
  std::filesystem::path file{};  ///< of a recording; empty: `bytes`
  std::string bytes{};
  LiveSource* live = nullptr;  ///< not owned; if set, the other members are ignored
};

struct ServerOptions {
  std::uint16_t port = 0;  ///< 0: a free one
  /// Receive a picture that the page rendered, or the error; without them, uploads are refused.
  std::function<void(std::string png)> on_picture{};
  std::function<void(std::string why)> on_failed{};
  std::function<void()> on_finished{};  ///< after the last of several pictures
};

class HttpSession;
class LiveViewer;

/// Listens on 127.0.0.1 only. Every request must name this host and contain the token of url(). Pages of other origins, and
/// bodies and messages above the size limits, are refused. No path refers to a file of the machine.
class Server {
 public:
  Server(Content content, ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  const std::string& token() const;
  /// http://127.0.0.1:PORT/?token=…, for the user only: it grants access.
  std::string url() const;
  /// An address for the arguments of a browser, which other users of the machine can list: it redirects only this user to url().
  /// `more`: further parameters of the page ("&picture=1").
  std::string browser_url(const std::string& more = {}) const;

  /// Serves until stop(), or for at most the given time; false if the time ran out.
  void run();
  bool run_for(std::chrono::milliseconds limit);
  void stop();  ///< from any thread
  /// From now on, Ctrl-C, SIGTERM and a closed terminal stop the server instead of ending the program.
  void stop_by_signals();
  int stopped_by() const;  ///< the signal; 0 if it was none

 private:
  friend class HttpSession;
  friend class LiveViewer;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu::serve
