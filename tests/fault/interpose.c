/* Preloaded into a program, this fails the FAULT_AT-th call of FAULT_CALL (open, write, rename, ftruncate or malloc) with FAULT_ERRNO,
   once or (FAULT_ALWAYS=1) from then on, and a failing write first writes half of what it was given. Calls are counted in the file
   FAULT_COUNT. Only calls after the first one on a file whose name holds FAULT_NAME count, where that is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char* wanted;
static long at = -1, count = 0;
static int code = ENOSPC, always = 0;

__attribute__((constructor)) static void begin(void) {
  const char* text = getenv("FAULT_AT");
  wanted = getenv("FAULT_CALL");
  if (text) at = atol(text);
  if ((text = getenv("FAULT_ERRNO"))) code = atoi(text);
  always = getenv("FAULT_ALWAYS") != NULL;
}

static int fails(const char* call) {
  if (!wanted || strcmp(wanted, call) != 0) return 0;
  const long mine = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  if (mine != at && !(always && mine > at)) return 0;
  errno = code;
  return 1;
}

__attribute__((destructor)) static void end(void) {
  const char* name = getenv("FAULT_COUNT");
  if (!name) return;
  FILE* file = fopen(name, "w");
  if (!file) return;
  wanted = NULL;
  fprintf(file, "%ld\n", count);
  fclose(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

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

ssize_t write(int file, const void* data, size_t size) {
  if (file > 2 && fails("write")) {
    if (size > 1) {
      REAL(write)(file, data, size / 2);
      errno = code;
    }
    return size > 1 && code == 0 ? (ssize_t)(size / 2) : -1;
  }
  return REAL(write)(file, data, size);
}

int rename(const char* from, const char* to) { return fails("rename") ? -1 : REAL(rename)(from, to); }
int ftruncate(int file, off_t size) { return fails("ftruncate") ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off_t size) __attribute__((alias("ftruncate")));

extern void* __libc_malloc(size_t size);
void* malloc(size_t size) { return fails("malloc") ? NULL : __libc_malloc(size); }
