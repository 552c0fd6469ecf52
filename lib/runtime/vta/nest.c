/* GEMM and ALU: a nest of two loops around a list of micro-operations. All accesses of an instruction are checked
 * before the first one is executed. */
#include <string.h>

#include "runtime/vta/simulator_state.h"

typedef struct Uops {
  uint32_t count;
  HoneVtaUop uops[1 << 13]; /* hone_vta_config_problem: at most 13 bits */
} Uops;

/* Runs the code, with the indices `dst`, `src` and `wgt`, for each execution in order. */
#define FOR_EACH_EXECUTION(i, list, ...)                          \
  for (uint32_t o = 0; o < (i)->iter_out; ++o) {                  \
    for (uint32_t n = 0; n < (i)->iter_in; ++n) {                 \
      const uint32_t dst_at = o * (i)->dst_out + n * (i)->dst_in; \
      const uint32_t src_at = o * (i)->src_out + n * (i)->src_in; \
      const uint32_t wgt_at = o * (i)->wgt_out + n * (i)->wgt_in; \
      for (uint32_t u = 0; u < (list)->count; ++u) {              \
        const size_t dst = (list)->uops[u].dst + dst_at;          \
        const size_t src = (list)->uops[u].src + src_at;          \
        const size_t wgt = (list)->uops[u].wgt + wgt_at;          \
        (void)src, (void)wgt;                                     \
        __VA_ARGS__                                               \
      }                                                           \
    }                                                             \
  }

/* Decodes the micro-operations and checks that no execution leaves a memory: factors only ever add. */
static int ReadUops(HoneVtaSimulator* s, uint32_t index, const HoneVtaInstruction* i, Uops* list) {
  const HoneVtaConfig* config = &s->device.config;
  const int gemm = i->opcode == HONE_VTA_GEMM;
  const int src_memory = gemm ? HONE_VTA_INP : HONE_VTA_ACC;
  const uint32_t uops = hone_vta_entries(config, HONE_VTA_UOP);
  if (i->uop_end > uops) {
    return hone_vta_fail(s, index, "reads entry %u of UOP, which has %u", (unsigned)(i->uop_end - 1), (unsigned)uops);
  }
  list->count = i->uop_end - i->uop_begin;
  const uint32_t o = i->iter_out - 1, n = i->iter_in - 1;
  const struct {
    int memory, used;
    uint32_t last, entries;
  } most[3] = {
      {HONE_VTA_ACC, 1, o * i->dst_out + n * i->dst_in, hone_vta_entries(config, HONE_VTA_ACC)},
      {src_memory, gemm ? !i->reset : !i->use_imm, o * i->src_out + n * i->src_in,
       hone_vta_entries(config, src_memory)},
      {HONE_VTA_WGT, gemm && !i->reset, o * i->wgt_out + n * i->wgt_in, hone_vta_entries(config, HONE_VTA_WGT)}};
  for (uint32_t u = 0; u < list->count; ++u) {
    const uint32_t at = i->uop_begin + u;
    if (!s->uop_set[at]) {
      return hone_vta_fail(s, index, "reads entry %u of UOP, which this stream never loaded", (unsigned)at);
    }
    list->uops[u] = hone_vta_decode_uop(config, s->uop[at]);
    const uint32_t indices[3] = {list->uops[u].dst, list->uops[u].src, list->uops[u].wgt};
    for (int k = 0; k < 3; ++k) {
      const uint64_t last = (uint64_t)indices[k] + most[k].last;
      if (most[k].used && last >= most[k].entries) {
        return hone_vta_fail(s, index, "accesses entry %llu of %s, which has %u, by micro-operation %u",
                             (unsigned long long)last, hone_vta_memory_name(most[k].memory), (unsigned)most[k].entries,
                             (unsigned)at);
      }
    }
  }
  return 0;
}

static int Unset(HoneVtaSimulator* s, uint32_t index, int memory, uint32_t entry) {
  return hone_vta_fail(s, index, "reads entry %u of %s, which this stream never wrote", (unsigned)entry,
                       hone_vta_memory_name(memory));
}

static int ReadOutside(HoneVtaSimulator* s, uint32_t index, int memory, HoneVtaCell* cells, size_t entry) {
  if (cells[entry].reader == index + 1) return 0; /* checked before, as nearly always */
  const uint32_t other = hone_vta_read_cell(&s->order, &cells[entry], index);
  if (other != 0) return hone_vta_race(s, index, "reads", memory, entry, other);
  return cells[entry].writer == 0 ? Unset(s, index, memory, (uint32_t)entry) : 0;
}

/* An accumulator that the pipeline reads: it must have left the pipeline, and have a value. */
static int ReadAccumulator(HoneVtaSimulator* s, uint32_t index, size_t entry, uint64_t now) {
  const HoneVtaAccumulator* a = &s->accumulators[entry];
  if (now - a->written < HONE_VTA_READ_DISTANCE) {
    return hone_vta_fail(s, index, "reads entry %u of ACC %u execution(s) after writing it; the pipeline needs %d",
                         (unsigned)entry, (unsigned)(now - a->written), HONE_VTA_READ_DISTANCE);
  }
  return a->state == kUnset ? Unset(s, index, HONE_VTA_ACC, (uint32_t)entry) : 0;
}

static int WriteAccumulator(HoneVtaSimulator* s, uint32_t index, size_t entry, uint64_t now) {
  HoneVtaAccumulator* a = &s->accumulators[entry];
  a->written = now;
  if (a->cell.writer == index + 1) return 0;
  const uint32_t other = hone_vta_write_cell(&s->order, &a->cell, index);
  if (other != 0) return hone_vta_race(s, index, "writes", HONE_VTA_ACC, entry, other);
  a->state = kComputed;
  return 0;
}

static int CheckAccesses(HoneVtaSimulator* s, uint32_t index, const HoneVtaInstruction* i, const Uops* list) {
  const int product = i->opcode == HONE_VTA_GEMM && !i->reset, two = i->opcode == HONE_VTA_ALU && !i->use_imm;
  const int reads = product || i->opcode == HONE_VTA_ALU;
  uint64_t now = s->executions + HONE_VTA_READ_DISTANCE; /* the pipeline is empty when an instruction begins */
  FOR_EACH_EXECUTION(i, list, {
    if (product && (ReadOutside(s, index, HONE_VTA_INP, s->inp_cells, src) ||
                    ReadOutside(s, index, HONE_VTA_WGT, s->wgt_cells, wgt))) {
      return 1;
    }
    if (two && ReadAccumulator(s, index, src, now)) return 1;
    if (reads && ReadAccumulator(s, index, dst, now)) return 1;
    if (WriteAccumulator(s, index, dst, now)) return 1;
    ++now;
  })
  s->executions = now;
  return 0;
}

/* acc[b][j] += sum over k of inp[b][k] * wgt[j][k], 32 bits with wrap-around. A sum alone fits, as blocks have at
 * most 64. */
static inline void Product(int32_t* restrict acc, const int16_t* restrict inp, const int16_t* restrict wgt,
                           uint32_t batch, uint32_t block) {
  for (uint32_t b = 0; b < batch; ++b, acc += block, inp += block) {
    for (uint32_t j = 0; j < block; ++j) {
      int32_t sum = 0;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 1 /* unrolled, it would not become vector instructions */
#endif
      for (uint32_t k = 0; k < block; ++k) sum += inp[k] * wgt[j * block + k];
      acc[j] = (int32_t)((uint32_t)acc[j] + (uint32_t)sum);
    }
  }
}

static void Gemm(HoneVtaSimulator* s, const HoneVtaInstruction* i, const Uops* list) {
  const uint32_t batch = 1u << s->device.config.log_batch, block = 1u << s->device.config.log_block;
  const size_t entry = (size_t)batch * block, weights = (size_t)block * block;
  if (i->reset) {
    FOR_EACH_EXECUTION(i, list, { memset(s->acc + dst * entry, 0, entry * sizeof *s->acc); })
  } else if (batch == 1 && block == 16) { /* the usual design, with constants for the compiler */
    FOR_EACH_EXECUTION(i, list, { Product(s->acc + dst * 16, s->inp + src * 16, s->wgt + wgt * 256, 1, 16); })
  } else {
    FOR_EACH_EXECUTION(i, list,
                       { Product(s->acc + dst * entry, s->inp + src * entry, s->wgt + wgt * weights, batch, block); })
  }
}

static int32_t Operate(uint32_t opcode, int32_t x, int32_t y) {
  switch (opcode) {
    case HONE_VTA_MIN:
      return x < y ? x : y;
    case HONE_VTA_MAX:
      return x > y ? x : y;
    case HONE_VTA_ADD:
      return (int32_t)((uint32_t)x + (uint32_t)y);
    case HONE_VTA_MUL:
      return (int32_t)((uint32_t)x * (uint32_t)y);
    default: /* an arithmetic shift to the right */
      return y >= 0 ? x >> y : (int32_t)((uint32_t)x << -y);
  }
}

static int Alu(HoneVtaSimulator* s, uint32_t index, const HoneVtaInstruction* i, const Uops* list) {
  const uint32_t lanes = hone_vta_entry_elements(&s->device.config, HONE_VTA_ACC), opcode = i->alu_opcode;
  FOR_EACH_EXECUTION(i, list, {
    int32_t* x = s->acc + dst * lanes;
    const int32_t* y = s->acc + src * lanes;
    if (i->use_imm) {
      for (uint32_t l = 0; l < lanes; ++l) x[l] = Operate(opcode, x[l], i->imm);
      continue;
    }
    for (uint32_t l = 0; l < lanes; ++l) {
      if (opcode == HONE_VTA_SHR && (y[l] < -15 || y[l] > 15)) { /* stream.c checks immediates */
        return hone_vta_fail(s, index, "shifts entry %u of ACC by %d bits; the hardware shifts by -15 to 15 only",
                             (unsigned)dst, (int)y[l]);
      }
      x[l] = Operate(opcode, x[l], y[l]);
    }
  })
  return 0;
}

int hone_vta_run_nest(HoneVtaSimulator* s, uint32_t index) {
  const HoneVtaInstruction* i = &s->order.stream->steps[index].instruction;
  const uint64_t executions = hone_vta_executions(i);
  if (executions == 0) return 0;
  if (executions > s->executions_left) {
    return hone_vta_fail(s, index, "the run would execute more than %llu micro-operations",
                         (unsigned long long)s->options.most_executions);
  }
  s->executions_left -= executions;
  Uops list;
  list.count = 0;
  if (ReadUops(s, index, i, &list) || CheckAccesses(s, index, i, &list)) return 1;
  if (i->opcode == HONE_VTA_ALU) return Alu(s, index, i, &list);
  Gemm(s, i, &list);
  return 0;
}
