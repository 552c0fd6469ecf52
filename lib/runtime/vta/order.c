#include "runtime/vta/order.h"

#include <stdlib.h>
#include <string.h>

enum { kWord = 4, kWords = HONE_VTA_PAGE_BYTES / kWord };

int hone_vta_begin_order(HoneVtaOrder* order, const HoneVtaStream* stream, uint32_t pages) {
  order->stream = stream;
  order->clocks = calloc(stream->count + (size_t)1, sizeof *order->clocks);
  order->pages = pages;
  order->dram = calloc(pages + (size_t)1, sizeof *order->dram);
  return order->clocks == NULL || order->dram == NULL;
}

void hone_vta_release_order(HoneVtaOrder* order) {
  for (uint32_t page = 0; order->dram != NULL && page < order->pages; ++page) free(order->dram[page]);
  free(order->dram);
  free(order->clocks);
  memset(order, 0, sizeof *order);
}

static void Join(uint32_t clock[HONE_VTA_MODULES], const uint32_t other[HONE_VTA_MODULES]) {
  for (int m = 0; m < HONE_VTA_MODULES; ++m) {
    if (other[m] > clock[m]) clock[m] = other[m];
  }
}

void hone_vta_tick(HoneVtaOrder* order, uint32_t index) {
  const HoneVtaStep* step = &order->stream->steps[index];
  uint32_t* clock = order->clocks[index];
  if (step->position > 0) Join(clock, order->clocks[order->stream->queues[step->module][step->position - 1]]);
  for (int field = HONE_VTA_POP_PREV; field <= HONE_VTA_POP_NEXT; ++field) {
    if (step->waits[field] != HONE_VTA_NOTHING) Join(clock, order->clocks[step->waits[field]]);
  }
  clock[step->module] = step->position + 1;
}

/* `earlier` is 1 + an instruction, or 0 for no access. Returns whether the instruction is `index` or happens before it;
 * 1 for no access. */
static int Ordered(const HoneVtaOrder* order, uint32_t earlier, uint32_t index) {
  if (earlier == 0) return 1;
  const HoneVtaStep* step = &order->stream->steps[earlier - 1];
  return step->position < order->clocks[index][step->module];
}

uint32_t hone_vta_read_cell(const HoneVtaOrder* order, HoneVtaCell* cell, uint32_t index) {
  if (cell->reader == index + 1) return 0;
  if (!Ordered(order, cell->writer, index)) return cell->writer;
  cell->reader = index + 1;
  return 0;
}

uint32_t hone_vta_write_cell(const HoneVtaOrder* order, HoneVtaCell* cell, uint32_t index) {
  if (cell->writer == index + 1) return 0;
  if (!Ordered(order, cell->writer, index)) return cell->writer;
  if (!Ordered(order, cell->reader, index)) return cell->reader;
  cell->writer = index + 1;
  return 0;
}

uint32_t hone_vta_access_dram(HoneVtaOrder* order, uint64_t begin, uint64_t bytes, uint32_t index) {
  const uint32_t module = order->stream->steps[index].module;
  for (uint64_t word = begin / kWord; word < (begin + bytes + kWord - 1) / kWord; ++word) {
    HoneVtaDramCell** page = &order->dram[word / kWords];
    if (*page == NULL) *page = calloc(kWords, sizeof **page);
    if (*page == NULL) return UINT32_MAX;
    HoneVtaDramCell* cell = &(*page)[word % kWords];
    if (!Ordered(order, cell->writer, index)) return cell->writer;
    if (module == HONE_VTA_MODULE_STORE) {
      for (int reader = 0; reader < 2; ++reader) {
        if (!Ordered(order, cell->readers[reader], index)) return cell->readers[reader];
      }
      cell->writer = index + 1;
    } else {
      cell->readers[module] = index + 1;
    }
  }
  return 0;
}

uint32_t hone_vta_unfinished(const HoneVtaOrder* order) {
  const HoneVtaStream* stream = order->stream;
  for (uint32_t module = 0; module < HONE_VTA_MODULES; ++module) {
    if (order->clocks[stream->count - 1][module] < stream->lengths[module]) return module;
  }
  return HONE_VTA_MODULES;
}
