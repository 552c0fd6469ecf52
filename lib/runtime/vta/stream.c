#include "runtime/vta/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/vta/device_base.h"

static const char* const kModules[HONE_VTA_MODULES] = {"load", "compute", "store"};

/* The four token queues; "l2g": from load to compute (GEMM). */
enum { kL2G, kG2L, kG2S, kS2G, kQueues, kNoQueue };
static const char* const kQueueNames[kQueues] = {"l2g", "g2l", "g2s", "s2g"};

/* The queue of each token field, by module. */
static const int kQueueOf[HONE_VTA_MODULES][HONE_VTA_WAITS] = {
    {kNoQueue, kG2L, kNoQueue, kL2G}, {kL2G, kS2G, kG2L, kG2S}, {kG2S, kNoQueue, kS2G, kNoQueue}};

static const char* const kTokenFields[HONE_VTA_WAITS] = {"pop_prev", "pop_next", "push_prev", "push_next"};

static uint32_t Token(const HoneVtaInstruction* i, int field) {
  const uint32_t tokens[HONE_VTA_WAITS] = {i->pop_prev, i->pop_next, i->push_prev, i->push_next};
  return tokens[field];
}

void hone_vta_name_step(const HoneVtaStream* stream, uint32_t index, char* text, int size) {
  const HoneVtaStep* step = &stream->steps[index];
  snprintf(text, (size_t)size, "instruction %u (%s) of %s", (unsigned)index,
           hone_vta_instruction_name(&step->instruction), kModules[step->module]);
}

int hone_vta_transfers(const HoneVtaInstruction* i) { return i->x_size != 0 && i->y_size != 0; }

uint64_t hone_vta_executions(const HoneVtaInstruction* i) {
  if (i->uop_end <= i->uop_begin) return 0;
  return (uint64_t)i->iter_out * i->iter_in * (i->uop_end - i->uop_begin);
}

static uint32_t ModuleOf(const HoneVtaInstruction* i) {
  if (i->opcode == HONE_VTA_STORE) return HONE_VTA_MODULE_STORE;
  const int load = i->opcode == HONE_VTA_LOAD && (i->memory == HONE_VTA_INP || i->memory == HONE_VTA_WGT);
  return load ? HONE_VTA_MODULE_LOAD : HONE_VTA_MODULE_COMPUTE;
}

/* Why an instruction cannot run, without looking at others, or NULL. */
static const char* Problem(const HoneVtaConfig* config, const HoneVtaStep* step) {
  const HoneVtaInstruction* i = &step->instruction;
  const int pads = i->y_pad_0 || i->y_pad_1 || i->x_pad_0 || i->x_pad_1;
  for (int field = 0; field < HONE_VTA_WAITS; ++field) {
    if (!Token(i, field) || kQueueOf[step->module][field] != kNoQueue) continue;
    return field % 2 == 0 ? "a token from or to the module before load, which does not exist"
                          : "a token from or to the module after store, which does not exist";
  }
  switch (i->opcode) {
    case HONE_VTA_LOAD:
      if (i->memory == HONE_VTA_ACC_8BIT && !config->extensions) return "this design cannot load ACC_8BIT";
      if (i->memory == HONE_VTA_OUT || i->memory >= HONE_VTA_MEMORIES) return "LOAD cannot write this memory";
      if (pads && !hone_vta_transfers(i)) return "padding without entries";
      if (pads && (i->memory == HONE_VTA_WGT || i->memory == HONE_VTA_UOP)) return "the hardware pads only INP and ACC";
      if (i->memory == HONE_VTA_UOP && i->y_size > 1) return "the hardware loads micro-operations in one row only";
      return NULL;
    case HONE_VTA_STORE:
      if (hone_vta_transfers(i) && i->memory != HONE_VTA_OUT) return "STORE can read only OUT";
      return pads ? "the hardware does not pad stores" : NULL;
    case HONE_VTA_ALU:
      if (i->alu_opcode > HONE_VTA_MUL) return "unknown ALU operation";
      if (i->alu_opcode == HONE_VTA_MUL && !config->extensions) return "this design cannot multiply in the ALU";
      if (i->alu_opcode == HONE_VTA_SHR && i->use_imm && (i->imm < -15 || i->imm > 15)) {
        return "the hardware shifts by -15 to 15 bits only";
      }
      return NULL;
    default:
      return NULL;
  }
}

/* Finds what each instruction waits for, as the comment at the top of the header says. */
static int Link(HoneVtaStream* stream, char* message, int size) {
  uint32_t* ends[kQueues][2]; /* the instructions that push to a queue, and those that pop */
  uint32_t counts[kQueues][2] = {{0}};
  uint32_t* all = malloc(2 * kQueues * sizeof *all * (stream->count + 1u));
  if (all == NULL) {
    snprintf(message, (size_t)size, "out of memory");
    return 1;
  }
  for (int q = 0; q < kQueues; ++q) {
    for (int pops = 0; pops < 2; ++pops) ends[q][pops] = all + (size_t)(2 * q + pops) * (stream->count + 1u);
  }
  for (uint32_t index = 0; index < stream->count; ++index) {
    const HoneVtaStep* step = &stream->steps[index];
    for (int field = 0; field < HONE_VTA_WAITS; ++field) {
      if (!Token(&step->instruction, field)) continue;
      const int q = kQueueOf[step->module][field], pops = field <= HONE_VTA_POP_NEXT;
      ends[q][pops][counts[q][pops]++] = index;
    }
  }
  int failed = 0;
  for (int q = 0; q < kQueues && !failed; ++q) {
    const uint32_t pushes = counts[q][0], pops = counts[q][1];
    if (pushes > pops) {
      char step[128];
      hone_vta_name_step(stream, ends[q][0][pops], step, sizeof step);
      snprintf(message, (size_t)size, "%s: pushes a token to %s that no instruction pops", step, kQueueNames[q]);
      failed = 1;
    }
  }
  uint32_t next[kQueues][2] = {{0}};
  for (uint32_t index = 0; index < stream->count && !failed; ++index) {
    HoneVtaStep* step = &stream->steps[index];
    for (int field = 0; field < HONE_VTA_WAITS; ++field) {
      step->waits[field] = HONE_VTA_NOTHING;
      if (!Token(&step->instruction, field)) continue;
      const int q = kQueueOf[step->module][field], pops = field <= HONE_VTA_POP_NEXT;
      const uint32_t k = next[q][pops]++;
      if (pops) {
        step->waits[field] = k < counts[q][0] ? ends[q][0][k] : HONE_VTA_NEVER;
      } else if (k >= HONE_VTA_TOKEN_DEPTH) { /* a full queue: an earlier token must have been popped */
        const uint32_t freed = k - HONE_VTA_TOKEN_DEPTH;
        step->waits[field] = freed < counts[q][1] ? ends[q][1][freed] : HONE_VTA_NEVER;
      }
    }
  }
  free(all);
  return failed;
}

int hone_vta_read_stream(const HoneVtaConfig* config, const unsigned char* bytes, uint32_t count, HoneVtaStream* stream,
                         char* message, int size) {
  memset(stream, 0, sizeof *stream);
  stream->steps = malloc(sizeof *stream->steps * (count + (size_t)1));
  int memory = stream->steps != NULL;
  for (int m = 0; m < HONE_VTA_MODULES; ++m) {
    stream->queues[m] = malloc(sizeof *stream->queues[m] * (count + (size_t)1));
    memory = memory && stream->queues[m] != NULL;
  }
  if (!memory) {
    snprintf(message, (size_t)size, "out of memory");
    return 1;
  }
  for (uint32_t index = 0; index < count; ++index) {
    HoneVtaStep* step = &stream->steps[index];
    const int known = hone_vta_decode(config, bytes + (size_t)index * HONE_VTA_INSTRUCTION_BYTES, &step->instruction);
    if (!known) {
      snprintf(message, (size_t)size, "instruction %u: unknown opcode %u", (unsigned)index,
               (unsigned)step->instruction.opcode);
      return 1;
    }
    step->module = ModuleOf(&step->instruction);
    step->position = stream->lengths[step->module];
    stream->queues[step->module][stream->lengths[step->module]++] = index;
    stream->count = index + 1;
    const char* problem = Problem(config, step);
    if (problem == NULL && step->instruction.opcode == HONE_VTA_FINISH && index + 1 < count) {
      problem = "instructions after FINISH would never run";
    }
    if (problem != NULL) {
      char name[128];
      hone_vta_name_step(stream, index, name, sizeof name);
      snprintf(message, (size_t)size, "%s: %s", name, problem);
      return 1;
    }
  }
  if (count == 0 || stream->steps[count - 1].instruction.opcode != HONE_VTA_FINISH) {
    snprintf(message, (size_t)size, "a stream of %u instructions does not end with FINISH: it may have been cut short",
             (unsigned)count);
    return 1;
  }
  return Link(stream, message, size);
}

int hone_vta_read_device_stream(HoneVtaDevice* device, uint64_t address, uint32_t count, HoneVtaStream* stream) {
  const unsigned char* bytes = hone_vta_bytes(device, address, (uint64_t)count * HONE_VTA_INSTRUCTION_BYTES);
  if (bytes != NULL) {
    return hone_vta_read_stream(&device->config, bytes, count, stream, device->message, sizeof device->message);
  }
  memset(stream, 0, sizeof *stream);
  snprintf(device->message, sizeof device->message, "%u instructions at device address %#llx are not in one allocation",
           (unsigned)count, (unsigned long long)address);
  return 1;
}

void hone_vta_release_stream(HoneVtaStream* stream) {
  free(stream->steps);
  for (int m = 0; m < HONE_VTA_MODULES; ++m) free(stream->queues[m]);
  memset(stream, 0, sizeof *stream);
}

void hone_vta_count(const HoneVtaConfig* config, const HoneVtaStream* stream, HoneVtaCounters* counters) {
  counters->instructions += stream->count;
  for (uint32_t index = 0; index < stream->count; ++index) {
    const HoneVtaInstruction* i = &stream->steps[index].instruction;
    const uint64_t entries = (uint64_t)i->x_size * i->y_size;
    switch (i->opcode) {
      case HONE_VTA_LOAD:
        counters->load_bytes[i->memory] += entries * hone_vta_entry_bytes(config, (int)i->memory);
        break;
      case HONE_VTA_STORE:
        counters->store_bytes += entries * hone_vta_entry_bytes(config, HONE_VTA_OUT);
        break;
      case HONE_VTA_GEMM:
        *(i->reset ? &counters->reset : &counters->gemm) += hone_vta_executions(i);
        break;
      case HONE_VTA_ALU:
        counters->alu += hone_vta_executions(i);
        break;
      default:
        break;
    }
  }
}

/* Whether the instruction `index`, or whatever HONE_VTA_NOTHING and HONE_VTA_NEVER stand for, has happened. */
static int Happened(const HoneVtaStream* stream, const HoneVtaProgress* progress, uint32_t index) {
  if (index == HONE_VTA_NOTHING) return 1;
  if (index == HONE_VTA_NEVER) return 0;
  return stream->steps[index].position < progress->done[stream->steps[index].module];
}

uint32_t hone_vta_runnable(const HoneVtaStream* stream, HoneVtaProgress* progress, uint32_t module) {
  if (progress->done[module] == stream->lengths[module]) return HONE_VTA_NOTHING;
  while (progress->fetched < stream->count) { /* until a queue is full */
    const HoneVtaStep* step = &stream->steps[progress->fetched];
    if (step->position - progress->done[step->module] >= HONE_VTA_COMMAND_DEPTH) break;
    ++progress->fetched;
  }
  const uint32_t index = stream->queues[module][progress->done[module]];
  if (index >= progress->fetched) return HONE_VTA_NOTHING;
  for (int field = 0; field < HONE_VTA_WAITS; ++field) {
    if (!Happened(stream, progress, stream->steps[index].waits[field])) return HONE_VTA_NOTHING;
  }
  return index;
}

int hone_vta_deadlock(const HoneVtaStream* stream, const HoneVtaProgress* progress, char* message, int size) {
  int used = 0;
  for (uint32_t module = 0; module < HONE_VTA_MODULES && used < size; ++module) {
    if (progress->done[module] == stream->lengths[module]) continue;
    const uint32_t index = stream->queues[module][progress->done[module]];
    const HoneVtaStep* step = &stream->steps[index];
    char name[128], why[192] = "";
    hone_vta_name_step(stream, index, name, sizeof name);
    if (index >= progress->fetched) {
      snprintf(why, sizeof why, "to be fetched, behind %u others that fill a module's queue", HONE_VTA_COMMAND_DEPTH);
    }
    for (int field = 0; field < HONE_VTA_WAITS && why[0] == '\0'; ++field) {
      if (Happened(stream, progress, step->waits[field])) continue;
      char other[128] = "no instruction";
      if (step->waits[field] != HONE_VTA_NEVER) hone_vta_name_step(stream, step->waits[field], other, sizeof other);
      const char* queue = kQueueNames[kQueueOf[module][field]];
      if (field <= HONE_VTA_POP_NEXT) {
        snprintf(why, sizeof why, "(%s) for a token in %s, which %s pushes", kTokenFields[field], queue, other);
      } else {
        snprintf(why, sizeof why, "(%s) for room in %s, where %s pops a token", kTokenFields[field], queue, other);
      }
    }
    used +=
        snprintf(message + used, (size_t)(size - used), "%s%s waits %s", used == 0 ? "deadlock: " : "; ", name, why);
  }
  return used != 0;
}
