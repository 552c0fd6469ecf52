/* What simulator and board have in common: memory and its allocations. For the C files of this folder. */
#ifndef HONE_RUNTIME_VTA_DEVICE_BASE_H_
#define HONE_RUNTIME_VTA_DEVICE_BASE_H_

#include <stddef.h>

#include "runtime/vta/device.h"

/* A message that names an instruction has at most two, with an explanation. */
#define HONE_VTA_MESSAGE 512

struct HoneVtaDevice {
  HoneVtaConfig config;
  unsigned char* memory; /* device addresses base .. base + pages * HONE_VTA_PAGE_BYTES - 1, as the host sees them */
  uint64_t base;
  uint32_t pages;
  /* For each page: 1 + the first page of its allocation, or 0. For each first page: the bytes that were asked for. */
  uint32_t* first;
  uint64_t* bytes;
  HoneVtaCounters counters;
  char message[HONE_VTA_MESSAGE];
  int (*run)(HoneVtaDevice* device, uint64_t stream, uint32_t count);
  void (*close)(HoneVtaDevice* device); /* releases what the implementation added, but not the device itself */
};

/* Sets up a zeroed device; `size` is that of the implementation's struct, which begins with a HoneVtaDevice. Returns
 * NULL if the configuration has a problem or the host's memory runs out. */
HoneVtaDevice* hone_vta_new_device(size_t size, const HoneVtaConfig* config, void* memory, uint64_t base,
                                   uint64_t bytes);

/* The host's pointer to device bytes, or NULL unless they lie in one allocation. */
unsigned char* hone_vta_bytes(const HoneVtaDevice* device, uint64_t address, uint64_t bytes);

#endif
