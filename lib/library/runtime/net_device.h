/* The tables of a network library that runs on a device, and the interface between its parts: net_device.c is the
 * network; net_opencl.c or net_cuda.c wraps the device's API, and a library contains one of them.
 *
 * Memory of the device: the arena (intermediate tensors, workspaces that a kernel's launches share, inputs, outputs),
 * the constants, and, while a library is created, a staging area for constants that are still to be packed. Places in
 * them are fixed when the library is built; each is at a multiple of HoneNetDeviceTable::alignment. */
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

/* Launches first .. first + count - 1 of the table: those of a layer, or those that pack a layer's constants. */
typedef struct HoneNetStep {
  uint32_t first, count;
} HoneNetStep;

/* Bytes of the parameter file to copy to the device. */
typedef struct HoneNetUpload {
  uint64_t from; /* in the file */
  HoneNetPlace to;
} HoneNetUpload;

/* Packs the constants of one layer on the device: uploads into the staging area, then launches. */
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
  const HoneNetLaunch* launches; /* those of the layers first, in order */
  uint64_t launch_count;
  const HoneNetStep* steps;     /* info.layer_count */
  const HoneNetPlace* inputs;   /* info.input_count */
  const HoneNetPlace* outputs;  /* info.output_count */
  const HoneNetUpload* uploads; /* those of the packings last */
  uint64_t upload_count;        /* without those of packings */
  const HoneNetPacking* packings;
  uint64_t packing_count;
} HoneNetDeviceTable;

/* Information for a caller that keeps data on the device. */
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

/* Records the error message for HONE_NET_error_detail() of this thread. Returns `code`. */
int hone_net_fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3))) HONE_NET_HIDDEN;

/* An API's device. Functions return a code after hone_net_fail. Call all but open and close between enter and leave,
 * from one thread at a time. */
typedef struct HoneDevice HoneDevice;
typedef struct HoneBound HoneBound; /* launches with their arguments */

/* Opens the device and loads the modules; the device is then entered. *device is NULL after a failure. */
int hone_device_open(const HoneNetDeviceTable* table, const HoneNetOptions* options,
                     HoneDevice** device) HONE_NET_HIDDEN;
void hone_device_close(HoneDevice* device) HONE_NET_HIDDEN;
void hone_device_describe(const HoneDevice* device, HoneNetDeviceInfo* info) HONE_NET_HIDDEN;
/* A thread must enter before it uses the device, and leave afterwards. */
int hone_device_enter(HoneDevice* device) HONE_NET_HIDDEN;
void hone_device_leave(HoneDevice* device) HONE_NET_HIDDEN;

/* Allocates HoneNetPlace::memory number `memory`. A call with 0 bytes frees it, as does close. */
int hone_device_allocate(HoneDevice* device, uint32_t memory, uint64_t bytes) HONE_NET_HIDDEN;
/* The API's handle of a place, for callers: a CUdeviceptr or a cl_mem. */
int hone_device_handle(HoneDevice* device, const HoneNetPlace* place, void** handle) HONE_NET_HIDDEN;

/* Queued in order; `data` must stay valid until hone_device_wait. */
int hone_device_write(HoneDevice* device, const HoneNetPlace* to, uint64_t bytes, const void* data) HONE_NET_HIDDEN;
int hone_device_read(HoneDevice* device, const HoneNetPlace* from, void* data) HONE_NET_HIDDEN;
/* Copies from or to a handle of the caller. */
int hone_device_copy_in(HoneDevice* device, const HoneNetPlace* to, void* handle) HONE_NET_HIDDEN;
int hone_device_copy_out(HoneDevice* device, const HoneNetPlace* from, void* handle) HONE_NET_HIDDEN;
int hone_device_wait(HoneDevice* device) HONE_NET_HIDDEN;

/* The caller's `stream` is a CUstream or cl_command_queue. NULL: for CUDA the legacy default stream; for OpenCL `after`
 * does nothing, and `before` waits as hone_device_wait. */
/* Work queued from now on begins after all work that is in the caller's stream now. */
int hone_device_after(HoneDevice* device, void* stream) HONE_NET_HIDDEN;
/* Work that the caller's stream gets from now on begins after all work queued here. */
int hone_device_before(HoneDevice* device, void* stream) HONE_NET_HIDDEN;

/* REQUIRES: the memories of the arguments are allocated, and stay so. */
int hone_device_bind(HoneDevice* device, const HoneNetLaunch* launches, uint64_t count,
                     HoneBound** bound) HONE_NET_HIDDEN;
void hone_device_unbind(HoneDevice* device, HoneBound* bound) HONE_NET_HIDDEN;
/* Queues all launches; with `graph`, as one graph if the API has graphs, which the first call creates. */
int hone_device_run(HoneDevice* device, HoneBound* bound, int graph) HONE_NET_HIDDEN;
/* Queues all launches, waits, and returns the time of each step by the device's clock. */
int hone_device_profile(HoneDevice* device, HoneBound* bound, const HoneNetStep* steps, int32_t count,
                        double* seconds) HONE_NET_HIDDEN;

#ifdef __cplusplus
}
#endif

#endif
