/* The parts of a network library besides its kernels: tables, made by hone-build (library/tables.cc), and the code that
 * runs them (the .c files here), compiled with Hone for the architecture's baseline and embedded into hone-build. This
 * header has the common part of all libraries, and the tables of libraries for the CPU; net_device.h has those for
 * devices.
 *
 * C11. Needs libc only. The exported functions are named HONE_NET_*; hone-build renames them to NET_*. The structs are
 * those of the public header, NET.h (library/header_text.cc): change both together and raise HONE_NET_ABI_VERSION. */
#ifndef HONE_LIBRARY_RUNTIME_NET_RUNTIME_H_
#define HONE_LIBRARY_RUNTIME_NET_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/host/kernel_abi.h"

#define HONE_NET_ABI_VERSION 4

enum {
  HONE_NET_OK = 0,
  HONE_NET_E_ARGUMENT = 1,
  HONE_NET_E_MEMORY = 2,
  HONE_NET_E_THREADS = 3,
  HONE_NET_E_CPU = 4,
  HONE_NET_E_WORKSPACE = 5,
  HONE_NET_E_BUSY = 6,
  HONE_NET_E_PARAMS_OPEN = 7,
  HONE_NET_E_PARAMS_FORMAT = 8,
  HONE_NET_E_PARAMS_VERSION = 9,
  HONE_NET_E_PARAMS_TRUNCATED = 10,
  HONE_NET_E_PARAMS_DAMAGED = 11,
  HONE_NET_E_PARAMS_OTHER = 12,
  /* For libraries that run on a device. */
  HONE_NET_E_DRIVER = 13,
  HONE_NET_E_DEVICE = 14,
  HONE_NET_E_DEVICE_ARCH = 15,
  HONE_NET_E_DEVICE_MEMORY = 16,
  HONE_NET_E_DEVICE_LOST = 17,
  HONE_NET_E_DEVICE_CODE = 18,
  HONE_NET_E_DEVICE_CALL = 19,
  /* For all libraries. */
  HONE_NET_E_FORKED = 20
};

/* Public structs. */
typedef struct HoneNetTensor {
  const char* name;
  const char* type; /* "f32" */
  int32_t rank;
  int32_t alignment;
  const int64_t* shape;
  uint64_t bytes;
} HoneNetTensor;

typedef struct HoneNetLayer {
  const char* name;
  const char* workload;
  double flop;
} HoneNetLayer;

typedef struct HoneNetInfo {
  int32_t abi_version;
  int32_t threads; /* number that the kernels were tuned for */
  const char* network;
  const char* target;
  const char* digest; /* of the matching parameter file, hex */
  int32_t input_count;
  int32_t output_count;
  const HoneNetTensor* inputs;
  const HoneNetTensor* outputs;
  int32_t layer_count;
  int32_t reserved;
  const HoneNetLayer* layers;
} HoneNetInfo;

typedef struct HoneNetOptions {
  const char* params_path;
  const void* params_data;
  size_t params_size;
  int threads;
  int pin;
  void* workspace;
  size_t workspace_size;
  int device;                 /* for a device library: its number, from 0 */
  int verify;                 /* read all parameters and compare them with their digest */
  const char* device_options; /* OpenCL: additional compiler options, or null */
} HoneNetOptions;

/* Tables. */
enum { HONE_NET_ARENA = 0, HONE_NET_PARAMS = 1, HONE_NET_INPUT = 2, HONE_NET_OUTPUT = 3 };

typedef struct HoneNetArg {
  uint32_t kind;
  uint32_t index;  /* for HONE_NET_INPUT, HONE_NET_OUTPUT */
  uint64_t offset; /* for HONE_NET_ARENA, HONE_NET_PARAMS: bytes */
} HoneNetArg;

typedef struct HoneNetNode {
  HoneKernel kernel;
  const HoneNetArg* args;
  uint64_t arg_count;
} HoneNetNode;

/* A CPU feature. x86-64: bit `bit` of register `reg` (0 eax .. 3 edx) of cpuid leaf `leaf`, subleaf `subleaf`; `state`:
 * the bits that the operating system must have set in XCR0. AArch64: bit `bit` of the auxiliary vector's entry `leaf`
 * (AT_HWCAP, AT_HWCAP2). */
typedef struct HoneNetFeature {
  uint32_t leaf, subleaf, reg, bit;
  uint64_t state;
} HoneNetFeature;

typedef struct HoneNetTable {
  HoneNetInfo info;
  uint8_t digest[16];
  uint64_t params_bytes; /* size of the parameter file */
  uint64_t arena_bytes;
  uint64_t workspace_bytes; /* maximum over all kernels */
  uint64_t scratch_bytes;   /* maximum over all kernels, per thread */
  const HoneNetNode* nodes; /* info.layer_count */
  const HoneNetFeature* features;
  uint64_t feature_count;
} HoneNetTable;

#define HONE_NET_HIDDEN __attribute__((visibility("hidden")))
#define HONE_NET_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

extern const HoneNetTable hone_net_table HONE_NET_HIDDEN;

/* The info of the library's table, of either kind. */
const HoneNetInfo* hone_net_info(void) HONE_NET_HIDDEN;

/* Nonzero if this CPU and the operating system have all the features that the table requires. */
int hone_net_cpu_fits(const HoneNetTable* table) HONE_NET_HIDDEN;

/* A parameter file in memory. */
typedef struct HoneNetParams {
  const char* data;
  size_t mapped; /* bytes to unmap; 0: the caller's memory */
} HoneNetParams;

/* Opens the file or memory named in `options`. Returns an error code unless it matches `digest` and `bytes`; reads only
 * the header and the entries for this, but every byte if `options->verify` is set. */
int hone_net_params_open(const uint8_t digest[16], uint64_t bytes, const HoneNetOptions* options,
                         HoneNetParams* params) HONE_NET_HIDDEN;
void hone_net_params_close(HoneNetParams* params) HONE_NET_HIDDEN;

typedef struct HoneNetBytes {
  const uint8_t* data;
  size_t size;
} HoneNetBytes;

/* Digest128 (base/hash.h) of both parts, one after the other; high bytes first, as in parameter files. REQUIRES: the
 * sizes are multiples of 64, and more than 128 together. */
void hone_net_digest(const HoneNetBytes parts[2], uint8_t digest[16]) HONE_NET_HIDDEN;

#ifdef __cplusplus
}
#endif

#endif
