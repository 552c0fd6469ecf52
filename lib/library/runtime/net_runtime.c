#define _GNU_SOURCE
#include "library/runtime/net_runtime.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/host/pool.h"

#define LINE 64u
#define PAGE 4096u
#define HUGE_PAGE (2u << 20)

/* An entry of a node's buffer array for a caller's pointer, which each run fills in. */
typedef struct Patch {
  void** slot;
  uint32_t output; /* 0: an input */
  uint32_t index;
} Patch;

typedef struct HoneNet {
  HoneNetParams params;
  HonePool* pool;
  HoneParallel parallel;
  char* workspace; /* arena, kernels' workspace, copies of unaligned inputs and outputs */
  char* own_workspace;
  char* scratch;
  void** buffers; /* of all nodes, one after the other */
  void*** node_buffers;
  Patch* patches;
  size_t patch_count;
  char** staging; /* one per input, then one per output */
  atomic_int running;
} HoneNet;

static uint64_t round_up(uint64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static uint64_t staging_bytes(const HoneNetTable* t) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < t->info.input_count; ++i) sum += round_up(t->info.inputs[i].bytes);
  for (int32_t i = 0; i < t->info.output_count; ++i) sum += round_up(t->info.outputs[i].bytes);
  return sum;
}

static uint64_t workspace_bytes(const HoneNetTable* t) {
  return round_up(t->arena_bytes) + round_up(t->workspace_bytes) + staging_bytes(t);
}

/* Uses huge pages if it is large enough to fill one and the system provides them on request: kernels access activations
 * in strides of whole rows, and a page of 4 KiB holds few rows. The end stays on small pages, as most of a huge page
 * there would be wasted. */
static char* allocate_workspace(uint64_t bytes) {
  const uint64_t page = bytes >= HUGE_PAGE ? HUGE_PAGE : PAGE;
  char* data = aligned_alloc(page, (bytes + page) / page * page);
  if (data && page == HUGE_PAGE) madvise(data, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  return data;
}

const HoneNetInfo* hone_net_info(void) { return &hone_net_table.info; }

HONE_NET_EXPORT size_t HONE_NET_workspace_size(void) { return (size_t)workspace_bytes(&hone_net_table); }

HONE_NET_EXPORT void HONE_NET_destroy(HoneNet* net) {
  if (!net) return;
  hone_pool_destroy(net->pool);
  hone_net_params_close(&net->params);
  free(net->own_workspace);
  free(net->buffers);
  free(net->node_buffers);
  free(net->patches);
  free(net->staging);
  free(net);
}

/* Fills in the buffer arrays of all nodes, except the entries that change from run to run. */
static int bind_buffers(HoneNet* net, const HoneNetTable* t) {
  size_t args = 0, patches = 0;
  for (int32_t n = 0; n < t->info.layer_count; ++n) {
    args += t->nodes[n].arg_count;
    for (uint64_t a = 0; a < t->nodes[n].arg_count; ++a) patches += t->nodes[n].args[a].kind >= HONE_NET_INPUT;
  }
  net->buffers = calloc(args + 1, sizeof *net->buffers);
  net->node_buffers = calloc((size_t)t->info.layer_count + 1, sizeof *net->node_buffers);
  net->patches = calloc(patches + 1, sizeof *net->patches);
  net->staging = calloc((size_t)(t->info.input_count + t->info.output_count) + 1, sizeof *net->staging);
  if (!net->buffers || !net->node_buffers || !net->patches || !net->staging) return HONE_NET_E_MEMORY;

  char* staging = net->workspace + round_up(t->arena_bytes) + round_up(t->workspace_bytes);
  for (int32_t i = 0; i < t->info.input_count + t->info.output_count; ++i) {
    net->staging[i] = staging;
    staging +=
        round_up(i < t->info.input_count ? t->info.inputs[i].bytes : t->info.outputs[i - t->info.input_count].bytes);
  }
  void** slot = net->buffers;
  for (int32_t n = 0; n < t->info.layer_count; ++n) {
    net->node_buffers[n] = slot;
    for (uint64_t a = 0; a < t->nodes[n].arg_count; ++a, ++slot) {
      const HoneNetArg* arg = &t->nodes[n].args[a];
      if (arg->kind == HONE_NET_ARENA) *slot = net->workspace + arg->offset;
      if (arg->kind == HONE_NET_PARAMS) *slot = (void*)(net->params.data + arg->offset);
      if (arg->kind >= HONE_NET_INPUT) {
        Patch* p = &net->patches[net->patch_count++];
        p->slot = slot;
        p->output = arg->kind == HONE_NET_OUTPUT;
        p->index = arg->index;
      }
    }
  }
  return HONE_NET_OK;
}

static int create(HoneNet* net, const HoneNetTable* t, const HoneNetOptions* options) {
  int code = hone_net_params_open(t->digest, t->params_bytes, options, &net->params);
  if (code != HONE_NET_OK) return code;
  const uint64_t bytes = workspace_bytes(t);
  if (options->workspace) {
    if (options->workspace_size < bytes || (uintptr_t)options->workspace % LINE != 0) return HONE_NET_E_WORKSPACE;
    net->workspace = options->workspace;
  } else {
    net->own_workspace = allocate_workspace(bytes);
    if (!net->own_workspace) return HONE_NET_E_MEMORY;
    net->workspace = net->own_workspace;
  }
  /* Lanes that no kernel writes must not contain signalling NaNs, and pages are better touched now than in the first
   * run. The copies are left out: callers that align their buffers never need them. */
  memset(net->workspace, 0, bytes - staging_bytes(t));
  net->pool = hone_pool_create(options->threads ? options->threads : t->info.threads, options->pin);
  if (!net->pool) return HONE_NET_E_THREADS;
  if (options->pin) hone_pool_pin_caller(net->pool);
  if (hone_pool_reserve(net->pool, (int64_t)t->scratch_bytes) != 0) return HONE_NET_E_MEMORY;
  net->scratch = hone_pool_scratch(net->pool, 0);
  net->parallel.launch = hone_pool_launch;
  net->parallel.pool = net->pool;
  return bind_buffers(net, t);
}

HONE_NET_EXPORT int HONE_NET_create(const HoneNetOptions* options, HoneNet** out) {
  if (!out) return HONE_NET_E_ARGUMENT;
  *out = NULL;
  if (!options || options->threads < 0 || options->threads > 1024) return HONE_NET_E_ARGUMENT;
  if (!hone_net_cpu_fits(&hone_net_table)) return HONE_NET_E_CPU;
  HoneNet* net = calloc(1, sizeof *net);
  if (!net) return HONE_NET_E_MEMORY;
  const int code = create(net, &hone_net_table, options);
  if (code != HONE_NET_OK) {
    HONE_NET_destroy(net);
    return code;
  }
  *out = net;
  return HONE_NET_OK;
}

static int misaligned(const void* p) { return (uintptr_t)p % LINE != 0; }

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_nodes(HoneNet* net, const HoneNetTable* t, double* seconds) {
  char* workspace = net->workspace + round_up(t->arena_bytes);
  const int32_t count = t->info.layer_count;
  if (!seconds) {
    for (int32_t n = 0; n < count; ++n)
      t->nodes[n].kernel(net->node_buffers[n], &net->parallel, workspace, net->scratch);
    return;
  }
  double before = now_seconds();
  for (int32_t n = 0; n < count; ++n) {
    t->nodes[n].kernel(net->node_buffers[n], &net->parallel, workspace, net->scratch);
    const double after = now_seconds();
    seconds[n] = after - before;
    before = after;
  }
}

HONE_NET_EXPORT int HONE_NET_profile_run(HoneNet* net, const void* const* inputs, void* const* outputs,
                                         double* seconds) {
  const HoneNetTable* t = &hone_net_table;
  if (!net || !inputs || !outputs) return HONE_NET_E_ARGUMENT;
  for (int32_t i = 0; i < t->info.input_count; ++i) {
    if (!inputs[i]) return HONE_NET_E_ARGUMENT;
  }
  for (int32_t i = 0; i < t->info.output_count; ++i) {
    if (!outputs[i]) return HONE_NET_E_ARGUMENT;
  }
  if (hone_pool_forked(net->pool)) return HONE_NET_E_FORKED;
  if (atomic_exchange_explicit(&net->running, 1, memory_order_acquire)) return HONE_NET_E_BUSY;
  for (int32_t i = 0; i < t->info.input_count; ++i) {
    if (misaligned(inputs[i])) memcpy(net->staging[i], inputs[i], t->info.inputs[i].bytes);
  }
  for (size_t i = 0; i < net->patch_count; ++i) {
    const Patch* p = &net->patches[i];
    const void* given = p->output ? outputs[p->index] : inputs[p->index];
    if (misaligned(given)) given = net->staging[p->output ? (uint32_t)t->info.input_count + p->index : p->index];
    *p->slot = (void*)given;
  }
  run_nodes(net, t, seconds);
  for (int32_t i = 0; i < t->info.output_count; ++i) {
    if (misaligned(outputs[i])) memcpy(outputs[i], net->staging[t->info.input_count + i], t->info.outputs[i].bytes);
  }
  atomic_store_explicit(&net->running, 0, memory_order_release);
  return HONE_NET_OK;
}

HONE_NET_EXPORT int HONE_NET_run(HoneNet* net, const void* const* inputs, void* const* outputs) {
  return HONE_NET_profile_run(net, inputs, outputs, NULL);
}
