/* Preloaded into a tool: its HONE_ALLOC_FAIL-th allocation from main on fails, and the file HONE_ALLOC_REPORT then
 * holds "refused". If none fails, the file gets their number at the end. C++'s operator new calls malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

typedef int Main(int, char**, char**);

static atomic_long count, failing;
static int began; /* 0 until main: libraries allocate earlier, and some then abort */
static Main* real_main;

static int counted_main(int argc, char** argv, char** environment) {
  const char* text = getenv("HONE_ALLOC_FAIL");
  failing = text ? atol(text) : 0;
  began = 1;
  return real_main(argc, argv, environment);
}

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  int (*start)(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*) =
      (__typeof__(start))dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

static void report(const char* text) {
  const char* path = getenv("HONE_ALLOC_REPORT");
  const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
  if (fd < 0) return;
  (void)!write(fd, text, strlen(text));
  close(fd);
}

__attribute__((destructor)) static void end(void) {
  char text[32];
  if (failing > 0 && count >= failing) return;
  snprintf(text, sizeof text, "%ld", (long)count);
  report(text);
}

static int fails(void) {
  if (!began || atomic_fetch_add(&count, 1) + 1 != atomic_load(&failing)) return 0;
  report("refused");
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }
int posix_memalign(void** out, size_t to, size_t size) {
  return fails() || (*out = __libc_memalign(to, size)) == NULL ? ENOMEM : 0;
}
