/// kansetsu conventions: prints docs/conventions.md, which is compiled in.

#include "cli/arguments.h"
#include "cli/output.h"

namespace kansetsu::cli {

extern const char kConventionsPage[];  // written by CMake

Runner declare_conventions(Arguments&) {
  return [] {
    print(kConventionsPage);
    return kOk;
  };
}

}  // namespace kansetsu::cli
