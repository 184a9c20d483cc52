# Cross compilation for 64-bit ARM under Linux with Debian's compiler, programs run by QEMU: script/check aarch64.
# KANSETSU_SYSROOT is a folder with the libraries of that architecture, as packages have them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KANSETSU_SYSROOT)
set(CMAKE_FIND_ROOT_PATH "${KANSETSU_SYSROOT}")
foreach(kind LIBRARY INCLUDE PACKAGE)  # nothing of the machine that compiles
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
