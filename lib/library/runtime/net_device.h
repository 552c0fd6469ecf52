/* The tables of a network library that runs on a device, and what its parts ask of each other: net_device.c is the
 * network, net_opencl.c or net_cuda.c the device's API, of which a library holds one.
 *
 * Memory of the device: the arena (intermediate tensors, what kernels share among their launches, inputs, outputs), the
 * constants, and, while a library is created, a staging area for constants that have yet to be packed. Places in them
 * are known when the library is built; each is at a multiple of HoneNetDeviceTable::alignment. */
#ifndef HONE_LIBRARY_RUNTIME_NET_DEVICE_H_
#define HONE_LIBRARY_RUNTIME_NET_DEVICE_H_

#include "library/runtime/net_runtime.h"

/* Tables. */
enum { HONE_NET_IN_ARENA = 0, HONE_NET_IN_CONSTANTS = 1, HONE_NET_IN_STAGING = 2, HONE_NET_MEMORIES = 3 };

typedef struct HoneNetPlace {
  uint32_t memory;
  uint32_t reserved;
  uint64_t offset;
  uint64_t bytes;
} HoneNetPlace;

typedef struct HoneNetModule {
  const char* code; /* a cubin, or OpenCL C */
  uint64_t bytes;
} HoneNetModule;

typedef struct HoneNetLaunch {
  const char* symbol;
  uint32_t module;
  uint32_t dynamic_shared_bytes;
  uint32_t grid[3];
  uint32_t block[3];
  const HoneNetPlace* args;
  uint64_t arg_count;
} HoneNetLaunch;

/* Launches first .. first + count - 1 of the table's: of a layer, or of packing a layer's constants. */
typedef struct HoneNetStep {
  uint32_t first, count;
} HoneNetStep;

/* Bytes of the parameter file that go to the device. */
typedef struct HoneNetUpload {
  uint64_t from; /* in the file */
  HoneNetPlace to;
} HoneNetUpload;

/* The constants of one layer that are packed on the device: uploads into the staging area, then launches. */
typedef struct HoneNetPacking {
  uint32_t first_upload, upload_count;
  HoneNetStep step;
} HoneNetPacking;

typedef struct HoneNetDeviceTable {
  HoneNetInfo info;
  uint8_t digest[16];
  uint64_t params_bytes;              /* size of the parameter file */
  const char* arch;                   /* CUDA: "sm_90" */
  uint64_t alignment;                 /* of all places */
  uint64_t memory[HONE_NET_MEMORIES]; /* bytes of each */
  const HoneNetModule* modules;
  uint64_t module_count;
  const HoneNetLaunch* launches; /* of the layers first, one behind the other */
  uint64_t launch_count;
  const HoneNetStep* steps;     /* info.layer_count */
  const HoneNetPlace* inputs;   /* info.input_count */
  const HoneNetPlace* outputs;  /* info.output_count */
  const HoneNetUpload* uploads; /* those of the packings last */
  uint64_t upload_count;        /* of those that are constants as they are */
  const HoneNetPacking* packings;
  uint64_t packing_count;
} HoneNetDeviceTable;

/* What a caller that keeps data on the device has to know. */
typedef struct HoneNetDeviceInfo {
  const char* api;  /* "cuda", "opencl" */
  const char* name; /* the device's */
  void* context;    /* CUcontext, cl_context */
  void* queue;      /* CUstream, cl_command_queue: the instance's own */
} HoneNetDeviceInfo;

#ifdef __cplusplus
extern "C" {
#endif

extern const HoneNetDeviceTable hone_net_device_table HONE_NET_HIDDEN;

/* Says what went wrong, for HONE_NET_error_detail() of this thread. Returns `code`. */
int hone_net_fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3))) HONE_NET_HIDDEN;

/* An API's device. Functions return a code after hone_net_fail; all but open and close may be called by one thread at a
 * time, between enter and leave. */
typedef struct HoneDevice HoneDevice;
typedef struct HoneBound HoneBound; /* launches with their arguments */

/* The modules are loaded. *device is NULL after a failure. Entered once it is there. */
int hone_device_open(const HoneNetDeviceTable* table, const HoneNetOptions* options,
                     HoneDevice** device) HONE_NET_HIDDEN;
void hone_device_close(HoneDevice* device) HONE_NET_HIDDEN;
void hone_device_describe(const HoneDevice* device, HoneNetDeviceInfo* info) HONE_NET_HIDDEN;
/* Around whatever a thread does with the device. */
int hone_device_enter(HoneDevice* device) HONE_NET_HIDDEN;
void hone_device_leave(HoneDevice* device) HONE_NET_HIDDEN;

/* HoneNetPlace::memory number `memory`. Freed by another call with 0 bytes, and by close. */
int hone_device_allocate(HoneDevice* device, uint32_t memory, uint64_t bytes) HONE_NET_HIDDEN;
/* The API's handle of a place, to give to callers: a CUdeviceptr, a cl_mem. */
int hone_device_handle(HoneDevice* device, const HoneNetPlace* place, void** handle) HONE_NET_HIDDEN;

/* Queued, in order; `data` stays until hone_device_wait. */
int hone_device_write(HoneDevice* device, const HoneNetPlace* to, uint64_t bytes, const void* data) HONE_NET_HIDDEN;
int hone_device_read(HoneDevice* device, const HoneNetPlace* from, void* data) HONE_NET_HIDDEN;
/* From or to a handle of the caller's. */
int hone_device_copy_in(HoneDevice* device, const HoneNetPlace* to, void* handle) HONE_NET_HIDDEN;
int hone_device_copy_out(HoneDevice* device, const HoneNetPlace* from, void* handle) HONE_NET_HIDDEN;
int hone_device_wait(HoneDevice* device) HONE_NET_HIDDEN;

/* REQUIRES: the memories of their arguments are there, and stay. */
int hone_device_bind(HoneDevice* device, const HoneNetLaunch* launches, uint64_t count,
                     HoneBound** bound) HONE_NET_HIDDEN;
void hone_device_unbind(HoneDevice* device, HoneBound* bound) HONE_NET_HIDDEN;
/* Queues all of them; with `graph` as one graph where the API has graphs, made by the first call. */
int hone_device_run(HoneDevice* device, HoneBound* bound, int graph) HONE_NET_HIDDEN;
/* Queues all of them, waits, and says how long each step took by the device's clock. */
int hone_device_profile(HoneDevice* device, HoneBound* bound, const HoneNetStep* steps, int32_t count,
                        double* seconds) HONE_NET_HIDDEN;

#ifdef __cplusplus
}
#endif

#endif
