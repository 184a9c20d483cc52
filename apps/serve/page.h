#pragma once

#include <string>
#include <string_view>

namespace kansetsu::serve {

/// Content security policy of the page: nothing that it shows may load from elsewhere, such as a mesh with a texture on another host.
inline constexpr char kPagePolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self' blob: data:; base-uri 'none'; form-action 'none'";

/// The viewer as one HTML page; empty if this build has none (KANSETSU_VIEWER=OFF, or Node was missing).
std::string_view viewer_page();

/// The page with an embedded recording: one file that needs neither server nor network.
std::string page_with_recording(std::string_view mcap, std::string_view name);

}  // namespace kansetsu::serve
