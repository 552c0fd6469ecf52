/* The configuration of a VTA accelerator: what its designer chose, as powers of two, and the sizes that follow. Plain
 * C11 without dependencies, so that a deployed library contains the same code as the compiler.
 *
 * An entry is one word of a memory: BATCH x BLOCK activations (INP, OUT), BLOCK x BLOCK weights (WGT; a row for each
 * output channel), BATCH x BLOCK accumulators (ACC), one micro-operation (UOP). Addresses in instructions count
 * entries, on the accelerator and in DRAM. doc/internals/vta.md explains the design. */
#ifndef HONE_TARGET_VTA_CONFIG_H_
#define HONE_TARGET_VTA_CONFIG_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory ids, as in instructions. HONE_VTA_ACC_8BIT: int8 in DRAM, widened to int32 in ACC. */
enum {
  HONE_VTA_UOP = 0,
  HONE_VTA_WGT = 1,
  HONE_VTA_INP = 2,
  HONE_VTA_ACC = 3,
  HONE_VTA_OUT = 4,
  HONE_VTA_ACC_8BIT = 5,
  HONE_VTA_MEMORIES = 6
};

/* DRAM pages of the driver; an entry must fit into one. */
#define HONE_VTA_PAGE_BYTES 4096

/* An instruction must not read an accumulator fewer executions of micro-operations after it wrote it: the pipeline has
 * no interlock. This is the distance of the published design. */
#define HONE_VTA_READ_DISTANCE 3

typedef struct HoneVtaConfig {
  /* As in vta_config.json: LOG_INP_WIDTH (bits), LOG_BATCH, LOG_BLOCK, LOG_UOP_BUFF_SIZE (bytes) and so on. */
  int log_inp_width, log_wgt_width, log_acc_width;
  int log_batch, log_block;
  int log_uop_buff_size, log_inp_buff_size, log_wgt_buff_size, log_acc_buff_size;
  /* Whether the design has the ALU operation MUL and loads of HONE_VTA_ACC_8BIT. VTA's own simulator and its design for
   * Intel's boards have both, the others neither. */
  int extensions;
} HoneVtaConfig;

/* The design of VTA's samples, for the Pynq board: 1 x 16 x 16, int8, int32; 32, 32, 256 and 128 KiB. */
HoneVtaConfig hone_vta_default_config(void);

/* Returns NULL if a design can have this configuration; otherwise the reason, in `message` of `size` bytes, beginning
 * with the field of vta_config.json that is at fault. All other functions require a configuration without a problem. */
const char* hone_vta_config_problem(const HoneVtaConfig* config, char* message, int size);

/* Elements and bytes of an entry in DRAM, entries of a memory, and bits that address them. ACC_8BIT has the entries of
 * ACC. */
uint32_t hone_vta_entry_elements(const HoneVtaConfig* config, int memory);
uint32_t hone_vta_entry_bytes(const HoneVtaConfig* config, int memory);
uint32_t hone_vta_entries(const HoneVtaConfig* config, int memory);
int hone_vta_index_bits(const HoneVtaConfig* config, int memory);

/* "UOP", "WGT" and so on; "?" for other numbers. */
const char* hone_vta_memory_name(int memory);

#ifdef __cplusplus
}
#endif

#endif
