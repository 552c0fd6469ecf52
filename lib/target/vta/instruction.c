#include "target/vta/instruction.h"

#include <stdio.h>
#include <string.h>

/* Collects the fields of an opcode; each begins where the one before ends. */
typedef struct List {
  HoneVtaField* fields;
  int count, bit;
} List;

static void Add(List* list, const char* name, size_t offset, int width) {
  list->fields[list->count++] = (HoneVtaField){name, offset, list->bit, width};
  list->bit += width;
}
#define ADD(field, width) Add(&list, #field, offsetof(HoneVtaInstruction, field), width)

int hone_vta_fields(const HoneVtaConfig* config, uint32_t opcode, HoneVtaField fields[HONE_VTA_MOST_FIELDS]) {
  const int uop = hone_vta_index_bits(config, HONE_VTA_UOP), acc = hone_vta_index_bits(config, HONE_VTA_ACC);
  const int inp = hone_vta_index_bits(config, HONE_VTA_INP), wgt = hone_vta_index_bits(config, HONE_VTA_WGT);
  List list = {fields, 0, 0};
  ADD(opcode, 3);
  ADD(pop_prev, 1);
  ADD(pop_next, 1);
  ADD(push_prev, 1);
  ADD(push_next, 1);
  switch (opcode) {
    case HONE_VTA_LOAD:
    case HONE_VTA_STORE:
      ADD(memory, 3);
      ADD(sram_base, 16);
      ADD(dram_base, 32);
      list.bit = 64;
      ADD(y_size, HONE_VTA_SIZE_BITS);
      ADD(x_size, HONE_VTA_SIZE_BITS);
      ADD(x_stride, HONE_VTA_SIZE_BITS);
      ADD(y_pad_0, HONE_VTA_PAD_BITS);
      ADD(y_pad_1, HONE_VTA_PAD_BITS);
      ADD(x_pad_0, HONE_VTA_PAD_BITS);
      ADD(x_pad_1, HONE_VTA_PAD_BITS);
      return list.count;
    case HONE_VTA_GEMM:
    case HONE_VTA_ALU:
      ADD(reset, 1);
      ADD(uop_begin, uop);
      ADD(uop_end, uop + 1); /* exclusive */
      ADD(iter_out, HONE_VTA_ITERATION_BITS);
      ADD(iter_in, HONE_VTA_ITERATION_BITS);
      list.bit = 64;
      ADD(dst_out, acc);
      ADD(dst_in, acc);
      ADD(src_out, inp);
      ADD(src_in, inp);
      if (opcode == HONE_VTA_GEMM) {
        ADD(wgt_out, wgt);
        ADD(wgt_in, wgt);
      } else {
        ADD(alu_opcode, 3);
        ADD(use_imm, 1);
        ADD(imm, 16);
      }
      return list.count;
    case HONE_VTA_FINISH:
      return list.count;
    default:
      return 0;
  }
}

static uint32_t Mask(int width) { return width == 32 ? UINT32_MAX : (1u << width) - 1; }

static int IsSigned(const HoneVtaField* field) { return field->offset == offsetof(HoneVtaInstruction, imm); }

static uint32_t Value(const HoneVtaInstruction* instruction, const HoneVtaField* field) {
  uint32_t value;
  memcpy(&value, (const char*)instruction + field->offset, sizeof value);
  return value;
}

static int Fits(uint32_t value, const HoneVtaField* field) {
  if (!IsSigned(field)) return value <= Mask(field->width);
  const int32_t number = (int32_t)value;
  return number >= INT16_MIN && number <= INT16_MAX;
}

const char* hone_vta_encode(const HoneVtaConfig* config, const HoneVtaInstruction* instruction,
                            unsigned char bytes[HONE_VTA_INSTRUCTION_BYTES]) {
  HoneVtaField fields[HONE_VTA_MOST_FIELDS];
  const int count = hone_vta_fields(config, instruction->opcode, fields);
  if (count == 0) return "opcode";
  uint64_t words[2] = {0, 0};
  for (int i = 0; i < count; ++i) {
    const uint32_t value = Value(instruction, &fields[i]);
    if (!Fits(value, &fields[i])) return fields[i].name;
    words[fields[i].bit / 64] |= (uint64_t)(value & Mask(fields[i].width)) << fields[i].bit % 64;
  }
  for (int i = 0; i < HONE_VTA_INSTRUCTION_BYTES; ++i) bytes[i] = (unsigned char)(words[i / 8] >> i % 8 * 8);
  return NULL;
}

int hone_vta_decode(const HoneVtaConfig* config, const unsigned char bytes[HONE_VTA_INSTRUCTION_BYTES],
                    HoneVtaInstruction* instruction) {
  HoneVtaField fields[HONE_VTA_MOST_FIELDS];
  memset(instruction, 0, sizeof *instruction);
  instruction->opcode = bytes[0] & 7u;
  const int count = hone_vta_fields(config, instruction->opcode, fields);
  uint64_t words[2] = {0, 0};
  for (int i = 0; i < HONE_VTA_INSTRUCTION_BYTES; ++i) words[i / 8] |= (uint64_t)bytes[i] << i % 8 * 8;
  for (int i = 0; i < count; ++i) {
    uint32_t value = (uint32_t)(words[fields[i].bit / 64] >> fields[i].bit % 64) & Mask(fields[i].width);
    if (IsSigned(&fields[i]) && value > INT16_MAX) value -= 1u << fields[i].width;
    memcpy((char*)instruction + fields[i].offset, &value, sizeof value);
  }
  return count != 0;
}

const char* hone_vta_encode_uop(const HoneVtaConfig* config, const HoneVtaUop* uop, uint32_t* word) {
  const int acc = hone_vta_index_bits(config, HONE_VTA_ACC), inp = hone_vta_index_bits(config, HONE_VTA_INP);
  if (uop->dst > Mask(acc)) return "dst";
  if (uop->src > Mask(inp)) return "src";
  if (uop->wgt > Mask(hone_vta_index_bits(config, HONE_VTA_WGT))) return "wgt";
  *word = (uint32_t)(uop->dst | (uint64_t)uop->src << acc | (uint64_t)uop->wgt << (acc + inp));
  return NULL;
}

HoneVtaUop hone_vta_decode_uop(const HoneVtaConfig* config, uint32_t word) {
  const int acc = hone_vta_index_bits(config, HONE_VTA_ACC), inp = hone_vta_index_bits(config, HONE_VTA_INP);
  const uint32_t wgt = (uint32_t)((uint64_t)word >> (acc + inp));
  return (HoneVtaUop){word & Mask(acc), word >> acc & Mask(inp), wgt & Mask(hone_vta_index_bits(config, HONE_VTA_WGT))};
}

const char* hone_vta_instruction_name(const HoneVtaInstruction* instruction) {
  static const char* const loads[] = {"LOAD UOP", "LOAD WGT", "LOAD INP", "LOAD ACC", "LOAD OUT", "LOAD ACC_8BIT"};
  static const char* const alus[] = {"ALU MIN", "ALU MAX", "ALU ADD", "ALU SHR", "ALU MUL"};
  switch (instruction->opcode) {
    case HONE_VTA_LOAD:
      return instruction->memory < HONE_VTA_MEMORIES ? loads[instruction->memory] : "LOAD ?";
    case HONE_VTA_STORE:
      return "STORE";
    case HONE_VTA_GEMM:
      return instruction->reset ? "GEMM reset" : "GEMM";
    case HONE_VTA_FINISH:
      return "FINISH";
    case HONE_VTA_ALU:
      return instruction->alu_opcode <= HONE_VTA_MUL ? alus[instruction->alu_opcode] : "ALU ?";
    default:
      return "unknown opcode";
  }
}

/* Whether the instruction's name tells the field. */
static int InName(const HoneVtaInstruction* i, const HoneVtaField* field) {
  switch (field->offset) {
    case offsetof(HoneVtaInstruction, memory):
      return i->opcode == HONE_VTA_LOAD && i->memory < HONE_VTA_MEMORIES;
    case offsetof(HoneVtaInstruction, reset):
      return i->opcode == HONE_VTA_GEMM;
    case offsetof(HoneVtaInstruction, alu_opcode):
      return i->alu_opcode <= HONE_VTA_MUL;
    default:
      return 0;
  }
}

void hone_vta_disassemble(const HoneVtaConfig* config, const HoneVtaInstruction* instruction, char* text, int size) {
  HoneVtaField fields[HONE_VTA_MOST_FIELDS];
  const int count = hone_vta_fields(config, instruction->opcode, fields);
  int used = snprintf(text, (size_t)size, "%s", hone_vta_instruction_name(instruction));
  if (count == 0 && used < size) {
    used += snprintf(text + used, (size_t)(size - used), " %u", (unsigned)instruction->opcode);
  }
  for (int i = 1; i < count && used < size; ++i) {
    const uint32_t value = Value(instruction, &fields[i]);
    if (value == 0 || InName(instruction, &fields[i])) continue;
    if (fields[i].width == 1) {
      used += snprintf(text + used, (size_t)(size - used), " %s", fields[i].name);
    } else if (IsSigned(&fields[i])) {
      used += snprintf(text + used, (size_t)(size - used), " %s=%d", fields[i].name, (int)value);
    } else {
      used += snprintf(text + used, (size_t)(size - used), " %s=%u", fields[i].name, (unsigned)value);
    }
  }
}
