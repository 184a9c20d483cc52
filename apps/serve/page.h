#pragma once

#include <string>
#include <string_view>

namespace kansetsu::serve {

/// What the page may do: nothing of what it shows may fetch from elsewhere, such as a mesh that names a picture of another machine.
inline constexpr char kPagePolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self' blob: data:; base-uri 'none'; form-action 'none'";

/// The viewer as one HTML page; empty if this build has none (KANSETSU_VIEWER=OFF, or Node was missing).
std::string_view viewer_page();

/// The page with a recording inside: one file that needs neither server nor network.
std::string page_with_recording(std::string_view mcap, std::string_view name);

}  // namespace kansetsu::serve
