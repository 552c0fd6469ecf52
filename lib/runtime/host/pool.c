#define _GNU_SOURCE
#include "runtime/host/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE 64
/* Spins before a waiting thread checks the clock or yields the core; relax() takes 10 to 150 cycles. */
#define SPINS_A_LOOK 64
#define SPIN_NANOSECONDS 50000

typedef struct Worker {
  _Alignas(LINE) atomic_uint done; /* the last generation that this worker finished */
  char* scratch;                   /* passed to bodies: `own`, or lent */
  char* own;
  pthread_t thread;
  HonePool* pool;
  int index;
  int started;
} Worker;

struct HonePool {
  /* Written by the caller, read by all workers: generation last, with release. */
  _Alignas(LINE) atomic_uint generation;
  HoneParallelBody body;
  void* closure;
  int64_t count;
  int active; /* threads with a range in this generation */
  /* Off the line that is polled. */
  _Alignas(LINE) atomic_int sleepers; /* workers in, or on the way to, the futex */
  atomic_int stop;
  int threads;
  int crowded; /* more threads than cores: spinning would block the awaited thread */
  int pin;
  int caller_pinned;
  pid_t owner; /* the process that has the workers */
  pthread_t caller;
  int64_t scratch_bytes;
  cpu_set_t cpus;
  Worker* workers; /* threads; 0 is the caller */
};

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb"); /* `yield` does nothing on most cores */
#endif
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void futex(atomic_uint* word, int op, unsigned value) {
  syscall(SYS_futex, (unsigned*)word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static int64_t range_begin(int64_t count, int threads, int index) {
  int64_t each = count / threads;
  int64_t rest = count % threads;
  return each * index + (index < rest ? index : rest);
}

static void run_range(const HonePool* pool, int index, char* scratch) {
  int64_t begin = range_begin(pool->count, pool->active, index);
  int64_t end = range_begin(pool->count, pool->active, index + 1);
  if (begin < end) pool->body(pool->closure, begin, end, scratch);
}

/* Returns the generation after `seen`: spins, then sleeps. */
static unsigned wait_for_work(HonePool* pool, unsigned seen) {
  int64_t give_up = 0;
  for (unsigned spins = 1;; ++spins) {
    unsigned g = atomic_load_explicit(&pool->generation, memory_order_acquire);
    if (g != seen) return g;
    relax();
    if (spins % SPINS_A_LOOK != 0) continue;
    if (pool->crowded) sched_yield();
    int64_t now = now_ns();
    if (give_up == 0) give_up = now + SPIN_NANOSECONDS;
    if (now < give_up) continue;
    /* Announce, then check once more: the caller first publishes the generation, then looks for sleepers. Both orders
     * are sequentially consistent, so one of the two sees the other. */
    atomic_fetch_add(&pool->sleepers, 1);
    while ((g = atomic_load(&pool->generation)) == seen) futex(&pool->generation, FUTEX_WAIT, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
    return g;
  }
}

static int pin_thread(const HonePool* pool, int index) {
  int wanted = index % CPU_COUNT(&pool->cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &pool->cpus) || wanted-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one);
  }
  return -1;
}

static void* worker_main(void* argument) {
  Worker* self = argument;
  HonePool* pool = self->pool;
  if (pool->pin) pin_thread(pool, self->index);
  unsigned seen = 0;
  for (;;) {
    seen = wait_for_work(pool, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return NULL;
    /* A worker without a range reports as well: the caller waits for all, and so never changes data that a worker still
     * reads. */
    if (self->index < pool->active) run_range(pool, self->index, self->scratch);
    atomic_store_explicit(&self->done, seen, memory_order_release);
  }
}

HonePool* hone_pool_create(int threads, int pin) {
  if (threads < 1) return NULL;
  HonePool* pool = aligned_alloc(LINE, (sizeof *pool + LINE - 1) / LINE * LINE);
  if (!pool) return NULL;
  memset(pool, 0, sizeof *pool);
  pool->threads = threads;
  pool->owner = getpid();
  pool->pin = pin;
  if (sched_getaffinity(0, sizeof pool->cpus, &pool->cpus) != 0 || CPU_COUNT(&pool->cpus) == 0) {
    CPU_ZERO(&pool->cpus);
    CPU_SET(0, &pool->cpus);
    pool->pin = 0;
  }
  pool->crowded = threads > CPU_COUNT(&pool->cpus);
  pool->workers = aligned_alloc(LINE, sizeof(Worker) * (size_t)threads);
  if (!pool->workers) {
    free(pool);
    return NULL;
  }
  memset(pool->workers, 0, sizeof(Worker) * (size_t)threads);
  for (int i = 0; i < threads; ++i) {
    pool->workers[i].pool = pool;
    pool->workers[i].index = i;
  }
  for (int i = 1; i < threads; ++i) {
    if (pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]) != 0) {
      hone_pool_destroy(pool);
      return NULL;
    }
    pool->workers[i].started = 1;
  }
  return pool;
}

static void publish(HonePool* pool) {
  atomic_fetch_add(&pool->generation, 1);
  if (atomic_load(&pool->sleepers) > 0) futex(&pool->generation, FUTEX_WAKE, INT_MAX);
}

void hone_pool_destroy(HonePool* pool) {
  if (!pool) return;
  if (!hone_pool_forked(pool)) {
    atomic_store(&pool->stop, 1);
    publish(pool);
    for (int i = 1; i < pool->threads; ++i) {
      if (pool->workers[i].started) pthread_join(pool->workers[i].thread, NULL);
    }
  }
  for (int i = 0; i < pool->threads; ++i) free(pool->workers[i].own);
  /* Otherwise the next pool would find only one usable core. */
  if (pool->caller_pinned && pthread_equal(pool->caller, pthread_self())) {
    sched_setaffinity(0, sizeof pool->cpus, &pool->cpus);
  }
  free(pool->workers);
  free(pool);
}

int hone_pool_threads(const HonePool* pool) { return pool->threads; }

int hone_pool_forked(const HonePool* pool) { return pool->threads > 1 && getpid() != pool->owner; }

int hone_pool_pin_caller(HonePool* pool) {
  if (pin_thread(pool, 0) != 0) return -1;
  pool->caller_pinned = 1;
  pool->caller = pthread_self();
  return 0;
}

int hone_pool_reserve(HonePool* pool, int64_t bytes) {
  if (bytes <= pool->scratch_bytes) return 0;
  int64_t rounded = (bytes + 4095) / 4096 * 4096;
  char** blocks = malloc(sizeof(char*) * (size_t)pool->threads);
  if (!blocks) return -1;
  for (int i = 0; i < pool->threads; ++i) {
    blocks[i] = aligned_alloc(4096, (size_t)rounded);
    if (blocks[i]) continue;
    while (i-- > 0) free(blocks[i]);
    free(blocks);
    return -1;
  }
  for (int i = 0; i < pool->threads; ++i) {
    Worker* worker = &pool->workers[i];
    if (worker->scratch == worker->own) worker->scratch = blocks[i];
    free(worker->own);
    worker->own = blocks[i];
  }
  free(blocks);
  pool->scratch_bytes = rounded;
  return 0;
}

void hone_pool_lend_scratch(HonePool* pool, char* const* blocks) {
  for (int i = 0; i < pool->threads; ++i) pool->workers[i].scratch = blocks ? blocks[i] : pool->workers[i].own;
}

char* hone_pool_scratch(HonePool* pool, int index) { return pool->workers[index].scratch; }

void hone_pool_launch(void* opaque, HoneParallelBody body, void* closure, int64_t count) {
  HonePool* pool = opaque;
  if (count <= 0) return;
  if (pool->threads == 1 || count == 1) {
    body(closure, 0, count, pool->workers[0].scratch);
    return;
  }
  pool->body = body;
  pool->closure = closure;
  pool->count = count;
  pool->active = count < pool->threads ? (int)count : pool->threads;
  publish(pool);
  unsigned generation = atomic_load_explicit(&pool->generation, memory_order_relaxed);
  run_range(pool, 0, pool->workers[0].scratch);
  for (int i = 1; i < pool->threads; ++i) {
    unsigned spins = 0;
    while (atomic_load_explicit(&pool->workers[i].done, memory_order_acquire) != generation) {
      relax();
      if (++spins % SPINS_A_LOOK == 0 && (pool->crowded || spins > 100 * SPINS_A_LOOK)) sched_yield();
    }
  }
}
