/* A board: starts VTA's four cores by their mapped registers and polls until compute reports FINISH. Before the start
 * it refuses streams that cannot end (runtime/vta/stream.h), but it does not check their data. The caller maps
 * registers and memory, which differ between systems; nothing here opens a file. */
#ifndef HONE_RUNTIME_VTA_BOARD_H_
#define HONE_RUNTIME_VTA_BOARD_H_

#include "runtime/vta/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Byte offsets of the cores' registers. */
enum {
  HONE_VTA_REG_CONTROL = 0x00, /* of each core: HONE_VTA_START or HONE_VTA_AUTORESTART */
  HONE_VTA_REG_FETCH_COUNT = 0x10,
  HONE_VTA_REG_FETCH_ADDRESS = 0x18,
  HONE_VTA_REG_LOAD_INP = 0x10,
  HONE_VTA_REG_LOAD_WGT = 0x18,
  HONE_VTA_REG_COMPUTE_DONE_WRITE = 0x10,
  HONE_VTA_REG_COMPUTE_DONE_READ = 0x18,
  HONE_VTA_REG_COMPUTE_UOP = 0x20,
  HONE_VTA_REG_COMPUTE_BIAS = 0x28,
  HONE_VTA_REG_STORE_OUT = 0x10
};
enum { HONE_VTA_START = 0x01, HONE_VTA_AUTORESTART = 0x81, HONE_VTA_DONE = 0x01 };

typedef struct HoneVtaBoard {
  volatile uint32_t *fetch, *load, *compute, *store; /* each core's registers */
  /* Contiguous memory that host and accelerator see alike (coherent). Its physical address is a multiple of
   * HONE_VTA_PAGE_BYTES other than 0, and its end is at most 2^32. */
  void* memory;
  uint64_t physical, bytes;
  /* Called after the start and between polls: sleep for a microsecond, or yield. */
  void (*pause)(void* context);
  void* context;
  uint32_t polls; /* before a run fails */
} HoneVtaBoard;

/* Registers and memory must outlive the device. Returns NULL if the configuration has a problem, memory is not as
 * above, or the host's memory runs out. */
HoneVtaDevice* hone_vta_open_board(const HoneVtaConfig* config, const HoneVtaBoard* board);

#ifdef __cplusplus
}
#endif

#endif
