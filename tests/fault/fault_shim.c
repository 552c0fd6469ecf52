/* Preloaded into the tools under test: a disk that is full or cannot be written, and a clock that jumps. Environment:
 *   HONE_SHIM_FOLDER   only files below it are touched
 *   HONE_SHIM_ROOM     so many bytes can be written there by each process, then ENOSPC, for good
 *   HONE_SHIM_RO       nothing can be made, written, renamed or removed there: EROFS
 *   HONE_SHIM_CLOCK    seed: the time of day jumps by up to ten days, forth and back, with every look at it */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char* folder;
static int read_only, jumping;
static atomic_llong room = -1;
static atomic_ullong state;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("HONE_SHIM_FOLDER");
  read_only = getenv("HONE_SHIM_RO") != NULL;
  const char* text = getenv("HONE_SHIM_ROOM");
  if (text) room = atoll(text);
  text = getenv("HONE_SHIM_CLOCK");
  jumping = text != NULL;
  if (text) state = strtoull(text, NULL, 10) + (unsigned long long)getpid();
}

/* A measuring child wipes its environment, where the folder's name is, and may then ask the system for no paths. */
static int active(void) { return folder && *folder; }

static int inside(const char* path) {
  char full[PATH_MAX];
  if (!active() || !path) return 0;
  if (path[0] != '/') {
    char cwd[PATH_MAX / 2];
    if (!getcwd(cwd, sizeof cwd)) return 0;
    if (snprintf(full, sizeof full, "%s/%s", cwd, path) >= (int)sizeof full) return 0;
    path = full;
  }
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int fd_inside(int fd) {
  char link[64], path[PATH_MAX];
  if (!active()) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int saved = errno;
  ssize_t n = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (n <= 0 || path[0] != '/') return 0; /* a pipe, say */
  path[n] = 0;
  return inside(path);
}

/* -1 and errno if there is no room for so many bytes. */
static int take_room(int fd, size_t bytes) {
  if (room < 0 || !fd_inside(fd)) return 0;
  if (atomic_load(&room) >= (long long)bytes) {
    atomic_fetch_sub(&room, (long long)bytes);
    return 0;
  }
  atomic_store(&room, 0);
  errno = ENOSPC;
  return -1;
}

static int refuse(const char* path) {
  if (!read_only || !inside(path)) return 0;
  errno = EROFS;
  return -1;
}

static int writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

#define OPEN(name)                                        \
  int name(const char* path, int flags, ...) {            \
    va_list list;                                         \
    va_start(list, flags);                                \
    mode_t mode = (mode_t)va_arg(list, int);              \
    va_end(list);                                         \
    if (writing(flags) && refuse(path)) return -1;        \
    return REAL(name)(path, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)

FILE* fopen(const char* path, const char* mode) {
  if (strpbrk(mode, "wa+") && refuse(path)) return NULL;
  return REAL(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (strpbrk(mode, "wa+") && refuse(path)) return NULL;
  return REAL(fopen64)(path, mode);
}
int rename(const char* from, const char* to) { return refuse(from) || refuse(to) ? -1 : REAL(rename)(from, to); }
int link(const char* from, const char* to) { return refuse(to) ? -1 : REAL(link)(from, to); }
int unlink(const char* path) { return refuse(path) ? -1 : REAL(unlink)(path); }
int mkdir(const char* path, mode_t mode) {
  struct stat info;
  if (read_only && inside(path) && stat(path, &info) == 0) {
    errno = EEXIST;
    return -1;
  }
  return refuse(path) ? -1 : REAL(mkdir)(path, mode);
}

ssize_t write(int fd, const void* data, size_t bytes) {
  return take_room(fd, bytes) ? -1 : REAL(write)(fd, data, bytes);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  return take_room(fd, bytes) ? -1 : REAL(pwrite)(fd, data, bytes, at);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) {
  return take_room(fd, bytes) ? -1 : REAL(pwrite64)(fd, data, bytes, at);
}

static int64_t jump(void) {
  unsigned long long x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15ull);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return (int64_t)((x ^ (x >> 31)) % 1728000) - 864000;
}

int clock_gettime(clockid_t id, struct timespec* t) {
  int result = REAL(clock_gettime)(id, t);
  if (jumping && id == CLOCK_REALTIME && result == 0) t->tv_sec += jump();
  return result;
}
int gettimeofday(struct timeval* t, void* zone) {
  int result = REAL(gettimeofday)(t, zone);
  if (jumping && result == 0) t->tv_sec += jump();
  return result;
}
time_t time(time_t* out) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (out) *out = t.tv_sec;
  return t.tv_sec;
}
