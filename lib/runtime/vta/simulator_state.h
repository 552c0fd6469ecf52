/* What a run of the simulator works on. For the C files of this folder. */
#ifndef HONE_RUNTIME_VTA_SIMULATOR_STATE_H_
#define HONE_RUNTIME_VTA_SIMULATOR_STATE_H_

#include "runtime/vta/device_base.h"
#include "runtime/vta/order.h"
#include "runtime/vta/simulator.h"

/* Where an accumulator's value comes from in this run. */
enum { kUnset = 0, kLoaded = 1, kComputed = 2 };

typedef struct HoneVtaAccumulator {
  HoneVtaCell cell;
  uint64_t written; /* the execution that last wrote it */
  uint32_t state;
} HoneVtaAccumulator;

typedef struct HoneVtaSimulator {
  HoneVtaDevice device; /* first: device.c sees only this */
  HoneVtaSimulation options;
  /* The memories, an entry after another. INP and WGT hold int8 values as int16, which multiply faster. Results (OUT)
   * are the low bytes of accumulators in state kComputed. */
  int16_t *inp, *wgt;
  int32_t* acc;
  uint32_t* uop;
  HoneVtaCell *inp_cells, *wgt_cells;
  HoneVtaAccumulator* accumulators;
  unsigned char* uop_set; /* loaded in this run */
  uint64_t executions;    /* of the whole run, with gaps between instructions */
  uint64_t executions_left;
  HoneVtaOrder order;
  uint64_t stream_begin, stream_bytes; /* where the running instructions lie, in device addresses */
} HoneVtaSimulator;

/* Each runs one instruction and returns 0, or 1 after hone_vta_fail. */
int hone_vta_run_transfer(HoneVtaSimulator* s, uint32_t index); /* LOAD, STORE */
int hone_vta_run_nest(HoneVtaSimulator* s, uint32_t index);     /* GEMM, ALU */

/* Sets the message: "instruction 7 (LOAD INP) of load: " and the text. Returns 1. */
int hone_vta_fail(HoneVtaSimulator* s, uint32_t index, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* As above, for an access that `other` - 1 conflicts with. */
int hone_vta_race(HoneVtaSimulator* s, uint32_t index, const char* does, int memory, uint64_t entry, uint32_t other);

#endif
