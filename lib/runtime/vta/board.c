#include "runtime/vta/board.h"

#include <stdatomic.h>
#include <stdio.h>

#include "runtime/vta/device_base.h"
#include "runtime/vta/timing.h"

typedef struct Board {
  HoneVtaDevice device;
  HoneVtaBoard map;
} Board;

static void Write(volatile uint32_t* core, int offset, uint32_t value) { core[offset / 4] = value; }

/* Refuses a stream that would never end, and counts what it does. */
static int CheckAndCount(HoneVtaDevice* device, uint64_t address, uint32_t count) {
  HoneVtaStream stream;
  int failed = hone_vta_read_device_stream(device, address, count, &stream);
  HoneVtaCounters unused = {0};
  failed = failed || hone_vta_time(&device->config, hone_vta_find_preset("ideal"), &stream, &unused, device->message,
                                   sizeof device->message); /* finds deadlocks */
  if (!failed) hone_vta_count(&device->config, &stream, &device->counters);
  hone_vta_release_stream(&stream);
  return failed;
}

static int Run(HoneVtaDevice* device, uint64_t stream, uint32_t count) {
  const HoneVtaBoard* map = &((Board*)device)->map;
  if (CheckAndCount(device, stream, count)) return 1;
  atomic_thread_fence(memory_order_seq_cst); /* what the host wrote, before the start */
  Write(map->fetch, HONE_VTA_REG_FETCH_COUNT, count);
  Write(map->fetch, HONE_VTA_REG_FETCH_ADDRESS, (uint32_t)stream);
  /* Instructions have physical addresses, so each port's base is 0. */
  Write(map->load, HONE_VTA_REG_LOAD_INP, 0);
  Write(map->load, HONE_VTA_REG_LOAD_WGT, 0);
  Write(map->compute, HONE_VTA_REG_COMPUTE_DONE_WRITE, 0);
  Write(map->compute, HONE_VTA_REG_COMPUTE_UOP, 0);
  Write(map->compute, HONE_VTA_REG_COMPUTE_BIAS, 0);
  Write(map->store, HONE_VTA_REG_STORE_OUT, 0);
  Write(map->fetch, HONE_VTA_REG_CONTROL, HONE_VTA_START);
  Write(map->load, HONE_VTA_REG_CONTROL, HONE_VTA_AUTORESTART);
  Write(map->compute, HONE_VTA_REG_CONTROL, HONE_VTA_AUTORESTART);
  Write(map->store, HONE_VTA_REG_CONTROL, HONE_VTA_AUTORESTART);
  for (uint32_t poll = 0; poll < map->polls; ++poll) {
    map->pause(map->context);
    if (map->compute[HONE_VTA_REG_COMPUTE_DONE_READ / 4] & HONE_VTA_DONE) {
      atomic_thread_fence(memory_order_seq_cst);
      return 0;
    }
  }
  snprintf(device->message, sizeof device->message,
           "the board has not finished %u instructions after %u polls: allow more polls, or reset it", (unsigned)count,
           (unsigned)map->polls);
  return 1;
}

HoneVtaDevice* hone_vta_open_board(const HoneVtaConfig* config, const HoneVtaBoard* map) {
  const uint64_t most = (uint64_t)1 << 32;
  if (map->physical == 0 || map->physical % HONE_VTA_PAGE_BYTES != 0 || map->physical > most ||
      map->bytes > most - map->physical) {
    return NULL;
  }
  Board* board = (Board*)hone_vta_new_device(sizeof *board, config, map->memory, map->physical, map->bytes);
  if (board == NULL) return NULL;
  board->map = *map;
  board->device.run = Run;
  return &board->device;
}
