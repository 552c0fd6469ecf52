/* A decoded stream: each instruction with its module, and the instructions whose tokens it waits for.
 *
 * A token queue has one module that pushes and one that pops, and both run their instructions in order. So the k-th pop
 * always takes the token of the k-th push, whatever order the modules happen to run in: who waits for whom is a
 * property of the stream. */
#ifndef HONE_RUNTIME_VTA_STREAM_H_
#define HONE_RUNTIME_VTA_STREAM_H_

#include "runtime/vta/device.h"
#include "target/vta/instruction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an instruction may wait for: tokens of the neighbours, then room in the queues that it pushes to. */
enum { HONE_VTA_POP_PREV, HONE_VTA_POP_NEXT, HONE_VTA_PUSH_PREV, HONE_VTA_PUSH_NEXT, HONE_VTA_WAITS };

#define HONE_VTA_NOTHING UINT32_MAX     /* waits for nothing */
#define HONE_VTA_NEVER (UINT32_MAX - 1) /* waits for a token, or room, that no instruction provides */

/* The depths of the hardware's queues. */
#define HONE_VTA_TOKEN_DEPTH 1024u
#define HONE_VTA_COMMAND_DEPTH 512u

typedef struct HoneVtaStep {
  HoneVtaInstruction instruction;
  uint32_t module, position;      /* it is the instruction number `position` of its module */
  uint32_t waits[HONE_VTA_WAITS]; /* the instruction that must have run, or one of the two above */
} HoneVtaStep;

typedef struct HoneVtaStream {
  HoneVtaStep* steps;
  uint32_t count;
  uint32_t* queues[HONE_VTA_MODULES]; /* each module's instructions, in order */
  uint32_t lengths[HONE_VTA_MODULES];
} HoneVtaStream;

/* Decodes and links `count` instructions. Returns 0, or 1 with a message (of `size` bytes) about the first instruction
 * that no design with this configuration can run as intended: an unknown opcode, memory or operation; a token of a
 * neighbour that the module lacks, or one that nothing pops; padding where the hardware ignores it; FINISH missing or
 * not last. Release the stream in both cases. */
int hone_vta_read_stream(const HoneVtaConfig* config, const unsigned char* bytes, uint32_t count, HoneVtaStream* stream,
                         char* message, int size);
/* The same for instructions in the device's memory; the message is the device's. */
int hone_vta_read_device_stream(HoneVtaDevice* device, uint64_t address, uint32_t count, HoneVtaStream* stream);
void hone_vta_release_stream(HoneVtaStream* stream);

/* Whether a LOAD or STORE moves or clears anything. */
int hone_vta_transfers(const HoneVtaInstruction* instruction);

/* Executed micro-operations of a GEMM or ALU instruction. */
uint64_t hone_vta_executions(const HoneVtaInstruction* instruction);

/* Adds everything that is known without running: all but cycles. */
void hone_vta_count(const HoneVtaConfig* config, const HoneVtaStream* stream, HoneVtaCounters* counters);

/* A run's progress: instructions that each module has done, and those that fetch has passed to the modules' queues. */
typedef struct HoneVtaProgress {
  uint32_t done[HONE_VTA_MODULES], fetched;
} HoneVtaProgress;

/* The next instruction of a module if it need not wait for anything, else HONE_VTA_NOTHING. First passes instructions
 * to the modules' queues until one is full, and so changes progress->fetched. */
uint32_t hone_vta_runnable(const HoneVtaStream* stream, HoneVtaProgress* progress, uint32_t module);

/* Call it when no module can run. Returns 0 if everything is done, else 1 with a message: who waits for what. */
int hone_vta_deadlock(const HoneVtaStream* stream, const HoneVtaProgress* progress, char* message, int size);

/* "instruction 7 (LOAD INP) of load" */
void hone_vta_name_step(const HoneVtaStream* stream, uint32_t index, char* text, int size);

#ifdef __cplusplus
}
#endif

#endif
