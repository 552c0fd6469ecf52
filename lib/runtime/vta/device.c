#include "runtime/vta/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vta/device_base.h"

HoneVtaDevice* hone_vta_new_device(size_t size, const HoneVtaConfig* config, void* memory, uint64_t base,
                                   uint64_t bytes) {
  char message[HONE_VTA_MESSAGE];
  if (hone_vta_config_problem(config, message, sizeof message) != NULL) return NULL;
  HoneVtaDevice* device = calloc(1, size);
  if (device == NULL) return NULL;
  device->config = *config;
  device->memory = memory;
  device->base = base;
  device->pages = (uint32_t)(bytes / HONE_VTA_PAGE_BYTES);
  device->first = calloc(device->pages + 1u, sizeof *device->first);
  device->bytes = calloc(device->pages + 1u, sizeof *device->bytes);
  if (device->first != NULL && device->bytes != NULL) return device;
  hone_vta_close(device);
  return NULL;
}

void hone_vta_close(HoneVtaDevice* device) {
  if (device == NULL) return;
  if (device->close != NULL) device->close(device);
  free(device->first);
  free(device->bytes);
  free(device);
}

/* The first gap that is large enough. */
uint64_t hone_vta_allocate(HoneVtaDevice* device, uint64_t bytes) {
  if (bytes > (uint64_t)device->pages * HONE_VTA_PAGE_BYTES) return 0;
  const uint32_t wanted = bytes == 0 ? 1 : (uint32_t)((bytes + HONE_VTA_PAGE_BYTES - 1) / HONE_VTA_PAGE_BYTES);
  uint32_t free_pages = 0;
  for (uint32_t page = 0; page < device->pages; ++page) {
    free_pages = device->first[page] == 0 ? free_pages + 1 : 0;
    if (free_pages < wanted) continue;
    const uint32_t first = page + 1 - wanted;
    for (uint32_t i = first; i <= page; ++i) device->first[i] = first + 1;
    device->bytes[first] = bytes;
    return device->base + (uint64_t)first * HONE_VTA_PAGE_BYTES;
  }
  return 0;
}

void hone_vta_release(HoneVtaDevice* device, uint64_t address) {
  if (address < device->base) return;
  const uint64_t first = (address - device->base) / HONE_VTA_PAGE_BYTES;
  for (uint64_t page = first; page < device->pages && device->first[page] == first + 1; ++page) device->first[page] = 0;
}

unsigned char* hone_vta_bytes(const HoneVtaDevice* device, uint64_t address, uint64_t bytes) {
  if (address < device->base) return NULL;
  const uint64_t offset = address - device->base, page = offset / HONE_VTA_PAGE_BYTES;
  if (page >= device->pages || device->first[page] == 0) return NULL;
  const uint32_t first = device->first[page] - 1;
  const uint64_t begin = offset - (uint64_t)first * HONE_VTA_PAGE_BYTES;
  if (begin > device->bytes[first] || bytes > device->bytes[first] - begin) return NULL;
  return device->memory + offset;
}

static unsigned char* CopiedBytes(HoneVtaDevice* device, const char* what, uint64_t address, uint64_t bytes) {
  unsigned char* found = hone_vta_bytes(device, address, bytes);
  if (found == NULL) {
    snprintf(device->message, sizeof device->message,
             "cannot copy %s %llu bytes at device address %#llx: they are not in one allocation", what,
             (unsigned long long)bytes, (unsigned long long)address);
  }
  return found;
}

int hone_vta_copy_in(HoneVtaDevice* device, uint64_t to, const void* from, uint64_t bytes) {
  unsigned char* found = CopiedBytes(device, "in", to, bytes);
  if (found == NULL) return 1;
  if (bytes != 0) memcpy(found, from, bytes);
  return 0;
}

int hone_vta_copy_out(HoneVtaDevice* device, void* to, uint64_t from, uint64_t bytes) {
  const unsigned char* found = CopiedBytes(device, "out", from, bytes);
  if (found == NULL) return 1;
  if (bytes != 0) memcpy(to, found, bytes);
  return 0;
}

int hone_vta_run(HoneVtaDevice* device, uint64_t stream, uint32_t count) {
  memset(&device->counters, 0, sizeof device->counters);
  const int failed = device->run(device, stream, count);
  if (failed) memset(&device->counters, 0, sizeof device->counters);
  return failed;
}

const HoneVtaCounters* hone_vta_counters(const HoneVtaDevice* device) { return &device->counters; }
const char* hone_vta_message(const HoneVtaDevice* device) { return device->message; }
