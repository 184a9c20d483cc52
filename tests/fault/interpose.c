/* Preloaded into a program, this fails the FAULT_AT-th call of a kind (FAULT_CALL: open, read, write, close, stat, rename, ftruncate or
   malloc) with FAULT_ERRNO, once or (FAULT_ALWAYS=1) from then on. A failing write first writes half of what it was given. Calls count
   from the beginning of main() to its end, except those on standard error; how many there were is written to the file FAULT_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char* wanted;
static long at = -1, count = 0;
static int code = EIO, always = 0;
static volatile int running = 0; /* within main */

static int fails(const char* call) {
  if (!running || !wanted || strcmp(wanted, call) != 0) return 0;
  const long mine = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  if (mine != at && !(always && mine > at)) return 0;
  errno = code;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- from the beginning of main to its end -------------------------------------------------- */

typedef int (*Main)(int, char**, char**);
static Main program;

static void tell(void) {
  const char* name = getenv("FAULT_COUNT");
  running = 0;
  if (!name) return;
  FILE* file = fopen(name, "w");
  if (!file) return;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

static int wrapped(int argc, char** argv, char** environment) {
  const char* text = getenv("FAULT_AT");
  wanted = getenv("FAULT_CALL");
  if (text) at = atol(text);
  if ((text = getenv("FAULT_ERRNO"))) code = atoi(text);
  always = getenv("FAULT_ALWAYS") != NULL;
  running = 1;
  const int result = program(argc, argv, environment);
  tell();
  return result;
}

int __libc_start_main(Main start, int argc, char** argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void* stack_end) {
  typedef int (*Start)(Main, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  program = start;
  return ((Start)dlsym(RTLD_NEXT, "__libc_start_main"))(wrapped, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- opening -------------------------------------------------------------------------------- */

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (fails("open")) return -1;
  return REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

FILE* fopen(const char* path, const char* mode) {
  if (fails("open")) return NULL;
  return REAL(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

/* ---- reading and writing, by the system's calls and by those of the library -------------------- */

ssize_t read(int file, void* data, size_t size) { return fails("read") ? -1 : REAL(read)(file, data, size); }

/* The library's own buffer may hold more; the stream is marked as the library would. */
size_t fread(void* data, size_t size, size_t number, FILE* stream) {
  if (!fails("read")) return REAL(fread)(data, size, number, stream);
  stream->_flags |= 0x20; /* what ferror() looks at */
  return 0;
}

ssize_t write(int file, const void* data, size_t size) {
  if (file != 2 && fails("write")) {
    if (size > 1) REAL(write)(file, data, size / 2);
    errno = code;
    return -1;
  }
  return REAL(write)(file, data, size);
}

ssize_t writev(int file, const struct iovec* parts, int number) {
  if (file != 2 && fails("write")) return -1;
  return REAL(writev)(file, parts, number);
}

size_t fwrite(const void* data, size_t size, size_t number, FILE* stream) {
  if (stream != stderr && fails("write")) {
    REAL(fwrite)(data, size, number / 2, stream);
    errno = code;
    return number / 2;
  }
  return REAL(fwrite)(data, size, number, stream);
}

int fflush(FILE* stream) { return stream != stderr && fails("write") ? EOF : REAL(fflush)(stream); }

int fclose(FILE* stream) {
  const int result = REAL(fclose)(stream);
  return fails("close") ? EOF : result;
}
int close(int file) {
  const int result = REAL(close)(file);
  return fails("close") ? -1 : result;
}

/* ---- names, sizes and kinds ------------------------------------------------------------------- */

int stat(const char* path, struct stat* out) { return fails("stat") ? -1 : REAL(stat)(path, out); }
int lstat(const char* path, struct stat* out) { return fails("stat") ? -1 : REAL(lstat)(path, out); }
int fstat(int file, struct stat* out) { return fails("stat") ? -1 : REAL(fstat)(file, out); }
int stat64(const char* path, struct stat64* out) { return fails("stat") ? -1 : REAL(stat64)(path, out); }
int lstat64(const char* path, struct stat64* out) { return fails("stat") ? -1 : REAL(lstat64)(path, out); }
int fstat64(int file, struct stat64* out) { return fails("stat") ? -1 : REAL(fstat64)(file, out); }

int rename(const char* from, const char* to) { return fails("rename") ? -1 : REAL(rename)(from, to); }
int ftruncate(int file, off_t size) { return fails("ftruncate") ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off_t size) __attribute__((alias("ftruncate")));

/* ---- memory ----------------------------------------------------------------------------------- */

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static void* none(void) {
  errno = ENOMEM;
  return NULL;
}
void* malloc(size_t size) { return fails("malloc") ? none() : __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return fails("malloc") ? none() : __libc_calloc(number, size); }
void* realloc(void* old, size_t size) { return fails("malloc") ? none() : __libc_realloc(old, size); }
void* aligned_alloc(size_t line, size_t size) { return fails("malloc") ? none() : __libc_memalign(line, size); }
int posix_memalign(void** out, size_t line, size_t size) {
  if (fails("malloc")) return ENOMEM;
  *out = __libc_memalign(line, size);
  return *out ? 0 : ENOMEM;
}
