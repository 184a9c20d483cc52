#include "serve/encoder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "kansetsu/base/error.h"
#include "serve/browser.h"

extern char** environ;

namespace kansetsu::serve {
namespace {

/// The arguments of ffmpeg. Sides are made even, as the codecs require. A GIF gets a palette of its own colours.
std::vector<std::string> codec_of(const std::string& ending) {
  const std::string even = "pad=ceil(iw/2)*2:ceil(ih/2)*2";
  if (ending == ".mp4")
    return {"-vf", even, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"};
  if (ending == ".webm") return {"-vf", even, "-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p", "-crf", "32", "-b:v", "0"};
  if (ending == ".gif")
    return {
        "-filter_complex",
        "split[a][b];[a]palettegen=max_colors=128:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle"};
  throw Error(fmt::format("'{}' is not a video format\n  help: name a file that ends in .mp4, .webm or .gif", ending));
}

}  // namespace

VideoEncoder::VideoEncoder(const std::string& file, const std::string& ending, double rate) {
  std::vector<std::string> arguments{"ffmpeg",     "-y",   "-loglevel", "error",      "-f",
                                     "image2pipe", "-c:v", "png",       "-framerate", fmt::format("{}", rate),
                                     "-i",         "-"};
  for (std::string& a : codec_of(ending)) arguments.push_back(std::move(a));
  arguments.insert(arguments.end(), {"-f", ending.substr(1), "file:" + file});
  const char* named = std::getenv("KANSETSU_FFMPEG");
  const std::string program = find_program({named ? named : "ffmpeg"});
  if (program.empty()) {
    throw Error(
        "videos need ffmpeg, which was not found\n  help: install the package 'ffmpeg', name one in KANSETSU_FFMPEG, "
        "or "
        "write a page (--html) instead");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot create a pipe to ffmpeg");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  pipe_ = ends[1];
  if (error == 0) return;
  ::close(pipe_);
  throw Error(program + " cannot be started");
}

VideoEncoder::~VideoEncoder() { finish(); }

bool VideoEncoder::add(std::string_view png) {
  while (!png.empty()) {
    const ssize_t count = ::write(pipe_, png.data(), png.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    png.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool VideoEncoder::finish() {
  if (process_ <= 0) return false;
  ::close(pipe_);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace kansetsu::serve
