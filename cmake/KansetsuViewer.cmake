# The viewer (viewer/, TypeScript) is built by Vite into one page, which the command carries. Needs Node 18 or newer and what
# `npm ci` puts into viewer/node_modules (script/bootstrap does both); without them the command is built without the viewer.
# Sets KANSETSU_HAVE_VIEWER and, where it is ON, KANSETSU_VIEWER_PAGE.
set(KANSETSU_HAVE_VIEWER OFF)
if(NOT KANSETSU_VIEWER)
  return()
endif()
find_program(KANSETSU_NODE NAMES node nodejs)
mark_as_advanced(KANSETSU_NODE)
set(viewer_dir "${PROJECT_SOURCE_DIR}/viewer")
set(vite "${viewer_dir}/node_modules/vite/bin/vite.js")
if(NOT KANSETSU_NODE)
  message(STATUS "viewer: off, Node is missing (script/bootstrap installs it)")
  return()
elseif(NOT EXISTS "${vite}")
  message(STATUS "viewer: off, viewer/node_modules is missing (script/bootstrap, or 'npm ci' in viewer/)")
  return()
endif()

set(KANSETSU_HAVE_VIEWER ON)
set(KANSETSU_VIEWER_PAGE "${PROJECT_BINARY_DIR}/viewer/index.html")
file(GLOB_RECURSE viewer_sources CONFIGURE_DEPENDS "${viewer_dir}/src/*")
add_custom_command(
  OUTPUT "${KANSETSU_VIEWER_PAGE}"
  COMMAND "${KANSETSU_NODE}" "${vite}" build --logLevel warn --emptyOutDir --outDir "${PROJECT_BINARY_DIR}/viewer"
  DEPENDS ${viewer_sources} "${viewer_dir}/index.html" "${viewer_dir}/vite.config.ts" "${viewer_dir}/package-lock.json"
  WORKING_DIRECTORY "${viewer_dir}"
  COMMENT "Building the viewer's page"
  VERBATIM)
message(STATUS "viewer: on")
