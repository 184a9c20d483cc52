#include "kansetsu/io/output_file.h"

#include <sys/file.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io/file_handle.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMuch = std::size_t{64} << 10;  // buffered bytes
constexpr char kTaken[] = "another program is writing to it";

/// Names of open temporary files, for signal handlers. Files beyond this number are not removed on a signal.
std::array<std::atomic<const char*>, 64> open_parts{};
static_assert(std::atomic<const char*>::is_always_lock_free, "signal handlers must not block");

void exchange_part(const char* old, const char* with) {
  for (auto& place : open_parts) {
    const char* expected = old;
    if (place.compare_exchange_strong(expected, with)) return;
  }
}

/// Whether the path still names the open file: it may have been renamed between opening and locking.
bool is_at(const FileHandle& file, const fs::path& path) {
  struct stat open{}, named{};
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

/// Whether no other process holds the lock; also true on file systems without locks.
bool lock(const FileHandle& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool is_locked(const fs::path& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file && !lock(file);
}

/// Returns the number of bytes written.
std::size_t write_all(const FileHandle& file, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

struct OutputFile::Impl {
  Impl(const fs::path& path, Writing writing) : path_(path), target_(path), writing_(writing) { open(); }
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void open();
  bool write(std::string_view piece);
  bool flush();
  std::optional<std::string> close();
  bool ok() const { return !problem_; }
  void take_place();
  void drop_part();
  void note(const std::string& what);
  void note_error();

  fs::path path_, target_, part_;  ///< as named; links followed; beside
  Writing writing_;
  FileHandle file_;
  bool regular_ = true, started_ = false, closed_ = false;
  bool waits_ = false;             ///< the part has yet to take the place of the file
  std::uint64_t size_ = 0;         ///< of whole pieces in the file
  std::string waiting_;            ///< pieces to be written
  std::vector<std::size_t> ends_;  ///< of these pieces
  std::optional<std::string> problem_;
};

void OutputFile::Impl::open() {
  std::error_code error;
  const fs::file_status old = fs::status(target_, error);
  regular_ = !fs::exists(old) || fs::is_regular_file(old);
  if (!regular_) {  // devices and pipes are written in place
    file_ = FileHandle(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) note_error();
    return;
  }
  if (fs::is_symlink(target_, error))
    target_ = fs::weakly_canonical(target_, error);  // write to the target of a symbolic link
  if (fs::exists(old) && ::access(target_.c_str(), W_OK) != 0) return note_error();
  part_ = target_;
  part_ += ".kansetsu-part";
  for (int attempt = 0; attempt < 10; ++attempt) {
    FileHandle part(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!part) return note_error();
    if (!lock(part)) return note(kTaken);
    if (!is_at(part, part_)) continue;
    file_ = std::move(part);
    waits_ = true;  // also removes a leftover of an earlier run
    exchange_part(nullptr, part_.c_str());
    if (is_locked(target_)) return note(kTaken);
    if (::ftruncate(file_.get(), 0) != 0) note_error();
    if (fs::exists(old)) ::fchmod(file_.get(), static_cast<mode_t>(old.permissions()) & 07777);
    return;
  }
  note(kTaken);
}

OutputFile::Impl::~Impl() {
  if (closed_ || !file_) return;
  if (writing_ == Writing::kInPlace) flush();
  drop_part();
}

void OutputFile::Impl::take_place() {
  if (!waits_ || !ok()) return;
  if (::rename(part_.c_str(), target_.c_str()) != 0) return note_error();
  exchange_part(part_.c_str(), nullptr);
  waits_ = false;
}

void OutputFile::Impl::drop_part() {
  if (!waits_) return;
  ::unlink(part_.c_str());
  exchange_part(part_.c_str(), nullptr);
  waits_ = false;
}

void OutputFile::Impl::note(const std::string& what) {
  if (!problem_) problem_ = what;
}
void OutputFile::Impl::note_error() { note(std::strerror(errno)); }

bool OutputFile::Impl::write(std::string_view piece) {
  if (!ok()) return false;
  waiting_ += piece;
  if (!started_ && !ends_.empty()) ends_.pop_back();
  ends_.push_back(waiting_.size());
  return !started_ || waiting_.size() < kMuch || flush();
}

bool OutputFile::Impl::flush() {
  if (!ok() || !started_) return ok();
  const std::size_t done = write_all(file_, waiting_);
  const bool all = done == waiting_.size();
  const int reason = errno;
  const auto whole = std::ranges::upper_bound(ends_, done);
  size_ += whole == ends_.begin() ? 0 : *(whole - 1);
  if (size_ > 0 && writing_ == Writing::kInPlace)
    take_place();  // even if the disk is full: the records so far are complete
  if (!all) {
    note(std::strerror(reason));
    if (regular_ && ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) note_error();
  }
  waiting_.clear();
  ends_.clear();
  return ok();
}

std::optional<std::string> OutputFile::Impl::close() {
  if (closed_) return problem_;
  started_ = true;
  flush();
  closed_ = true;
  if (!file_) return problem_;
  take_place();
  drop_part();
  if (::close(file_.release()) != 0) note_error();
  return problem_;
}

void drop_open_parts() noexcept {
  for (const auto& place : open_parts) {
    if (const char* part = place.load()) ::unlink(part);
  }
}

OutputFile::OutputFile(const fs::path& path, Writing writing) : impl_(std::make_unique<Impl>(path, writing)) {}
OutputFile::~OutputFile() = default;
void OutputFile::start() { impl_->started_ = true; }
bool OutputFile::write(std::string_view piece) { return impl_->write(piece); }
bool OutputFile::flush() { return impl_->flush(); }
std::optional<std::string> OutputFile::close() { return impl_->close(); }
const std::optional<std::string>& OutputFile::problem() const { return impl_->problem_; }
const fs::path& OutputFile::path() const { return impl_->path_; }
const fs::path& OutputFile::part() const { return impl_->part_; }

}  // namespace kansetsu::io
