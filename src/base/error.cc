#include "kansetsu/base/error.h"

#include "kansetsu/base/owner.h"

namespace kansetsu {

void throw_size(const char* function, const char* what, long actual, long expected) {
  throw Error(std::string(function) + ": " + what + " has size " + std::to_string(actual) + ", expected " +
              std::to_string(expected));
}

void throw_moved_from() {
  throw Error("this object was moved from; only assigning to it and destroying it make sense");
}

}  // namespace kansetsu
