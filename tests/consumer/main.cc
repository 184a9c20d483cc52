// Uses the installed package as any project would: public headers and kansetsu::kansetsu only.
#include <kansetsu/base/error.h>
#include <cstdio>

int main() {
  try {
    kansetsu::check_size("consumer", "tau", 27, 28);
  } catch (const kansetsu::Error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
