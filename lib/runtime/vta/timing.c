/* Discrete events. An instruction can start when its module is free, its tokens have been pushed and, if it uses DRAM,
 * the only port is free. Each step looks at the next instruction of every module and runs the one that can start first.
 * If several can start at the same cycle, load goes first, then compute, then store.
 *
 * A module whose next instruction still waits for a token can be left out of a step: the token comes from an
 * instruction that runs in this step or later, so the waiting instruction cannot start before that one ends. */
#include "runtime/vta/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the fields: name, megahertz, any; bytes_per_cycle, row, burst, burst_bytes, pad; nest, gemm, reset,
 * alu. */
static const HoneVtaTiming kPresets[] = {{"pynq", 100, 5, 8, 32, 16, 128, 1, 20, 1, 1, 2},
                                         {"pynq-2019", 100, 5, 8, 32, 16, 128, 1, 20, 1, 1, 26},
                                         {"tsim", 100, 10, 8, 6, 0, 0, 1, 8, 1, 1, 1},
                                         {"ideal", 100, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
                                         {NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

const HoneVtaTiming* hone_vta_presets(void) { return kPresets; }

const HoneVtaTiming* hone_vta_find_preset(const char* name) {
  for (const HoneVtaTiming* preset = kPresets; preset->name != NULL; ++preset) {
    if (strcmp(preset->name, name) == 0) return preset;
  }
  return NULL;
}

static uint64_t CeilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static uint64_t TransferCycles(const HoneVtaConfig* config, const HoneVtaTiming* t, const HoneVtaInstruction* i) {
  const uint64_t bytes = (uint64_t)i->x_size * hone_vta_entry_bytes(config, (int)i->memory);
  if (i->opcode == HONE_VTA_STORE) return i->y_size * (t->row + CeilDiv(bytes, t->bytes_per_cycle));
  const uint64_t moved = CeilDiv(bytes * (i->memory == HONE_VTA_UOP ? 2 : 1), t->bytes_per_cycle);
  const uint64_t entries = (uint64_t)i->x_size * i->y_size;
  const uint64_t image = (uint64_t)(i->x_pad_0 + i->x_size + i->x_pad_1) * (i->y_pad_0 + i->y_size + i->y_pad_1);
  const uint64_t bursts = t->burst == 0 ? 0 : CeilDiv(bytes, t->burst_bytes);
  return i->y_size * (t->row + bursts * t->burst + moved) + (image - entries) * t->pad;
}

uint64_t hone_vta_cycles(const HoneVtaConfig* config, const HoneVtaTiming* t, const HoneVtaInstruction* i, int* port) {
  *port = 0;
  switch (i->opcode) {
    case HONE_VTA_LOAD:
    case HONE_VTA_STORE:
      *port = hone_vta_transfers(i) && t->bytes_per_cycle != 0;
      return t->any + (*port ? TransferCycles(config, t, i) : 0);
    case HONE_VTA_GEMM:
      return t->any + t->nest + hone_vta_executions(i) * (i->reset ? t->reset : t->gemm);
    case HONE_VTA_ALU:
      return t->any + t->nest + hone_vta_executions(i) * t->alu;
    default:
      return t->any;
  }
}

int hone_vta_time(const HoneVtaConfig* config, const HoneVtaTiming* timing, const HoneVtaStream* stream,
                  HoneVtaCounters* counters, char* message, int size) {
  uint64_t* ends = malloc(sizeof *ends * (stream->count + (size_t)1));
  if (ends == NULL) {
    snprintf(message, (size_t)size, "out of memory");
    return 1;
  }
  uint64_t module_free[HONE_VTA_MODULES] = {0, 0, 0}, port_free = 0;
  HoneVtaProgress progress = {{0, 0, 0}, 0};
  for (;;) {
    uint32_t next = HONE_VTA_NOTHING;
    uint64_t begin = UINT64_MAX, cycles = 0;
    int uses_port = 0;
    for (uint32_t module = 0; module < HONE_VTA_MODULES; ++module) {
      const uint32_t index = hone_vta_runnable(stream, &progress, module);
      if (index == HONE_VTA_NOTHING) continue;
      const HoneVtaStep* step = &stream->steps[index];
      int port;
      const uint64_t held = hone_vta_cycles(config, timing, &step->instruction, &port);
      uint64_t start = module_free[module];
      if (port && port_free > start) start = port_free;
      for (int field = HONE_VTA_POP_PREV; field <= HONE_VTA_POP_NEXT; ++field) {
        const uint32_t pusher = step->waits[field];
        if (pusher != HONE_VTA_NOTHING && ends[pusher] > start) start = ends[pusher];
      }
      if (start < begin) begin = start, next = index, cycles = held, uses_port = port;
    }
    if (next == HONE_VTA_NOTHING) break;
    const HoneVtaStep* step = &stream->steps[next];
    ends[next] = module_free[step->module] = begin + cycles;
    if (uses_port) port_free = ends[next], counters->port_busy += cycles;
    counters->busy[step->module] += cycles;
    if (ends[next] > counters->cycles) counters->cycles = ends[next];
    ++progress.done[step->module];
  }
  free(ends);
  return hone_vta_deadlock(stream, &progress, message, size);
}
