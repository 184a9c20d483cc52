#include "serve/peer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace kansetsu::serve {
namespace {

using tcp = boost::asio::ip::tcp;

/// An endpoint in the format of /proc/net: the bytes of the address as a number in the byte order of this machine.
std::string in_table(const tcp::endpoint& end, std::string_view prefix) {
  const auto bytes = end.address().to_v4().to_bytes();
  std::uint32_t address = 0;
  std::memcpy(&address, bytes.data(), bytes.size());
  return fmt::format("{}{:08X}:{:04X}", prefix, address, end.port());
}

struct TableRow {
  unsigned long user = 0, inode = 0;
};

/// The socket with these endpoints, if the table contains it.
std::optional<TableRow> find_row(const char* table, const std::string& local, const std::string& remote) {
  std::ifstream stream(table);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string number, own, other, skipped;
    TableRow row;
    words >> number >> own >> other;
    if (own != local || other != remote) continue;
    for (int i = 0; i < 4; ++i) words >> skipped;  // state, queues, timer, retransmissions
    if (words >> row.user >> skipped >> row.inode) return row;
  }
  return std::nullopt;
}

}  // namespace

bool is_of_this_user(const tcp::socket& socket) {
  boost::system::error_code error;
  const tcp::endpoint here = socket.local_endpoint(error), there = error ? here : socket.remote_endpoint(error);
  if (error || !here.address().is_v4() || !there.address().is_v4()) return false;
  // The client's socket may be of IPv6 with mapped IPv4 addresses.
  struct Table {
    const char *file, *prefix;
  };
  for (const Table& table : {Table{"/proc/net/tcp", ""}, Table{"/proc/net/tcp6", "0000000000000000FFFF0000"}}) {
    if (const auto row = find_row(table.file, in_table(there, table.prefix), in_table(here, table.prefix)))
      return row->inode != 0 && (row->user == ::geteuid() || row->user == 0);  // without inode: closed
  }
  return !find_row("/proc/net/tcp", in_table(here, ""),
                   in_table(there, ""));  // a table without our own socket proves nothing
}

}  // namespace kansetsu::serve
