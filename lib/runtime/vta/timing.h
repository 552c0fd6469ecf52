/* The cycle model: what a stream costs on a design, in whole cycles, without its data. The time of a run depends only
 * on the stream and the parameters. doc/internals/vta.md says what it leaves out. */
#ifndef HONE_RUNTIME_VTA_TIMING_H_
#define HONE_RUNTIME_VTA_TIMING_H_

#include "runtime/vta/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cycles, unless another unit is named. */
typedef struct HoneVtaTiming {
  const char* name;
  uint32_t megahertz;
  uint32_t any; /* each instruction: to take it from its queue, to decode it, to handle tokens */
  /* DRAM: a row of a transfer costs `row`, the bytes, and for loads also `burst` for each started `burst_bytes`. With 0
   * bytes a cycle, transfers cost nothing. Micro-operations arrive at half that rate. */
  uint32_t bytes_per_cycle, row, burst, burst_bytes;
  uint32_t pad;                    /* an entry of padding */
  uint32_t nest, gemm, reset, alu; /* to fill and drain the pipeline; then each executed micro-operation */
} HoneVtaTiming;

/* The presets, the last one with a NULL name:
 *   pynq       the design on the Pynq board as of today, 100 MHz
 *   pynq-2019  the same before July 2019, when the ALU still took one lane a cycle
 *   tsim       VTA's cycle-accurate simulator: no DRAM latency
 *   ideal      only matrix products cost anything: the lower bound */
const HoneVtaTiming* hone_vta_presets(void);
/* NULL if there is no preset of this name. */
const HoneVtaTiming* hone_vta_find_preset(const char* name);

/* The cycles for which an instruction holds its module, and DRAM's port if *port is then set. */
uint64_t hone_vta_cycles(const HoneVtaConfig* config, const HoneVtaTiming* timing,
                         const HoneVtaInstruction* instruction, int* port);

/* Sets the counters' cycles. When DRAM's port becomes free, load goes first, then compute, then store, however
 * long each has waited. Returns 0, or 1 with a message: deadlock, or no memory. */
int hone_vta_time(const HoneVtaConfig* config, const HoneVtaTiming* timing, const HoneVtaStream* stream,
                  HoneVtaCounters* counters, char* message, int size);

#ifdef __cplusplus
}
#endif

#endif
