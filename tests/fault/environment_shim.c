/* Preloaded into hone-tune and its children: limits for some of them, and calls that the system refuses at times.
 * Environment:
 *   HONE_STARTS       folder where each child creates a file named by its process
 *   HONE_WHO          whom the rest is for: compile, measure, children or all
 *   HONE_LIMIT        a resource of setrlimit, and its value: "9 100000"
 *   HONE_SPIN         loops before anything else: takes processor time
 *   HONE_REFUSE       a call that fails: open, mmap, fork, thread or send
 *   HONE_ODDS         one such call in this many fails
 *   HONE_SEED         which ones; each process adds its own number */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char call[16]; /* a copy: a measuring child wipes its environment */
static unsigned long long odds = 1;
static atomic_ullong state;

static unsigned long long number(const char* name) {
  const char* text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(int argc, char** argv) {
  const int child = argc > 1 && (strcmp(argv[1], "compile") == 0 || strcmp(argv[1], "measure") == 0);
  const int tuner = argc > 1 && strcmp(argv[1], "--task") == 0;
  const char* starts = getenv("HONE_STARTS");
  if (child && starts) {
    char path[512];
    snprintf(path, sizeof path, "%s/%d", starts, (int)getpid());
    close(creat(path, 0600));
  }
  const char* who = getenv("HONE_WHO");
  if (!who || !(child || tuner)) return;
  if (strcmp(who, "all") != 0 && !(child && (strcmp(who, "children") == 0 || strcmp(who, argv[1]) == 0))) return;
  unsigned long long resource, most;
  const char* text = getenv("HONE_LIMIT");
  if (text && sscanf(text, "%llu %llu", &resource, &most) == 2) {
    struct rlimit limit;
    getrlimit((int)resource, &limit);
    limit.rlim_cur = most;
    setrlimit((int)resource, &limit);
  }
  for (volatile unsigned long long i = number("HONE_SPIN"); i > 0; --i) {
  }
  odds = number("HONE_ODDS");
  state = number("HONE_SEED") * 1000003 + (unsigned long long)getpid();
  if ((text = getenv("HONE_REFUSE")) && odds > 0) strncpy(call, text, sizeof call - 1);
}

static int refused(const char* name, int error) {
  if (strcmp(call, name) != 0) return 0;
  unsigned long long x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15ull);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  if ((x ^ (x >> 31)) % odds != 0) return 0;
  errno = error;
  return 1;
}

#define OPEN(name)                                 \
  int name(const char* path, int flags, ...) {     \
    va_list list;                                  \
    va_start(list, flags);                         \
    const mode_t mode = (mode_t)va_arg(list, int); \
    va_end(list);                                  \
    if (refused("open", EMFILE)) return -1;        \
    return REAL(name)(path, flags, mode);          \
  }
OPEN(open)
OPEN(open64)

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (refused("mmap", ENOMEM)) return MAP_FAILED;
  return REAL(mmap)(at, bytes, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  if (refused("mmap", ENOMEM)) return MAP_FAILED;
  return REAL(mmap64)(at, bytes, protection, flags, fd, offset);
}
pid_t fork(void) { return refused("fork", EAGAIN) ? -1 : REAL(fork)(); }
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  if (refused("thread", EAGAIN)) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, body, argument);
}
ssize_t send(int fd, const void* data, size_t bytes, int flags) {
  return refused("send", ENOBUFS) ? -1 : REAL(send)(fd, data, bytes, flags);
}
