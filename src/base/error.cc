#include "kansetsu/base/error.h"

namespace kansetsu {

void check_size(const char* function, const char* what, long actual, long expected) {
  if (actual == expected) return;
  throw Error(std::string(function) + ": " + what + " has size " + std::to_string(actual) + ", expected " +
              std::to_string(expected));
}

}  // namespace kansetsu
