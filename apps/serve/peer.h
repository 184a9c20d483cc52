#pragma once

#include <boost/asio/ip/tcp.hpp>

namespace kansetsu::serve {

/// Whether the other end of a local connection belongs to the user who runs this program, or to root. True where the system
/// does not provide this (Linux does, in /proc/net).
bool is_of_this_user(const boost::asio::ip::tcp::socket& socket);

}  // namespace kansetsu::serve
