#pragma once

#include <string>
#include <string_view>

namespace kansetsu::io::proto {

/// The FileDescriptorSet, serialised, of a message and everything it refers to: what MCAP wants as the schema of protobuf
/// messages. Known are the foxglove.* messages that recordings use, as published, and our own kansetsu.*.
std::string descriptor_set(std::string_view message);

}  // namespace kansetsu::io::proto
