#include "runtime/vta/simulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vta/simulator_state.h"

int hone_vta_fail(HoneVtaSimulator* s, uint32_t index, const char* format, ...) {
  char name[128], what[HONE_VTA_MESSAGE - 130];
  hone_vta_name_step(s->order.stream, index, name, sizeof name);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(s->device.message, sizeof s->device.message, "%s: %s", name, what);
  return 1;
}

int hone_vta_race(HoneVtaSimulator* s, uint32_t index, const char* does, int memory, uint64_t entry, uint32_t other) {
  char name[128], where[64];
  hone_vta_name_step(s->order.stream, other - 1, name, sizeof name);
  if (memory == HONE_VTA_MEMORIES) {
    snprintf(where, sizeof where, "DRAM at address %#llx", (unsigned long long)entry);
  } else {
    snprintf(where, sizeof where, "entry %llu of %s", (unsigned long long)entry, hone_vta_memory_name(memory));
  }
  return hone_vta_fail(s, index, "%s %s, which %s accesses: no token orders the two", does, where, name);
}

/* Memories keep their content between runs, but no stream may rely on it. */
static void BeginMemories(HoneVtaSimulator* s, uint64_t stream, uint64_t bytes) {
  const HoneVtaConfig* c = &s->device.config;
  memset(s->inp_cells, 0, sizeof *s->inp_cells * hone_vta_entries(c, HONE_VTA_INP));
  memset(s->wgt_cells, 0, sizeof *s->wgt_cells * hone_vta_entries(c, HONE_VTA_WGT));
  memset(s->accumulators, 0, sizeof *s->accumulators * hone_vta_entries(c, HONE_VTA_ACC));
  memset(s->uop_set, 0, hone_vta_entries(c, HONE_VTA_UOP));
  s->executions = 0;
  s->executions_left = s->options.most_executions;
  s->stream_begin = stream;
  s->stream_bytes = bytes;
}

/* A module that can run, or HONE_VTA_NOTHING; its next instruction in *index. */
static uint32_t ChooseModule(const HoneVtaStream* stream, HoneVtaProgress* progress, uint64_t* random,
                             uint32_t* index) {
  uint32_t modules[HONE_VTA_MODULES], indices[HONE_VTA_MODULES], count = 0;
  for (uint32_t module = 0; module < HONE_VTA_MODULES; ++module) {
    indices[count] = hone_vta_runnable(stream, progress, module);
    if (indices[count] != HONE_VTA_NOTHING) modules[count++] = module;
  }
  if (count == 0) return HONE_VTA_NOTHING;
  uint32_t chosen = 0;
  if (*random != 0) { /* xorshift */
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    chosen = (uint32_t)(*random >> 33) % count;
  }
  *index = indices[chosen];
  return modules[chosen];
}

static int Execute(HoneVtaSimulator* s, const HoneVtaStream* stream) {
  HoneVtaProgress progress = {{0, 0, 0}, 0};
  uint64_t random = s->options.seed;
  uint32_t index = 0;
  for (;;) {
    const uint32_t module = ChooseModule(stream, &progress, &random, &index);
    if (module == HONE_VTA_NOTHING) break;
    hone_vta_tick(&s->order, index);
    const uint32_t opcode = stream->steps[index].instruction.opcode;
    int failed = 0;
    if (opcode == HONE_VTA_LOAD || opcode == HONE_VTA_STORE) failed = hone_vta_run_transfer(s, index);
    if (opcode == HONE_VTA_GEMM || opcode == HONE_VTA_ALU) failed = hone_vta_run_nest(s, index);
    if (failed) return 1;
    ++progress.done[module];
  }
  if (hone_vta_deadlock(stream, &progress, s->device.message, sizeof s->device.message)) return 1;
  const uint32_t unfinished = hone_vta_unfinished(&s->order);
  if (unfinished == HONE_VTA_MODULES) return 0;
  char name[128];
  hone_vta_name_step(stream, stream->queues[unfinished][stream->lengths[unfinished] - 1], name, sizeof name);
  return hone_vta_fail(s, stream->count - 1, "may run before %s: no token orders the two", name);
}

static int Run(HoneVtaDevice* device, uint64_t address, uint32_t count) {
  HoneVtaSimulator* s = (HoneVtaSimulator*)device;
  const uint64_t bytes = (uint64_t)count * HONE_VTA_INSTRUCTION_BYTES;
  HoneVtaStream stream;
  int failed = hone_vta_read_device_stream(device, address, count, &stream);
  if (!failed && !s->options.only_cycles) {
    BeginMemories(s, address, bytes);
    failed = hone_vta_begin_order(&s->order, &stream, device->pages);
    if (failed) snprintf(device->message, sizeof device->message, "out of memory");
    failed = failed || Execute(s, &stream);
    hone_vta_release_order(&s->order);
  }
  if (!failed) {
    hone_vta_count(&device->config, &stream, &device->counters);
    failed = hone_vta_time(&device->config, &s->options.timing, &stream, &device->counters, device->message,
                           sizeof device->message);
  }
  hone_vta_release_stream(&stream);
  return failed;
}

static void Close(HoneVtaDevice* device) {
  HoneVtaSimulator* s = (HoneVtaSimulator*)device;
  void* all[] = {device->memory, s->inp,       s->wgt,          s->acc,    s->uop,
                 s->inp_cells,   s->wgt_cells, s->accumulators, s->uop_set};
  for (size_t k = 0; k < sizeof all / sizeof *all; ++k) free(all[k]);
}

HoneVtaDevice* hone_vta_open_simulator(const HoneVtaConfig* config, const HoneVtaSimulation* options) {
  const uint64_t dram = options->dram_bytes != 0 ? options->dram_bytes : (uint64_t)128 << 20;
  HoneVtaSimulator* s = (HoneVtaSimulator*)hone_vta_new_device(sizeof *s, config, NULL, HONE_VTA_PAGE_BYTES, dram);
  if (s == NULL) return NULL;
  s->options = *options;
  if (s->options.most_executions == 0) s->options.most_executions = (uint64_t)1 << 28;
  s->device.run = Run;
  s->device.close = Close;
  const size_t inp = hone_vta_entries(config, HONE_VTA_INP), wgt = hone_vta_entries(config, HONE_VTA_WGT);
  const size_t acc = hone_vta_entries(config, HONE_VTA_ACC), uop = hone_vta_entries(config, HONE_VTA_UOP);
  s->device.memory = calloc(s->device.pages + (size_t)1, HONE_VTA_PAGE_BYTES);
  s->inp = calloc(inp * hone_vta_entry_elements(config, HONE_VTA_INP), sizeof *s->inp);
  s->wgt = calloc(wgt * hone_vta_entry_elements(config, HONE_VTA_WGT), sizeof *s->wgt);
  s->acc = calloc(acc * hone_vta_entry_elements(config, HONE_VTA_ACC), sizeof *s->acc);
  s->uop = calloc(uop, sizeof *s->uop);
  s->inp_cells = calloc(inp, sizeof *s->inp_cells);
  s->wgt_cells = calloc(wgt, sizeof *s->wgt_cells);
  s->accumulators = calloc(acc, sizeof *s->accumulators);
  s->uop_set = calloc(uop, 1);
  if (s->device.memory && s->inp && s->wgt && s->acc && s->uop && s->inp_cells && s->wgt_cells && s->accumulators &&
      s->uop_set) {
    return &s->device;
  }
  hone_vta_close(&s->device);
  return NULL;
}
