/* LOAD and STORE: rows of entries between DRAM and the memories. */
#include <string.h>

#include "runtime/vta/simulator_state.h"

/* Checks a row of DRAM and returns its bytes, or NULL after a failure. */
static unsigned char* DramRow(HoneVtaSimulator* s, uint32_t index, uint64_t address, uint64_t bytes) {
  const int store = s->order.stream->steps[index].module == HONE_VTA_MODULE_STORE;
  unsigned char* row = hone_vta_bytes(&s->device, address, bytes);
  if (row == NULL) {
    hone_vta_fail(s, index, "%s %llu bytes of DRAM at address %#llx, which are not in one allocation",
                  store ? "writes" : "reads", (unsigned long long)bytes, (unsigned long long)address);
    return NULL;
  }
  if (store && address < s->stream_begin + s->stream_bytes && address + bytes > s->stream_begin) {
    hone_vta_fail(s, index, "overwrites the running instructions, at DRAM address %#llx", (unsigned long long)address);
    return NULL;
  }
  const uint32_t other = hone_vta_access_dram(&s->order, address - s->device.base, bytes, index);
  if (other == UINT32_MAX) {
    hone_vta_fail(s, index, "out of memory");
    return NULL;
  }
  if (other != 0) {
    hone_vta_race(s, index, store ? "writes" : "reads", HONE_VTA_MEMORIES, address, other);
    return NULL;
  }
  return row;
}

/* Before an entry is written from DRAM, or with zeros. */
static int Claim(HoneVtaSimulator* s, uint32_t index, int memory, uint32_t entry) {
  uint32_t other = 0;
  if (memory == HONE_VTA_INP) other = hone_vta_write_cell(&s->order, &s->inp_cells[entry], index);
  if (memory == HONE_VTA_WGT) other = hone_vta_write_cell(&s->order, &s->wgt_cells[entry], index);
  if (memory == HONE_VTA_UOP) s->uop_set[entry] = 1;
  if (memory == HONE_VTA_ACC) {
    other = hone_vta_write_cell(&s->order, &s->accumulators[entry].cell, index);
    s->accumulators[entry].state = kLoaded;
  }
  return other == 0 ? 0 : hone_vta_race(s, index, "writes", memory, entry, other);
}

static uint32_t Word(const unsigned char* bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Copies an entry from DRAM bytes as `from` (ACC_8BIT or the memory itself), or clears it if `bytes` is NULL. */
static void Fill(HoneVtaSimulator* s, int from, int memory, uint32_t entry, const unsigned char* bytes) {
  const uint32_t n = hone_vta_entry_elements(&s->device.config, memory);
  if (memory == HONE_VTA_UOP) {
    s->uop[entry] = Word(bytes);
  } else if (memory == HONE_VTA_ACC) {
    int32_t* to = s->acc + (size_t)entry * n;
    for (uint32_t e = 0; e < n; ++e) {
      to[e] = bytes == NULL ? 0 : from == HONE_VTA_ACC_8BIT ? (signed char)bytes[e] : (int32_t)Word(bytes + 4 * e);
    }
  } else {
    int16_t* to = (memory == HONE_VTA_INP ? s->inp : s->wgt) + (size_t)entry * n;
    for (uint32_t e = 0; e < n; ++e) to[e] = bytes == NULL ? 0 : (signed char)bytes[e];
  }
}

static int Load(HoneVtaSimulator* s, uint32_t index, const HoneVtaInstruction* i) {
  const int from = (int)i->memory, memory = from == HONE_VTA_ACC_8BIT ? HONE_VTA_ACC : from;
  const uint64_t entry_bytes = hone_vta_entry_bytes(&s->device.config, from);
  const uint32_t width = i->x_pad_0 + i->x_size + i->x_pad_1, height = i->y_pad_0 + i->y_size + i->y_pad_1;
  uint32_t entry = i->sram_base;
  for (uint32_t y = 0; y < height; ++y) {
    const unsigned char* row = NULL;
    if (y >= i->y_pad_0 && y - i->y_pad_0 < i->y_size) {
      const uint64_t first = i->dram_base + (uint64_t)(y - i->y_pad_0) * i->x_stride;
      row = DramRow(s, index, first * entry_bytes, i->x_size * entry_bytes);
      if (row == NULL) return 1;
    }
    for (uint32_t x = 0; x < width; ++x, ++entry) {
      const int inside = row != NULL && x >= i->x_pad_0 && x - i->x_pad_0 < i->x_size;
      if (Claim(s, index, memory, entry)) return 1;
      Fill(s, from, memory, entry, inside ? row + (x - i->x_pad_0) * entry_bytes : NULL);
    }
  }
  return 0;
}

static int Store(HoneVtaSimulator* s, uint32_t index, const HoneVtaInstruction* i) {
  const uint32_t n = hone_vta_entry_elements(&s->device.config, HONE_VTA_OUT);
  uint32_t entry = i->sram_base;
  for (uint32_t y = 0; y < i->y_size; ++y) {
    const uint64_t first = i->dram_base + (uint64_t)y * i->x_stride;
    unsigned char* row = DramRow(s, index, first * n, (uint64_t)i->x_size * n);
    if (row == NULL) return 1;
    for (uint32_t x = 0; x < i->x_size; ++x, ++entry, row += n) {
      const uint32_t other = hone_vta_read_cell(&s->order, &s->accumulators[entry].cell, index);
      if (other != 0) return hone_vta_race(s, index, "reads", HONE_VTA_OUT, entry, other);
      if (s->accumulators[entry].state != kComputed) {
        return hone_vta_fail(s, index, "stores entry %u of OUT, which %s", (unsigned)entry,
                             s->accumulators[entry].state == kLoaded
                                 ? "was loaded into ACC but never passed GEMM or ALU"
                                 : "this stream never computed");
      }
      const int32_t* from = s->acc + (size_t)entry * n;
      for (uint32_t e = 0; e < n; ++e) row[e] = (unsigned char)from[e];
    }
  }
  return 0;
}

int hone_vta_run_transfer(HoneVtaSimulator* s, uint32_t index) {
  const HoneVtaInstruction* i = &s->order.stream->steps[index].instruction;
  if (!hone_vta_transfers(i)) return 0;
  const uint64_t image = (uint64_t)(i->x_pad_0 + i->x_size + i->x_pad_1) * (i->y_pad_0 + i->y_size + i->y_pad_1);
  const uint32_t entries = hone_vta_entries(&s->device.config, (int)i->memory);
  if (i->sram_base + image > entries) {
    return hone_vta_fail(s, index, "accesses entries %u to %llu of %s, which has %u", (unsigned)i->sram_base,
                         (unsigned long long)(i->sram_base + image - 1), hone_vta_memory_name((int)i->memory),
                         (unsigned)entries);
  }
  return i->opcode == HONE_VTA_STORE ? Store(s, index, i) : Load(s, index, i);
}
