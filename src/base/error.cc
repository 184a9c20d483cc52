#include "kansetsu/base/error.h"

namespace kansetsu {

void throw_size(const char* function, const char* what, long actual, long expected) {
  throw Error(std::string(function) + ": " + what + " has size " + std::to_string(actual) + ", expected " +
              std::to_string(expected));
}

}  // namespace kansetsu
