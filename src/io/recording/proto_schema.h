#pragma once

#include <string>
#include <string_view>

namespace kansetsu::io::proto {

/// The serialised FileDescriptorSet of a message with its dependencies, which MCAP requires as schema of protobuf messages. Available:
/// the foxglove.* messages that recordings use, and kansetsu.*.
std::string descriptor_set(std::string_view message);

}  // namespace kansetsu::io::proto
