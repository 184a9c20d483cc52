#include "serve/server.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <csignal>
#include <deque>
#include <fstream>
#include <list>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "kansetsu/base/error.h"
#include "serve/live.h"
#include "serve/page.h"
#include "serve/peer.h"
#include "serve/request_text.h"

namespace kansetsu::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kLargestPicture = std::size_t{64} << 20, kLargestRange = std::size_t{64} << 20;
constexpr std::uint32_t kLargestHeader = 16 << 10;
constexpr std::size_t kMostSessions = 64, kLongestQueue = 4;  // frames that wait for a slow viewer
constexpr int kSendBuffer = 256 << 10;                        // bytes that the system holds for a viewer
constexpr std::size_t kMostWaiting = 256;                     // messages; a viewer that does not read is disconnected
constexpr auto kPatience = std::chrono::seconds(30);
constexpr auto kStrangersPatience = std::chrono::seconds(5);  // until the first request with the token
constexpr std::string_view kWayIn = "/open";
constexpr auto kTick = std::chrono::microseconds(16667);

std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct Server::Impl {
  Impl(Content what, ServerOptions how)
      : content(std::move(what)), options(std::move(how)), acceptor(context), timer(context) {
    beast::error_code error;
    const tcp::endpoint here(asio::ip::address_v4::loopback(), options.port);
    acceptor.open(here.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(here, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) throw Error(fmt::format("cannot listen on 127.0.0.1:{}: {}", options.port, error.message()));
    port = acceptor.local_endpoint().port();
    if (content.live) live.emplace(*content.live);
    accept();
    if (live) tick();
  }

  void accept();
  void tick();
  bool make_room();
  void broadcast(const std::string& message);
  /// Why a request is refused, if it is: it must come from a browser on this machine, from our page, with our token.
  std::optional<http::status> refusal(const http::fields& fields, std::string_view target) const;
  /// Why a request does not come from our page on this machine, regardless of its token.
  std::optional<http::status> wrong_origin(const http::fields& fields) const;
  /// The address to which the browser that we started is redirected, with the token.
  std::optional<std::string> way_in(std::string_view target, const tcp::socket& socket) const;
  Response answer(const Request& request);
  Response recording(const Request& request) const;
  std::string piece(std::uint64_t first, std::uint64_t count) const;
  std::uint64_t size() const;

  Content content;
  ServerOptions options;
  std::uint16_t port = 0;
  std::string token = make_token();
  std::string ticket =
      make_token();  ///< part of the browser's arguments, which others can list: it admits this user only
  std::optional<LiveSession> live;
  std::set<LiveViewer*> viewers;
  std::list<HttpSession*> waiting;  ///< connections waiting for a request, longest first
  std::size_t sessions = 0;
  asio::io_context context{1};  // after the members that sessions refer to: sessions end with it
  tcp::acceptor acceptor;
  asio::steady_timer timer;
  asio::signal_set signals{context};
  int signal = 0;  ///< that stopped the server
  std::chrono::steady_clock::time_point last_tick = std::chrono::steady_clock::now();
};

// ------------------------------------------------------------------------------------------------------------------- live

/// One browser that watches a simulation.
class LiveViewer : public std::enable_shared_from_this<LiveViewer> {
 public:
  LiveViewer(Server::Impl& server, beast::tcp_stream&& stream) : server_(server), socket_(std::move(stream)) {}
  ~LiveViewer() {
    server_.viewers.erase(this);
    --server_.sessions;
  }
  LiveViewer(const LiveViewer&) = delete;
  LiveViewer& operator=(const LiveViewer&) = delete;

  void start(const Request& request) {
    ++server_.sessions;
    beast::get_lowest_layer(socket_).expires_never();
    beast::error_code ignored;
    beast::get_lowest_layer(socket_).socket().set_option(asio::socket_base::send_buffer_size(kSendBuffer), ignored);
    socket_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    socket_.read_message_max(kLargestMessage);
    socket_.async_accept(request, [self = shared_from_this()](beast::error_code error) {
      if (error) return;
      self->server_.viewers.insert(self.get());
      self->send(self->server_.live->hello());
      self->read();
    });
  }

  void send(std::string message) {
    if (gone_) return;
    if (queue_.size() >= kMostWaiting) return close();
    push({std::make_shared<const std::string>(std::move(message)), Outgoing::kText});
  }
  /// The last frame of the simulation. A slow viewer skips frames, not messages; its next frame is a whole one.
  void send_frame() {
    if (gone_) return;
    missed_ = queue_.size() >= kLongestQueue;
    if (!missed_) push({current_ ? server_.live->stream().change() : server_.live->stream().whole(), Outgoing::kFrame});
    current_ = !missed_;
  }

 private:
  struct Outgoing {
    LiveStream::Message bytes;
    enum Kind { kText, kFrame } kind;
  };

  void push(Outgoing message) {
    queue_.push_back(std::move(message));
    if (queue_.size() == 1) write();
  }
  void read() {
    socket_.async_read(buffer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error) return self->leave();
      const std::string text = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      std::string problem;
      if (const auto answer = self->server_.live->handle(text, problem)) self->server_.broadcast(*answer);
      if (!problem.empty()) self->send(problem_message(problem));
      self->read();
    });
  }
  void leave() {
    gone_ = true;
    if (server_.viewers.erase(this) > 0 && server_.viewers.empty()) server_.content.live->drop();
  }
  /// Ends the viewer: its pending read and write fail.
  void close() {
    gone_ = true;
    beast::get_lowest_layer(socket_).close();
  }
  void write() {
    socket_.binary(queue_.front().kind == Outgoing::kFrame);
    socket_.async_write(asio::buffer(*queue_.front().bytes),
                        [self = shared_from_this()](beast::error_code error, std::size_t) {
                          if (error) return self->leave();
                          self->queue_.pop_front();
                          if (!self->queue_.empty()) return self->write();
                          if (self->missed_) self->send_frame();  // the next one may be long in coming
                        });
  }

  Server::Impl& server_;
  websocket::stream<beast::tcp_stream> socket_;
  beast::flat_buffer buffer_;
  std::deque<Outgoing> queue_;
  bool gone_ = false;
  bool current_ = false, missed_ = false;  ///< the last frame has been sent or queued; it was skipped
};

// ------------------------------------------------------------------------------------------------------------------- http

/// One connection: a request, its answer, and so on.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(Server::Impl& server, tcp::socket&& socket) : server_(server), stream_(std::move(socket)) {
    ++server_.sessions;
  }
  ~HttpSession() {
    stop_waiting();
    --server_.sessions;
  }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kLargestHeader);
    parser_->body_limit(server_.options.on_picture ? kLargestPicture : 0);
    stream_.expires_after(known_ ? kPatience : kStrangersPatience);
    place_ = server_.waiting.insert(server_.waiting.end(), this);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](beast::error_code error, std::size_t) { self->got_header(error); });
  }

  bool known() const { return known_; }
  /// Ends the session: its pending read fails.
  void close() {
    stop_waiting();
    stream_.close();
  }

 private:
  void stop_waiting() {
    if (place_) server_.waiting.erase(*place_);
    place_.reset();
  }

  /// No body is read before the token has been checked.
  void got_header(beast::error_code error) {
    if (error) return failed(error);
    const Request& request = parser_->get();
    const std::string_view target = view(request.target());
    if (const auto place = server_.way_in(target, stream_.socket()); place && !server_.wrong_origin(request)) {
      Response response = plain(http::status::see_other);
      response.set(http::field::location, *place);
      return reply(std::move(response), true);
    }
    if (const auto refused = server_.refusal(request, target)) return reply(plain(*refused), true);
    known_ = true;
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code failure, std::size_t) { self->got(failure); });
  }

  void failed(beast::error_code error) {
    stop_waiting();
    if (error == beast::error_code(http::error::body_limit)) return reply(plain(http::status::payload_too_large), true);
    if (error == beast::error_code(http::error::header_limit))
      return reply(plain(http::status::request_header_fields_too_large), true);
  }

  void got(beast::error_code error) {
    if (error) return failed(error);
    stop_waiting();
    Request request = parser_->release();
    const std::string_view target = view(request.target());
    if (websocket::is_upgrade(request)) {
      if (!server_.live || split(target).path != "/live") return reply(plain(http::status::not_found), true);
      std::make_shared<LiveViewer>(server_, std::move(stream_))->start(request);
      return;
    }
    Response response = server_.answer(request);
    response.keep_alive(request.keep_alive());
    reply(std::move(response), !request.keep_alive());
  }

  static Response plain(http::status status) {
    Response response(status, 11);
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    response.body() = fmt::format("{} {}\n", static_cast<int>(status), view(http::obsolete_reason(status)));
    response.prepare_payload();
    return response;
  }

  void reply(Response response, bool close) {
    stop_waiting();
    response.set(http::field::server, "kansetsu");
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.set("Cross-Origin-Resource-Policy", "same-origin");
    response.set("X-Frame-Options", "DENY");
    response.set("Content-Security-Policy", fmt::format("{}; frame-ancestors 'none'", kPagePolicy));
    auto shared = std::make_shared<Response>(std::move(response));
    stream_.expires_after(kPatience);
    const auto done = [self = shared_from_this(), shared, close](beast::error_code error, std::size_t) {
      if (error) return;
      if (!close) return self->read();
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    };
    http::async_write(stream_, *shared, done);
  }

  Server::Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<std::list<HttpSession*>::iterator> place_;  ///< in the list of waiting connections
  bool known_ = false;                                      ///< has presented the token
};

void Server::Impl::accept() {
  acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
    if (error == beast::error_code(asio::error::operation_aborted)) return;
    if (!error && make_room()) std::make_shared<HttpSession>(*this, std::move(socket))->read();
    accept();
  });
}

/// If all slots are taken, the connection that has waited longest is closed: one that never presented the token, else an idle one.
bool Server::Impl::make_room() {
  if (sessions < kMostSessions) return true;
  auto oldest = std::find_if(waiting.begin(), waiting.end(), [](const HttpSession* s) { return !s->known(); });
  if (oldest == waiting.end()) oldest = waiting.begin();
  if (oldest == waiting.end()) return false;
  (*oldest)->close();
  return true;
}

void Server::Impl::tick() {
  timer.expires_after(kTick);
  timer.async_wait([this](beast::error_code error) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_tick).count();
    last_tick = now;
    try {
      if (!viewers.empty()) {  // nobody watches: nothing moves
        if (live->tick(seconds)) {
          for (LiveViewer* viewer : std::vector<LiveViewer*>(viewers.begin(), viewers.end())) viewer->send_frame();
        }
        for (const std::string& message : live->news()) broadcast(message);
      }
    } catch (const std::exception&) {  // a frame is lost; the clock goes on
    }
    tick();
  });
}

void Server::Impl::broadcast(const std::string& message) {
  const std::vector<LiveViewer*> all(viewers.begin(), viewers.end());
  for (LiveViewer* viewer : all) viewer->send(message);
}

std::optional<http::status> Server::Impl::wrong_origin(const http::fields& fields) const {
  const std::string names[] = {fmt::format("127.0.0.1:{}", port), fmt::format("localhost:{}", port)};
  const auto is_here = [&](std::string_view host) { return host == names[0] || host == names[1]; };
  if (fields.count(http::field::host) != 1 || fields.count(http::field::origin) > 1) return http::status::bad_request;
  if (!is_here(view(fields[http::field::host]))) return http::status::misdirected_request;
  if (const std::string_view origin = view(fields[http::field::origin]); !origin.empty()) {
    if (!origin.starts_with("http://") || !is_here(origin.substr(7))) return http::status::forbidden;
  }
  return std::nullopt;
}

std::optional<http::status> Server::Impl::refusal(const http::fields& fields, std::string_view target) const {
  if (const auto wrong = wrong_origin(fields)) return wrong;
  if (!same_secret(query_value(split(target).query, "token"), token)) return http::status::forbidden;
  return std::nullopt;
}

std::optional<std::string> Server::Impl::way_in(std::string_view target, const tcp::socket& socket) const {
  const auto [path, query] = split(target);
  if (path != kWayIn || !same_secret(query_value(query, "ticket"), ticket) || !is_of_this_user(socket))
    return std::nullopt;
  const std::size_t more = query.find('&');
  return fmt::format("/?token={}{}", token, more == std::string_view::npos ? "" : query.substr(more));
}

std::uint64_t Server::Impl::size() const {
  if (content.file.empty()) return content.bytes.size();
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(content.file, error);
  return error ? 0 : bytes;
}

std::string Server::Impl::piece(std::uint64_t first, std::uint64_t count) const {
  if (content.file.empty())
    return content.bytes.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  std::string bytes(static_cast<std::size_t>(count), '\0');
  std::ifstream stream(content.file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(first));
  stream.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return bytes;
}

Response Server::Impl::recording(const Request& request) const {
  Response response(http::status::ok, request.version());
  response.set(http::field::content_type, "application/octet-stream");
  response.set(http::field::accept_ranges, "bytes");
  const std::uint64_t total = size();
  if (request.method() == http::verb::head) {
    response.content_length(total);
    return response;
  }
  std::pair<std::uint64_t, std::uint64_t> range{0, total == 0 ? 0 : total - 1};
  if (request.find(http::field::range) != request.end()) {
    const auto wanted = parse_range(view(request[http::field::range]), total);
    if (!wanted) {
      response.result(http::status::range_not_satisfiable);
      response.set(http::field::content_range, fmt::format("bytes */{}", total));
      response.prepare_payload();
      return response;
    }
    range = *wanted;
    response.result(http::status::partial_content);
    response.set(http::field::content_range, fmt::format("bytes {}-{}/{}", range.first, range.second, total));
  }
  const std::uint64_t count = total == 0 ? 0 : range.second - range.first + 1;
  if (count > kLargestRange) {
    response.result(http::status::payload_too_large);
  } else {
    response.body() = piece(range.first, count);
    if (response.body().size() != count)
      response.result(http::status::internal_server_error);  // the file has been truncated or removed meanwhile
  }
  response.prepare_payload();
  return response;
}

Response Server::Impl::answer(const Request& request) {
  Response response(http::status::ok, request.version());
  const std::string_view path = split(view(request.target())).path;
  const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
  const std::string* file = live && reads && !path.empty() ? live->file(std::string(path.substr(1))) : nullptr;
  if (path == "/recording" && reads && !live) return recording(request);
  if (path == "/" && reads) {
    response.set(http::field::content_type, "text/html; charset=utf-8");
    response.body() = viewer_page();
  } else if (file) {
    response.set(http::field::content_type, "application/octet-stream");
    response.body() = *file;
  } else if (path == "/info" && reads) {
    response.set(http::field::content_type, "application/json");
    response.body() = nlohmann::json{{"name", content.name}, {"live", live.has_value()}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
  } else if (path == "/picture" && request.method() == http::verb::post && options.on_picture) {
    options.on_picture(request.body());
  } else if (path == "/finished" && request.method() == http::verb::post && options.on_finished) {
    options.on_finished();
  } else if (path == "/failed" && request.method() == http::verb::post && options.on_failed) {
    options.on_failed(request.body());
  } else {
    response.result(reads || request.method() == http::verb::post ? http::status::not_found
                                                                  : http::status::method_not_allowed);
  }
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

// ----------------------------------------------------------------------------------------------------------------- public

Server::Server(Content content, ServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(content), std::move(options))) {}
Server::~Server() = default;

std::uint16_t Server::port() const { return impl_->port; }
const std::string& Server::token() const { return impl_->token; }
std::string Server::url() const { return fmt::format("http://127.0.0.1:{}/?token={}", impl_->port, impl_->token); }
std::string Server::browser_url(const std::string& more) const {
  return fmt::format("http://127.0.0.1:{}{}?ticket={}{}", impl_->port, kWayIn, impl_->ticket, more);
}
void Server::run() {
  while (!run_for(std::chrono::hours(1))) {
  }
}
void Server::stop_by_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old{};
    ::sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) impl_->signals.add(number);  // nohup ignores it
  }
  impl_->signals.async_wait([this](beast::error_code error, int number) {
    if (error) return;
    impl_->signal = number;
    stop();
  });
}
int Server::stopped_by() const { return impl_->signal; }
bool Server::run_for(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!impl_->context.stopped() && std::chrono::steady_clock::now() < end) {
    try {
      impl_->context.run_until(end);
    } catch (
        const std::exception&) {  // of one request or viewer: its connection ends with its handler, the server goes on
    }
  }
  return impl_->context.stopped();
}
void Server::stop() { impl_->context.stop(); }

}  // namespace kansetsu::serve
