#include "target/vta/config.h"

#include <stdio.h>

/* The widest that the fields of instructions and micro-operations allow. */
enum { kMostUopBits = 13, kMostIndexBits = 32, kMostAluIndexBits = 22 };

HoneVtaConfig hone_vta_default_config(void) {
  return (HoneVtaConfig){.log_inp_width = 3,
                         .log_wgt_width = 3,
                         .log_acc_width = 5,
                         .log_block = 4,
                         .log_uop_buff_size = 15,
                         .log_inp_buff_size = 15,
                         .log_wgt_buff_size = 18,
                         .log_acc_buff_size = 17};
}

/* log2 of the bytes of an entry. */
static int LogEntryBytes(const HoneVtaConfig* c, int memory) {
  switch (memory) {
    case HONE_VTA_WGT:
      return 2 * c->log_block + c->log_wgt_width - 3;
    case HONE_VTA_ACC:
      return c->log_batch + c->log_block + c->log_acc_width - 3;
    case HONE_VTA_UOP:
      return 2;
    default:
      return c->log_batch + c->log_block + c->log_inp_width - 3;
  }
}

static int LogBufferBytes(const HoneVtaConfig* c, int memory) {
  switch (memory) {
    case HONE_VTA_UOP:
      return c->log_uop_buff_size;
    case HONE_VTA_WGT:
      return c->log_wgt_buff_size;
    case HONE_VTA_INP:
      return c->log_inp_buff_size;
    default:
      return c->log_acc_buff_size;
  }
}

/* OUT and ACC_8BIT have as many entries as ACC. */
static int Indexed(int memory) { return memory > HONE_VTA_ACC ? HONE_VTA_ACC : memory; }

uint32_t hone_vta_entry_bytes(const HoneVtaConfig* c, int memory) { return 1u << LogEntryBytes(c, memory); }

uint32_t hone_vta_entry_elements(const HoneVtaConfig* c, int memory) {
  return memory == HONE_VTA_UOP   ? 1
         : memory == HONE_VTA_WGT ? 1u << 2 * c->log_block
                                  : 1u << (c->log_batch + c->log_block);
}

int hone_vta_index_bits(const HoneVtaConfig* c, int memory) {
  return LogBufferBytes(c, Indexed(memory)) - LogEntryBytes(c, Indexed(memory));
}

uint32_t hone_vta_entries(const HoneVtaConfig* c, int memory) { return 1u << hone_vta_index_bits(c, memory); }

const char* hone_vta_memory_name(int memory) {
  static const char* const names[HONE_VTA_MEMORIES] = {"UOP", "WGT", "INP", "ACC", "OUT", "ACC_8BIT"};
  return memory >= 0 && memory < HONE_VTA_MEMORIES ? names[memory] : "?";
}

const char* hone_vta_config_problem(const HoneVtaConfig* c, char* message, int size) {
  static const char* const buffers[] = {"LOG_UOP_BUFF_SIZE", "LOG_WGT_BUFF_SIZE", "LOG_INP_BUFF_SIZE",
                                        "LOG_ACC_BUFF_SIZE"};
  const struct {
    const char* field;
    int value, wanted;
    const char* type;
  } widths[] = {{"LOG_INP_WIDTH", c->log_inp_width, 3, "int8"},
                {"LOG_WGT_WIDTH", c->log_wgt_width, 3, "int8"},
                {"LOG_ACC_WIDTH", c->log_acc_width, 5, "int32"}};
  for (int i = 0; i < 3; ++i) {
    if (widths[i].value == widths[i].wanted) continue;
    snprintf(message, (size_t)size, "%s: must be %d (%s), is %d", widths[i].field, widths[i].wanted, widths[i].type,
             widths[i].value);
    return message;
  }
  const int logs[] = {c->log_batch, c->log_block};
  for (int i = 0; i < 2; ++i) {
    if (logs[i] >= 0 && logs[i] <= 12) continue;
    snprintf(message, (size_t)size, "%s: must be from 0 to 12, is %d", i == 0 ? "LOG_BATCH" : "LOG_BLOCK", logs[i]);
    return message;
  }
  for (int memory = HONE_VTA_UOP; memory <= HONE_VTA_ACC; ++memory) {
    const char* name = hone_vta_memory_name(memory);
    const int entry = LogEntryBytes(c, memory), buffer = LogBufferBytes(c, memory);
    if ((1 << entry) > HONE_VTA_PAGE_BYTES) {
      /* If the weights fit, then so do activations and accumulators of one row. */
      snprintf(message, (size_t)size, "%s: an entry of %s has %d bytes, more than a page of %d",
               memory == HONE_VTA_WGT ? "LOG_BLOCK" : "LOG_BATCH", name, 1 << entry, HONE_VTA_PAGE_BYTES);
      return message;
    }
    if (buffer < entry) {
      snprintf(message, (size_t)size, "%s: 2^%d bytes cannot hold an entry of %s, which has %d bytes", buffers[memory],
               buffer, name, 1 << entry);
      return message;
    }
    if (buffer - entry > 16) { /* the field sram_base */
      snprintf(message, (size_t)size, "%s: 2^%d entries, more than 2^16", buffers[memory], buffer - entry);
      return message;
    }
  }
  const int inp = hone_vta_index_bits(c, HONE_VTA_INP), wgt = hone_vta_index_bits(c, HONE_VTA_WGT);
  const int acc = hone_vta_index_bits(c, HONE_VTA_ACC), uop = hone_vta_index_bits(c, HONE_VTA_UOP);
  if (uop > kMostUopBits) {
    snprintf(message, (size_t)size, "LOG_UOP_BUFF_SIZE: %d, but instructions can address only 2^%d micro-operations",
             c->log_uop_buff_size, kMostUopBits);
    return message;
  }
  if (acc + inp + wgt > kMostIndexBits) {
    snprintf(message, (size_t)size,
             "LOG_WGT_BUFF_SIZE: indices of ACC, INP and WGT have %d + %d + %d bits, more than the %d of a "
             "micro-operation: make the memories smaller or the block larger",
             acc, inp, wgt, kMostIndexBits);
    return message;
  }
  if (acc + inp > kMostAluIndexBits) {
    snprintf(message, (size_t)size,
             "LOG_ACC_BUFF_SIZE: indices of ACC and INP have %d + %d bits, more than the %d of an ALU instruction", acc,
             inp, kMostAluIndexBits);
    return message;
  }
  return NULL;
}
