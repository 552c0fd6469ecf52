/* VTA's instructions, of 128 bits, and micro-operations, of 32 bits: encoding, decoding, printing. The widths of fields
 * that index a memory follow the configuration. Plain C11 without dependencies. */
#ifndef HONE_TARGET_VTA_INSTRUCTION_H_
#define HONE_TARGET_VTA_INSTRUCTION_H_

#include <stddef.h>
#include <stdint.h>

#include "target/vta/config.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HONE_VTA_LOAD = 0, HONE_VTA_STORE = 1, HONE_VTA_GEMM = 2, HONE_VTA_FINISH = 3, HONE_VTA_ALU = 4 };
enum { HONE_VTA_MIN = 0, HONE_VTA_MAX = 1, HONE_VTA_ADD = 2, HONE_VTA_SHR = 3, HONE_VTA_MUL = 4 };

#define HONE_VTA_INSTRUCTION_BYTES 16
/* Bits of y_size, x_size and x_stride; of padding; of iter_out and iter_in. */
enum { HONE_VTA_SIZE_BITS = 16, HONE_VTA_PAD_BITS = 4, HONE_VTA_ITERATION_BITS = 14 };

/* Fields that an opcode lacks are ignored by the encoder and 0 after decoding. Unsigned except `imm`. */
typedef struct HoneVtaInstruction {
  uint32_t opcode;
  /* Tokens: pops before it runs, pushes after. "prev" is the module before in the chain load, compute, store. */
  uint32_t pop_prev, pop_next, push_prev, push_next;
  /* LOAD, STORE: y_size rows of x_size entries, dense on the accelerator, x_stride apart in DRAM. LOAD surrounds them
   * with entries of zeros. x_size or y_size 0: only the tokens count. */
  uint32_t memory, sram_base, dram_base;
  uint32_t y_size, x_size, x_stride;
  uint32_t y_pad_0, y_pad_1, x_pad_0, x_pad_1;
  /* GEMM, ALU: for o < iter_out, for i < iter_in, for each micro-operation in [uop_begin, uop_end): its indices, plus o
   * times the factors _out and i times the factors _in. ALU has no weights. */
  uint32_t reset, uop_begin, uop_end, iter_out, iter_in;
  uint32_t dst_out, dst_in, src_out, src_in, wgt_out, wgt_in;
  uint32_t alu_opcode, use_imm;
  int32_t imm;
} HoneVtaInstruction;

typedef struct HoneVtaUop {
  uint32_t dst, src, wgt; /* entries of ACC; of INP for GEMM, ACC for ALU; of WGT */
} HoneVtaUop;

/* A field's place: bits `bit` .. `bit` + `width` - 1 of the instruction. */
typedef struct HoneVtaField {
  const char* name;
  size_t offset; /* in HoneVtaInstruction */
  int bit, width;
} HoneVtaField;

#define HONE_VTA_MOST_FIELDS 19
/* Writes the fields of an opcode, in the order of their bits, and returns their number; 0 for an unknown opcode. */
int hone_vta_fields(const HoneVtaConfig* config, uint32_t opcode, HoneVtaField fields[HONE_VTA_MOST_FIELDS]);

/* Returns NULL and writes the instruction, little-endian; or the name of the field whose value does not fit. */
const char* hone_vta_encode(const HoneVtaConfig* config, const HoneVtaInstruction* instruction,
                            unsigned char bytes[HONE_VTA_INSTRUCTION_BYTES]);
/* Returns 1; or 0 for an unknown opcode, and then `opcode` is the only field that is not 0. */
int hone_vta_decode(const HoneVtaConfig* config, const unsigned char bytes[HONE_VTA_INSTRUCTION_BYTES],
                    HoneVtaInstruction* instruction);

/* As above; the encoder returns the name of the index that does not fit. */
const char* hone_vta_encode_uop(const HoneVtaConfig* config, const HoneVtaUop* uop, uint32_t* word);
HoneVtaUop hone_vta_decode_uop(const HoneVtaConfig* config, uint32_t word);

/* "LOAD INP", "GEMM reset", "ALU SHR": what it does, without its numbers, in a static text. */
const char* hone_vta_instruction_name(const HoneVtaInstruction* instruction);

/* One line without a newline, such as "GEMM pop_prev push_prev uop_end=9 iter_out=28": the name, then all fields
 * that are not 0 and that the name does not tell. Truncated to `size` bytes, at least 1; 512 suffice. */
void hone_vta_disassemble(const HoneVtaConfig* config, const HoneVtaInstruction* instruction, char* text, int size);

#ifdef __cplusplus
}
#endif

#endif
