/* A VTA accelerator: the simulator or a board behind one interface. C11 without dependencies, so that a deployed
 * library contains the same code.
 *
 * DRAM that both sides see is allocated in whole pages and named by its device address, which is never 0. Instructions
 * and their data must lie in it. A stream is an array of instructions (target/vta/instruction.h) that ends with FINISH.
 * Use a device from one thread at a time. After a failure, hone_vta_message says what and where. */
#ifndef HONE_RUNTIME_VTA_DEVICE_H_
#define HONE_RUNTIME_VTA_DEVICE_H_

#include <stdint.h>

#include "target/vta/config.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HONE_VTA_MODULE_LOAD = 0, HONE_VTA_MODULE_COMPUTE = 1, HONE_VTA_MODULE_STORE = 2, HONE_VTA_MODULES = 3 };

/* What a stream moves and computes. Padding is not counted; bytes are those in DRAM. */
typedef struct HoneVtaCounters {
  uint64_t instructions;
  uint64_t load_bytes[HONE_VTA_MEMORIES]; /* by memory id */
  uint64_t store_bytes;
  uint64_t gemm, reset, alu; /* executed micro-operations */
  /* Simulated time; 0 on a board. The modules' cycles exclude waiting, and overlap. */
  uint64_t cycles, busy[HONE_VTA_MODULES], port_busy;
} HoneVtaCounters;

typedef struct HoneVtaDevice HoneVtaDevice;

/* Returns the device address of `bytes` bytes with undefined content, or 0 if DRAM has no such gap. */
uint64_t hone_vta_allocate(HoneVtaDevice* device, uint64_t bytes);
/* `address` is 0 or what allocate returned. */
void hone_vta_release(HoneVtaDevice* device, uint64_t address);

/* These return 0 on success. The device bytes must lie in one allocation. */
int hone_vta_copy_in(HoneVtaDevice* device, uint64_t to, const void* from, uint64_t bytes);
int hone_vta_copy_out(HoneVtaDevice* device, void* to, uint64_t from, uint64_t bytes);
/* Runs `count` instructions at device address `stream` and waits for FINISH. */
int hone_vta_run(HoneVtaDevice* device, uint64_t stream, uint32_t count);

/* Of the last run; all 0 if it failed. */
const HoneVtaCounters* hone_vta_counters(const HoneVtaDevice* device);
/* Why the last failing call failed, in one line. */
const char* hone_vta_message(const HoneVtaDevice* device);

/* NULL is allowed. */
void hone_vta_close(HoneVtaDevice* device);

#ifdef __cplusplus
}
#endif

#endif
