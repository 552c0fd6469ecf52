/* Devices through NVIDIA's driver alone, which is opened when a library is created: one stream per instance in the
 * device's primary context. A whole run is one graph, so that the host starts only one thing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/runtime/net_device.h"
#include "runtime/cuda/driver_functions.h"

struct HoneDevice {
  HoneCuda cuda;
  const HoneNetDeviceTable* table;
  char name[128];
  int id;
  int entered;
  HoneCudaHandle context, stream;
  HoneCudaHandle order; /* an event: lets this stream and a caller's wait for each other */
  HoneCudaHandle* modules;
  HoneCudaAddress memory[HONE_NET_MEMORIES];
};

typedef struct BoundLaunch {
  HoneCudaHandle function;
  const HoneNetLaunch* launch;
  void** parameters; /* pointers to the entries of HoneBound::addresses */
} BoundLaunch;

struct HoneBound {
  uint64_t count;
  BoundLaunch* launches;
  HoneCudaAddress* addresses; /* of all arguments, one after the other */
  void** parameters;
  HoneCudaHandle graph, executable;
};

static int failed(const HoneDevice* d, int code, int error, const char* what) {
  return hone_net_fail(code, "%s: %s failed: %s (%d)", d->name, what, hone_cuda_error_name(&d->cuda, error), error);
}

/* If the context cannot recover from a failure, the next wait for its stream fails as well, whatever the number of this
 * error. A wait for the whole context would also fail while somebody else captures a stream. */
static int check(const HoneDevice* d, int error, const char* what) {
  if (error == HONE_CUDA_SUCCESS) return HONE_NET_OK;
  if (error == HONE_CUDA_OUT_OF_MEMORY) return failed(d, HONE_NET_E_DEVICE_MEMORY, error, what);
  const int lost = d->context && hone_cuda_is_sticky(d->stream ? d->cuda.cuStreamSynchronize(d->stream) : error);
  return failed(d, lost ? HONE_NET_E_DEVICE_LOST : HONE_NET_E_DEVICE_CALL, error, what);
}

static int load_driver(HoneDevice* d) {
  const char* wrong = hone_cuda_load(&d->cuda, "libcuda.so.1");
  if (wrong) return hone_net_fail(HONE_NET_E_DRIVER, "%s", wrong);
  const int error = d->cuda.cuInit(0);
  if (error == HONE_CUDA_NO_DEVICE) return failed(d, HONE_NET_E_DEVICE, error, "starting the driver");
  return error == HONE_CUDA_SUCCESS ? HONE_NET_OK : failed(d, HONE_NET_E_DRIVER, error, "starting the driver");
}

/* Code for sm_80 runs on sm_80 and sm_86, not on sm_90 or sm_75; code for sm_90a runs only on sm_90. */
static int check_arch(HoneDevice* d) {
  int major = 0, minor = 0;
  int error = d->cuda.cuDeviceGetAttribute(&major, HONE_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, d->id);
  if (error == HONE_CUDA_SUCCESS)
    error = d->cuda.cuDeviceGetAttribute(&minor, HONE_CUDA_ATTRIBUTE_CAPABILITY_MINOR, d->id);
  if (error != HONE_CUDA_SUCCESS) return failed(d, HONE_NET_E_DEVICE, error, "asking for the architecture");
  char* rest = NULL;
  const int built = (int)strtol(d->table->arch + 3, &rest, 10); /* after "sm_" */
  const int exact = *rest != '\0';
  if (built / 10 == major && (exact ? built % 10 == minor : built % 10 <= minor)) return HONE_NET_OK;
  return hone_net_fail(HONE_NET_E_DEVICE_ARCH, "the library was built for %s, %s is sm_%d%d; build it for that one",
                       d->table->arch, d->name, major, minor);
}

static int find_device(HoneDevice* d, int number) {
  int count = 0;
  int error = d->cuda.cuDeviceGetCount(&count);
  if (error == HONE_CUDA_SUCCESS && number >= count)
    return hone_net_fail(HONE_NET_E_DEVICE, "no CUDA device %d: there are %d, counted from 0", number, count);
  if (error == HONE_CUDA_SUCCESS) error = d->cuda.cuDeviceGet(&d->id, number);
  if (error != HONE_CUDA_SUCCESS) return failed(d, HONE_NET_E_DEVICE, error, "looking for the device");
  d->cuda.cuDeviceGetName(d->name, sizeof d->name, d->id);
  d->name[sizeof d->name - 1] = '\0';
  return check_arch(d);
}

static int load_modules(HoneDevice* d) {
  const HoneNetDeviceTable* t = d->table;
  d->modules = calloc(t->module_count + 1, sizeof *d->modules);
  if (!d->modules) return HONE_NET_E_MEMORY;
  for (uint64_t i = 0; i < t->module_count; ++i) {
    const int error = d->cuda.cuModuleLoadData(&d->modules[i], t->modules[i].code);
    if (hone_cuda_refuses_code(error)) return failed(d, HONE_NET_E_DEVICE_CODE, error, "loading the kernels");
    if (error != HONE_CUDA_SUCCESS) return check(d, error, "loading the kernels");
  }
  return HONE_NET_OK;
}

int hone_device_open(const HoneNetDeviceTable* table, const HoneNetOptions* options, HoneDevice** out) {
  HoneDevice* d = calloc(1, sizeof *d);
  if (!d) return HONE_NET_E_MEMORY;
  d->table = table;
  strcpy(d->name, "CUDA");
  int code = load_driver(d);
  if (code == HONE_NET_OK) code = find_device(d, options->device);
  if (code == HONE_NET_OK) {
    const int error = d->cuda.cuDevicePrimaryCtxRetain(&d->context, d->id);
    if (error != HONE_CUDA_SUCCESS) {
      d->context = NULL;
      code = check(d, error, "making a context");
    }
  }
  if (code == HONE_NET_OK) code = hone_device_enter(d);
  if (code == HONE_NET_OK)
    code = check(d, d->cuda.cuStreamCreate(&d->stream, HONE_CUDA_STREAM_NON_BLOCKING), "making a stream");
  if (code == HONE_NET_OK)
    code = check(d, d->cuda.cuEventCreate(&d->order, HONE_CUDA_EVENT_DISABLE_TIMING), "making an event");
  if (code == HONE_NET_OK) code = load_modules(d);
  if (code == HONE_NET_OK) {
    *out = d;
  } else {
    hone_device_close(d);
  }
  return code;
}

void hone_device_close(HoneDevice* d) {
  if (d->stream) d->cuda.cuStreamSynchronize(d->stream);
  for (uint64_t i = 0; d->modules && i < d->table->module_count; ++i) {
    if (d->modules[i]) d->cuda.cuModuleUnload(d->modules[i]);
  }
  free(d->modules);
  for (int i = 0; i < HONE_NET_MEMORIES; ++i) {
    if (d->memory[i]) d->cuda.cuMemFree_v2(d->memory[i]);
  }
  if (d->order) d->cuda.cuEventDestroy_v2(d->order);
  if (d->stream) d->cuda.cuStreamDestroy_v2(d->stream);
  hone_device_leave(d);
  if (d->context) d->cuda.cuDevicePrimaryCtxRelease_v2(d->id);
  free(d);
}

void hone_device_describe(const HoneDevice* d, HoneNetDeviceInfo* info) {
  info->api = "cuda";
  info->name = d->name;
  info->context = d->context;
  info->queue = d->stream;
}

/* Leaving restores the caller's own context. */
int hone_device_enter(HoneDevice* d) {
  const int code = check(d, d->cuda.cuCtxPushCurrent_v2(d->context), "making a context current");
  d->entered = code == HONE_NET_OK;
  return code;
}

void hone_device_leave(HoneDevice* d) {
  HoneCudaHandle context = NULL;
  if (d->entered) d->cuda.cuCtxPopCurrent_v2(&context);
  d->entered = 0;
}

int hone_device_allocate(HoneDevice* d, uint32_t memory, uint64_t bytes) {
  if (d->memory[memory]) {
    const int code = check(d, d->cuda.cuMemFree_v2(d->memory[memory]), "freeing memory");
    d->memory[memory] = 0;
    if (code != HONE_NET_OK) return code;
  }
  if (bytes == 0) return HONE_NET_OK;
  const int error = d->cuda.cuMemAlloc_v2(&d->memory[memory], bytes);
  if (error == HONE_CUDA_SUCCESS) return HONE_NET_OK;
  d->memory[memory] = 0;
  if (error != HONE_CUDA_OUT_OF_MEMORY) return check(d, error, "allocating memory");
  size_t left = 0, total = 0;
  d->cuda.cuMemGetInfo_v2(&left, &total);
  return hone_net_fail(HONE_NET_E_DEVICE_MEMORY, "%s: %llu bytes asked for, %zu of %zu are free", d->name,
                       (unsigned long long)bytes, left, total);
}

static HoneCudaAddress address_of(const HoneDevice* d, const HoneNetPlace* place) {
  return d->memory[place->memory] + place->offset;
}

int hone_device_handle(HoneDevice* d, const HoneNetPlace* place, void** handle) {
  *handle = (void*)(uintptr_t)address_of(d, place);
  return HONE_NET_OK;
}

int hone_device_write(HoneDevice* d, const HoneNetPlace* to, uint64_t bytes, const void* data) {
  return check(d, d->cuda.cuMemcpyHtoDAsync_v2(address_of(d, to), data, bytes, d->stream), "copying to the device");
}

int hone_device_read(HoneDevice* d, const HoneNetPlace* from, void* data) {
  return check(d, d->cuda.cuMemcpyDtoHAsync_v2(data, address_of(d, from), from->bytes, d->stream),
               "copying from the device");
}

static int copy(HoneDevice* d, HoneCudaAddress to, HoneCudaAddress from, uint64_t bytes) {
  if (to == from) return HONE_NET_OK; /* the instance's own */
  return check(d, d->cuda.cuMemcpyDtoDAsync_v2(to, from, bytes, d->stream), "copying on the device");
}

int hone_device_copy_in(HoneDevice* d, const HoneNetPlace* to, void* handle) {
  return copy(d, address_of(d, to), (HoneCudaAddress)(uintptr_t)handle, to->bytes);
}

int hone_device_copy_out(HoneDevice* d, const HoneNetPlace* from, void* handle) {
  return copy(d, (HoneCudaAddress)(uintptr_t)handle, address_of(d, from), from->bytes);
}

int hone_device_wait(HoneDevice* d) {
  return check(d, d->cuda.cuStreamSynchronize(d->stream), "waiting for the device");
}

/* An event may be recorded again as soon as a stream waits for it. */
static int let_wait(HoneDevice* d, HoneCudaHandle stream, HoneCudaHandle other) {
  if (stream == other) return HONE_NET_OK; /* a stream does its work in order */
  const int code = check(d, d->cuda.cuEventRecord(d->order, other), "asking for the end of a stream's work");
  return code != HONE_NET_OK ? code : check(d, d->cuda.cuStreamWaitEvent(stream, d->order, 0), "waiting for a stream");
}

int hone_device_after(HoneDevice* d, void* stream) { return let_wait(d, d->stream, stream); }

int hone_device_before(HoneDevice* d, void* stream) { return let_wait(d, stream, d->stream); }

static int find_function(HoneDevice* d, BoundLaunch* bound) {
  const HoneNetLaunch* launch = bound->launch;
  const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  int most = 0;
  const int error = hone_cuda_find_kernel(&d->cuda, d->modules[launch->module], launch->symbol, threads,
                                          launch->dynamic_shared_bytes, &bound->function, &most);
  if (error == HONE_CUDA_NOT_FOUND) {
    return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: no kernel %s in the library's code", d->name, launch->symbol);
  }
  if (error != HONE_CUDA_SUCCESS) return check(d, error, "finding a kernel");
  if (threads <= (uint64_t)most) return HONE_NET_OK;
  return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: kernel %s has %llu threads in a block, the device runs %d", d->name,
                       launch->symbol, (unsigned long long)threads, most);
}

int hone_device_bind(HoneDevice* d, const HoneNetLaunch* launches, uint64_t count, HoneBound** out) {
  uint64_t args = 0;
  for (uint64_t i = 0; i < count; ++i) args += launches[i].arg_count;
  HoneBound* bound = calloc(1, sizeof *bound);
  if (!bound) return HONE_NET_E_MEMORY;
  *out = bound;
  bound->launches = calloc(count + 1, sizeof *bound->launches);
  bound->addresses = calloc(args + 1, sizeof *bound->addresses);
  bound->parameters = calloc(args + 1, sizeof *bound->parameters);
  if (!bound->launches || !bound->addresses || !bound->parameters) return HONE_NET_E_MEMORY;
  bound->count = count;
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    BoundLaunch* b = &bound->launches[i];
    b->launch = &launches[i];
    b->parameters = &bound->parameters[at];
    for (uint64_t a = 0; a < launches[i].arg_count; ++a, ++at) {
      bound->addresses[at] = address_of(d, &launches[i].args[a]);
      bound->parameters[at] = &bound->addresses[at];
    }
    const int code = find_function(d, b);
    if (code != HONE_NET_OK) return code;
  }
  return HONE_NET_OK;
}

void hone_device_unbind(HoneDevice* d, HoneBound* bound) {
  if (!bound) return;
  if (bound->executable) {
    d->cuda.cuStreamSynchronize(d->stream);
    d->cuda.cuGraphExecDestroy(bound->executable);
  }
  if (bound->graph) d->cuda.cuGraphDestroy(bound->graph);
  free(bound->launches);
  free(bound->addresses);
  free(bound->parameters);
  free(bound);
}

/* Returns the driver's error: while a graph is captured, nothing else may be asked of the driver. */
static int launch(HoneDevice* d, const BoundLaunch* b) {
  const uint32_t* g = b->launch->grid;
  const uint32_t* t = b->launch->block;
  return d->cuda.cuLaunchKernel(b->function, g[0], g[1], g[2], t[0], t[1], t[2], b->launch->dynamic_shared_bytes,
                                d->stream, b->parameters, NULL);
}

static int launch_all(HoneDevice* d, const HoneBound* bound) {
  int error = HONE_CUDA_SUCCESS;
  for (uint64_t i = 0; i < bound->count && error == HONE_CUDA_SUCCESS; ++i) error = launch(d, &bound->launches[i]);
  return error;
}

static int make_graph(HoneDevice* d, HoneBound* bound) {
  int code = check(d, d->cuda.cuStreamBeginCapture_v2(d->stream, HONE_CUDA_CAPTURE_THREAD_LOCAL), "making a graph");
  if (code != HONE_NET_OK) return code;
  const int launched = launch_all(d, bound);
  /* Always end the capture: a stream left capturing accepts nothing else. */
  const int ended = d->cuda.cuStreamEndCapture(d->stream, &bound->graph);
  if (launched != HONE_CUDA_SUCCESS) return check(d, launched, "starting a kernel");
  if (ended != HONE_CUDA_SUCCESS) return check(d, ended, "making a graph");
  return check(d, d->cuda.cuGraphInstantiateWithFlags(&bound->executable, bound->graph, 0), "making a graph");
}

int hone_device_run(HoneDevice* d, HoneBound* bound, int graph) {
  if (!graph) return check(d, launch_all(d, bound), "starting a kernel");
  if (!bound->executable) {
    if (bound->graph) d->cuda.cuGraphDestroy(bound->graph);
    bound->graph = NULL;
    const int code = make_graph(d, bound);
    if (code != HONE_NET_OK) return code;
  }
  return check(d, d->cuda.cuGraphLaunch(bound->executable, d->stream), "starting the graph");
}

/* events: one before each step and one after the last. */
static int run_between_events(HoneDevice* d, const HoneBound* bound, const HoneNetStep* steps, int32_t count,
                              HoneCudaHandle* events) {
  int error = HONE_CUDA_SUCCESS;
  for (int32_t i = 0; i <= count && error == HONE_CUDA_SUCCESS; ++i) error = d->cuda.cuEventCreate(&events[i], 0);
  if (error != HONE_CUDA_SUCCESS) return check(d, error, "making an event");
  error = d->cuda.cuEventRecord(events[0], d->stream);
  for (int32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < steps[i].count && error == HONE_CUDA_SUCCESS; ++k)
      error = launch(d, &bound->launches[steps[i].first + k]);
    if (error == HONE_CUDA_SUCCESS) error = d->cuda.cuEventRecord(events[i + 1], d->stream);
  }
  if (error == HONE_CUDA_SUCCESS) error = d->cuda.cuEventSynchronize(events[count]);
  return check(d, error, "timing the layers");
}

int hone_device_profile(HoneDevice* d, HoneBound* bound, const HoneNetStep* steps, int32_t count, double* seconds) {
  HoneCudaHandle* events = calloc((size_t)count + 1, sizeof *events);
  if (!events) return HONE_NET_E_MEMORY;
  int code = run_between_events(d, bound, steps, count, events);
  for (int32_t i = 0; i < count && code == HONE_NET_OK; ++i) {
    float milliseconds = 0;
    code = check(d, d->cuda.cuEventElapsedTime(&milliseconds, events[i], events[i + 1]), "timing the layers");
    seconds[i] = 1e-3 * (double)milliseconds;
  }
  for (int32_t i = 0; i <= count; ++i) {
    if (events[i]) d->cuda.cuEventDestroy_v2(events[i]);
  }
  free(events);
  return code;
}
