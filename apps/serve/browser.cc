#include "serve/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include "kansetsu/base/error.h"

extern char** environ;

namespace kansetsu::serve {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos && access(name.c_str(), X_OK) == 0) return name;
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string file = folder + "/" + name;
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return {};
}

namespace {

/// Starts a program in its own process group, without output; −1 if that fails.
int start(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? process : -1;
}

}  // namespace

bool open_browser(const std::string& url) {
  const bool screen = std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY");
#ifdef __APPLE__
  const std::string program = find_program({"open"});
#else
  const std::string program = screen ? find_program({"xdg-open", "sensible-browser"}) : std::string();
#endif
  return !program.empty() && start(program, {url}) > 0;
}

HeadlessBrowser::HeadlessBrowser(const std::string& url) {
  std::vector<std::string> names{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
  if (const char* named = std::getenv("KANSETSU_CHROMIUM")) names = {named};
  const std::string program = find_program(names);
  if (program.empty()) {
    throw Error(
        "pictures need Chromium, which was not found\n  help: install the package 'chromium', or set "
        "KANSETSU_CHROMIUM to an executable");
  }
  std::string folder = (fs::temp_directory_path() / "kansetsu-chromium-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    throw Error("cannot create a temporary folder for Chromium in " + fs::temp_directory_path().string());
  profile_ = folder;
  std::vector<std::string> arguments{"--headless=new",
                                     "--use-angle=swiftshader",
                                     "--enable-unsafe-swiftshader",
                                     "--no-first-run",
                                     "--disable-extensions",
                                     "--disable-background-networking",
                                     "--disable-component-update",
                                     "--disable-dev-shm-usage",
                                     "--hide-scrollbars",
                                     "--user-data-dir=" + profile_};
  if (geteuid() == 0) arguments.push_back("--no-sandbox");  // root has no user namespaces to sandbox in
  arguments.push_back(url);
  process_ = start(program, arguments);
  if (process_ > 0) return;
  fs::remove_all(profile_);
  throw Error(program + " cannot be started");
}

HeadlessBrowser::~HeadlessBrowser() {
  kill(-process_, SIGTERM);
  for (int i = 0; i < 50 && waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
    if (i == 40) kill(-process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::error_code ignored;
  for (int i = 0; i < 5; ++i) {  // its helpers may still write
    fs::remove_all(profile_, ignored);
    if (!ignored) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace kansetsu::serve
