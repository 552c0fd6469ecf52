/* The order check. Instruction A happens before B if both belong to one module and A comes first, or B pops a token
 * that A pushed, or by a chain of these. Tokens are matched statically (stream.h), so this is the same for all
 * schedules: if any two accesses that conflict are ordered, then all schedules give the same result.
 *
 * Each instruction has a clock: for each module, how many of its instructions happen before. An entry remembers its
 * last writer and its last reader, which suffices: each of the two is checked against the ones before. */
#ifndef HONE_RUNTIME_VTA_ORDER_H_
#define HONE_RUNTIME_VTA_ORDER_H_

#include "runtime/vta/stream.h"

/* 1 + the instruction; 0: no access in this run. Each memory has one module that writes and one that reads from outside
 * (load and compute; compute and store). */
typedef struct HoneVtaCell {
  uint32_t writer, reader;
} HoneVtaCell;

/* DRAM, in words of 4 bytes: written by store, read by load and by compute. Accesses to different bytes of one word
 * count as a conflict, so the check may refuse a right program if entries are smaller (LOG_BATCH + LOG_BLOCK < 2). */
typedef struct HoneVtaDramCell {
  uint32_t writer, readers[2];
} HoneVtaDramCell;

typedef struct HoneVtaOrder {
  const HoneVtaStream* stream;
  uint32_t (*clocks)[HONE_VTA_MODULES];
  uint32_t pages;
  HoneVtaDramCell** dram; /* for each page its words, NULL until accessed */
} HoneVtaOrder;

/* Returns 0 on success, 1 if memory runs out. Release it in both cases. */
int hone_vta_begin_order(HoneVtaOrder* order, const HoneVtaStream* stream, uint32_t pages);
void hone_vta_release_order(HoneVtaOrder* order);

/* Call it when an instruction runs, before its accesses: sets its clock. */
void hone_vta_tick(HoneVtaOrder* order, uint32_t index);

/* Record an access of the instruction `index` and return 0; or return 1 + the instruction that it conflicts with. */
uint32_t hone_vta_read_cell(const HoneVtaOrder* order, HoneVtaCell* cell, uint32_t index);
uint32_t hone_vta_write_cell(const HoneVtaOrder* order, HoneVtaCell* cell, uint32_t index);
/* The same for DRAM bytes, counted from the first page; UINT32_MAX if memory runs out. */
uint32_t hone_vta_access_dram(HoneVtaOrder* order, uint64_t begin, uint64_t bytes, uint32_t index);

/* The module whose instructions may not all have happened when the last instruction (FINISH) runs, or
 * HONE_VTA_MODULES. */
uint32_t hone_vta_unfinished(const HoneVtaOrder* order);

#endif
