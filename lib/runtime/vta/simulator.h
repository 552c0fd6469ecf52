/* The simulator: VTA's semantics to the bit, the cycle model, and checks that a program is right on any schedule that
 * the hardware may choose. A run fails, naming instruction, module and entry, if
 *
 *   - an instruction accesses an entry outside a memory, or DRAM bytes outside an allocation;
 *   - the modules wait for each other, or a token is never popped (runtime/vta/stream.h);
 *   - two modules access the same entry, one of them writes it, and no token orders the two (order.h);
 *   - an entry is read that this stream never wrote: memories keep what some other stream left in them;
 *   - one instruction reads an accumulator fewer than HONE_VTA_READ_DISTANCE executions after it wrote it, also across
 *     its loops (GEMM and ALU read the accumulator that they change; a reset reads nothing and is not checked);
 *   - STORE reads results that were loaded and never passed GEMM or ALU: the hardware keeps results in a memory of
 *     their own, which loads do not change;
 *   - the ALU shifts by an amount other than -15 to 15;
 *   - it executes more micro-operations than the options allow, so that no stream runs for ever. */
#ifndef HONE_RUNTIME_VTA_SIMULATOR_H_
#define HONE_RUNTIME_VTA_SIMULATOR_H_

#include "runtime/vta/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HoneVtaSimulation {
  HoneVtaTiming timing;
  uint64_t dram_bytes;      /* 0: 128 MiB */
  uint64_t most_executions; /* in one run; 0: 2^28, seconds */
  /* The order in which modules take turns when several could run. 0: load, compute, store; other numbers choose at
   * random, reproducibly. No program that passes the checks depends on it. */
  uint64_t seed;
  int only_cycles; /* nonzero: runs only count and time; DRAM's content stays as it is, and is not checked */
} HoneVtaSimulation;

/* Returns NULL if the configuration has a problem or the host's memory runs out. */
HoneVtaDevice* hone_vta_open_simulator(const HoneVtaConfig* config, const HoneVtaSimulation* options);

#ifdef __cplusplus
}
#endif

#endif
