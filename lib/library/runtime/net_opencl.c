/* Devices by OpenCL 1.2: one in-order queue; places in the memories are sub-buffers; a kernel object a launch, so that
 * its arguments are set once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/runtime/net_device.h"
#include "runtime/opencl/functions.h"

typedef struct View {
  HoneNetPlace place;
  cl_mem memory;
} View;

struct HoneDevice {
#define DECLARE(name) __typeof__(&name) name;
  HONE_OPENCL_FUNCTIONS(DECLARE)
#undef DECLARE
  const HoneNetDeviceTable* table;
  char name[128];
  cl_device_id id;
  cl_context context;
  cl_command_queue queue, timed_queue; /* the second once somebody profiles */
  cl_program* programs;
  cl_mem memory[HONE_NET_MEMORIES];
  View* views;
  size_t view_count, view_room;
};

typedef struct BoundKernel {
  cl_kernel kernel;
  size_t global[3], local[3];
} BoundKernel;

struct HoneBound {
  uint64_t count;
  BoundKernel kernels[];
};

static int code_of(cl_int error) {
  switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:
    case CL_OUT_OF_HOST_MEMORY:
      return HONE_NET_E_DEVICE_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_OUT_OF_RESOURCES: /* so says a kernel that faulted */
    case CL_INVALID_COMMAND_QUEUE:
    case CL_INVALID_CONTEXT:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
      return HONE_NET_E_DEVICE_LOST;
    default:
      return HONE_NET_E_DEVICE_CALL;
  }
}

static int check(const HoneDevice* d, cl_int error, const char* what) {
  if (error == CL_SUCCESS) return HONE_NET_OK;
  return hone_net_fail(code_of(error), "%s: %s failed: OpenCL error %d", d->name, what, (int)error);
}

static int load_api(HoneDevice* d) {
  /* Never closed: drivers keep threads. */
  void* handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return hone_net_fail(HONE_NET_E_DRIVER, "no OpenCL: %s", dlerror());
  const char* missing = NULL;
#define FIND(name)                                                \
  d->name = (__typeof__(d->name))(uintptr_t)dlsym(handle, #name); \
  if (!d->name) missing = #name;
  HONE_OPENCL_FUNCTIONS(FIND)
#undef FIND
  if (missing) return hone_net_fail(HONE_NET_E_DRIVER, "no OpenCL 1.2: libOpenCL.so.1 has no %s", missing);
  return HONE_NET_OK;
}

static int find_device(HoneDevice* d, int number) {
  static const cl_device_type kinds[] = HONE_OPENCL_KINDS;
  cl_platform_id platforms[16];
  cl_uint platform_count = 0;
  int seen = 0;
  if (d->clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) platform_count = 0;
  if (platform_count > 16) platform_count = 16;
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
    for (cl_uint i = 0; i < platform_count; ++i) {
      cl_device_id ids[16];
      cl_uint count = 0;
      if (d->clGetDeviceIDs(platforms[i], kinds[kind], 16, ids, &count) != CL_SUCCESS) continue;
      if (count > 16) count = 16;
      if (number < seen + (int)count) {
        d->id = ids[number - seen];
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platforms[i], 0};
        cl_int error = CL_SUCCESS;
        d->clGetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof d->name - 1, d->name, NULL);
        d->context = d->clCreateContext(properties, 1, &d->id, NULL, NULL, &error);
        return check(d, error, "making a context");
      }
      seen += (int)count;
    }
  }
  return hone_net_fail(HONE_NET_E_DEVICE, "no OpenCL device %d: there are %d, counted from 0", number, seen);
}

static int check_alignment(HoneDevice* d) {
  cl_uint bits = 0;
  const int code = check(d, d->clGetDeviceInfo(d->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL),
                         "asking about the device");
  if (code != HONE_NET_OK) return code;
  if (bits == 0 || d->table->alignment % (bits / 8 ? bits / 8 : 1) == 0) return HONE_NET_OK;
  return hone_net_fail(HONE_NET_E_DEVICE, "%s wants memory at multiples of %u bytes, the library has it at %llu",
                       d->name, bits / 8, (unsigned long long)d->table->alignment);
}

/* The first line of a build log that has something of an error. */
static int refused(HoneDevice* d, cl_program program) {
  size_t size = 0;
  d->clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char* log = calloc(1, size + 1);
  if (!log) return HONE_NET_E_MEMORY;
  d->clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
  const char* line = strstr(log, "error");
  while (line && line > log && line[-1] != '\n') --line;
  if (!line) line = log;
  const int length = (int)strcspn(line, "\n");
  const int code = hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: its compiler refuses a kernel: %.*s", d->name,
                                 length > 300 ? 300 : length, line);
  free(log);
  return code;
}

static int build_programs(HoneDevice* d, const char* more) {
  const HoneNetDeviceTable* t = d->table;
  char options[256];
  cl_device_fp_config config = 0;
  d->clGetDeviceInfo(d->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  const int length =
      snprintf(options, sizeof options, "-cl-std=CL1.2%s%s%s",
               config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
               more ? " " : "", more ? more : "");
  if (length >= (int)sizeof options) return hone_net_fail(HONE_NET_E_ARGUMENT, "the device options are too long");
  d->programs = calloc(t->module_count + 1, sizeof *d->programs);
  if (!d->programs) return HONE_NET_E_MEMORY;
  for (uint64_t i = 0; i < t->module_count; ++i) {
    const size_t size = t->modules[i].bytes;
    cl_int error = CL_SUCCESS;
    d->programs[i] = d->clCreateProgramWithSource(d->context, 1, (const char**)&t->modules[i].code, &size, &error);
    if (error != CL_SUCCESS) return check(d, error, "making a program");
    error = d->clBuildProgram(d->programs[i], 1, &d->id, options, NULL, NULL);
    if (error == CL_BUILD_PROGRAM_FAILURE) return refused(d, d->programs[i]);
    if (error != CL_SUCCESS) return check(d, error, "compiling");
  }
  return HONE_NET_OK;
}

int hone_device_open(const HoneNetDeviceTable* table, const HoneNetOptions* options, HoneDevice** out) {
  HoneDevice* d = calloc(1, sizeof *d);
  if (!d) return HONE_NET_E_MEMORY;
  d->table = table;
  strcpy(d->name, "OpenCL");
  int code = load_api(d);
  if (code == HONE_NET_OK) code = find_device(d, options->device);
  if (code == HONE_NET_OK) code = check_alignment(d);
  if (code == HONE_NET_OK) {
    cl_int error = CL_SUCCESS;
    d->queue = d->clCreateCommandQueue(d->context, d->id, 0, &error);
    code = check(d, error, "making a queue");
  }
  if (code == HONE_NET_OK) code = build_programs(d, options->device_options);
  if (code == HONE_NET_OK) {
    *out = d;
  } else {
    hone_device_close(d);
  }
  return code;
}

static void drop_views(HoneDevice* d, uint32_t memory) {
  size_t kept = 0;
  for (size_t i = 0; i < d->view_count; ++i) {
    if (d->views[i].place.memory == memory) {
      d->clReleaseMemObject(d->views[i].memory);
    } else {
      d->views[kept++] = d->views[i];
    }
  }
  d->view_count = kept;
}

void hone_device_close(HoneDevice* d) {
  if (d->queue) d->clFinish(d->queue);
  for (uint32_t i = 0; i < HONE_NET_MEMORIES; ++i) {
    drop_views(d, i);
    if (d->memory[i]) d->clReleaseMemObject(d->memory[i]);
  }
  free(d->views);
  for (uint64_t i = 0; d->programs && i < d->table->module_count; ++i) {
    if (d->programs[i]) d->clReleaseProgram(d->programs[i]);
  }
  free(d->programs);
  if (d->timed_queue) d->clReleaseCommandQueue(d->timed_queue);
  if (d->queue) d->clReleaseCommandQueue(d->queue);
  if (d->context) d->clReleaseContext(d->context);
  free(d);
}

void hone_device_describe(const HoneDevice* d, HoneNetDeviceInfo* info) {
  info->api = "opencl";
  info->name = d->name;
  info->context = d->context;
  info->queue = d->queue;
}

int hone_device_enter(HoneDevice* d) {
  (void)d;
  return HONE_NET_OK;
}
void hone_device_leave(HoneDevice* d) { (void)d; }

int hone_device_allocate(HoneDevice* d, uint32_t memory, uint64_t bytes) {
  if (d->memory[memory]) {
    const int code = hone_device_wait(d);
    if (code != HONE_NET_OK) return code;
    drop_views(d, memory);
    d->clReleaseMemObject(d->memory[memory]);
    d->memory[memory] = NULL;
  }
  if (bytes == 0) return HONE_NET_OK;
  cl_int error = CL_SUCCESS;
  d->memory[memory] = d->clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  if (code_of(error) == HONE_NET_E_DEVICE_MEMORY)
    return hone_net_fail(HONE_NET_E_DEVICE_MEMORY, "%s: %llu bytes cannot be had (OpenCL error %d)", d->name,
                         (unsigned long long)bytes, (int)error);
  return check(d, error, "allocating memory");
}

static int view(HoneDevice* d, const HoneNetPlace* place, cl_mem* out) {
  for (size_t i = 0; i < d->view_count; ++i) {
    const HoneNetPlace* p = &d->views[i].place;
    if (p->memory == place->memory && p->offset == place->offset && p->bytes == place->bytes) {
      *out = d->views[i].memory;
      return HONE_NET_OK;
    }
  }
  if (d->view_count == d->view_room) {
    const size_t room = 2 * d->view_room + 64;
    View* views = realloc(d->views, room * sizeof *views);
    if (!views) return HONE_NET_E_MEMORY;
    d->views = views;
    d->view_room = room;
  }
  const cl_buffer_region region = {place->offset, place->bytes};
  cl_int error = CL_SUCCESS;
  *out =
      d->clCreateSubBuffer(d->memory[place->memory], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  if (error != CL_SUCCESS) return check(d, error, "dividing memory");
  d->views[d->view_count].place = *place;
  d->views[d->view_count++].memory = *out;
  return HONE_NET_OK;
}

int hone_device_handle(HoneDevice* d, const HoneNetPlace* place, void** handle) {
  cl_mem memory = NULL;
  const int code = view(d, place, &memory);
  *handle = memory;
  return code;
}

int hone_device_write(HoneDevice* d, const HoneNetPlace* to, uint64_t bytes, const void* data) {
  return check(
      d, d->clEnqueueWriteBuffer(d->queue, d->memory[to->memory], CL_FALSE, to->offset, bytes, data, 0, NULL, NULL),
      "copying to the device");
}

int hone_device_read(HoneDevice* d, const HoneNetPlace* from, void* data) {
  return check(d,
               d->clEnqueueReadBuffer(d->queue, d->memory[from->memory], CL_FALSE, from->offset, from->bytes, data, 0,
                                      NULL, NULL),
               "copying from the device");
}

int hone_device_copy_in(HoneDevice* d, const HoneNetPlace* to, void* handle) {
  cl_mem memory = NULL;
  const int code = view(d, to, &memory);
  if (code != HONE_NET_OK || memory == handle) return code; /* it is there already */
  return check(d, d->clEnqueueCopyBuffer(d->queue, handle, memory, 0, 0, to->bytes, 0, NULL, NULL),
               "copying on the device");
}

int hone_device_copy_out(HoneDevice* d, const HoneNetPlace* from, void* handle) {
  cl_mem memory = NULL;
  const int code = view(d, from, &memory);
  if (code != HONE_NET_OK || memory == handle) return code;
  return check(d, d->clEnqueueCopyBuffer(d->queue, memory, handle, 0, 0, from->bytes, 0, NULL, NULL),
               "copying on the device");
}

int hone_device_wait(HoneDevice* d) { return check(d, d->clFinish(d->queue), "waiting for the device"); }

static int bind_one(HoneDevice* d, const HoneNetLaunch* launch, BoundKernel* bound) {
  cl_int error = CL_SUCCESS;
  bound->kernel = d->clCreateKernel(d->programs[launch->module], launch->symbol, &error);
  if (error != CL_SUCCESS) {
    return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: no kernel %s: OpenCL error %d", d->name, launch->symbol,
                         (int)error);
  }
  size_t threads = 1, most = 0;
  for (int i = 0; i < 3; ++i) {
    bound->local[i] = launch->block[i];
    bound->global[i] = (size_t)launch->block[i] * launch->grid[i];
    threads *= launch->block[i];
  }
  error = d->clGetKernelWorkGroupInfo(bound->kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  if (error != CL_SUCCESS) return check(d, error, "asking about a kernel");
  if (threads > most) {
    return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: kernel %s has %zu threads in a block, the device runs %zu",
                         d->name, launch->symbol, threads, most);
  }
  for (uint64_t i = 0; i < launch->arg_count; ++i) {
    cl_mem memory = NULL;
    const int code = view(d, &launch->args[i], &memory);
    if (code != HONE_NET_OK) return code;
    error = d->clSetKernelArg(bound->kernel, (cl_uint)i, sizeof memory, &memory);
    if (error != CL_SUCCESS) return check(d, error, "passing an argument");
  }
  return HONE_NET_OK;
}

int hone_device_bind(HoneDevice* d, const HoneNetLaunch* launches, uint64_t count, HoneBound** out) {
  HoneBound* bound = calloc(1, sizeof *bound + count * sizeof(BoundKernel));
  if (!bound) return HONE_NET_E_MEMORY;
  *out = bound;
  for (; bound->count < count; ++bound->count) {
    const int code = bind_one(d, &launches[bound->count], &bound->kernels[bound->count]);
    if (code == HONE_NET_OK) continue;
    if (bound->kernels[bound->count].kernel) ++bound->count;
    return code;
  }
  return HONE_NET_OK;
}

void hone_device_unbind(HoneDevice* d, HoneBound* bound) {
  if (!bound) return;
  for (uint64_t i = 0; i < bound->count; ++i) d->clReleaseKernel(bound->kernels[i].kernel);
  free(bound);
}

static int enqueue(HoneDevice* d, cl_command_queue queue, const BoundKernel* k, cl_event* event) {
  return check(d, d->clEnqueueNDRangeKernel(queue, k->kernel, 3, NULL, k->global, k->local, 0, NULL, event),
               "starting a kernel");
}

int hone_device_run(HoneDevice* d, HoneBound* bound, int graph) {
  (void)graph;
  int code = HONE_NET_OK;
  for (uint64_t i = 0; i < bound->count && code == HONE_NET_OK; ++i)
    code = enqueue(d, d->queue, &bound->kernels[i], NULL);
  return code;
}

static int step_seconds(HoneDevice* d, const HoneNetStep* step, const cl_event* events, double* seconds) {
  cl_ulong begin = 0, end = 0;
  *seconds = 0;
  if (step->count == 0) return HONE_NET_OK;
  cl_int error =
      d->clGetEventProfilingInfo(events[step->first], CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  if (error == CL_SUCCESS) {
    error = d->clGetEventProfilingInfo(events[step->first + step->count - 1], CL_PROFILING_COMMAND_END, sizeof end,
                                       &end, NULL);
  }
  *seconds = 1e-9 * (double)(end - begin);
  return check(d, error, "reading the times");
}

int hone_device_profile(HoneDevice* d, HoneBound* bound, const HoneNetStep* steps, int32_t count, double* seconds) {
  int code = hone_device_wait(d);
  if (code != HONE_NET_OK) return code;
  if (!d->timed_queue) {
    cl_int error = CL_SUCCESS;
    d->timed_queue = d->clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) return check(d, error, "making a queue");
  }
  cl_event* events = calloc(bound->count + 1, sizeof *events);
  if (!events) return HONE_NET_E_MEMORY;
  for (uint64_t i = 0; i < bound->count && code == HONE_NET_OK; ++i)
    code = enqueue(d, d->timed_queue, &bound->kernels[i], &events[i]);
  const int waited = check(d, d->clFinish(d->timed_queue), "waiting for the device");
  if (code == HONE_NET_OK) code = waited;
  for (int32_t i = 0; i < count && code == HONE_NET_OK; ++i) code = step_seconds(d, &steps[i], events, &seconds[i]);
  for (uint64_t i = 0; i < bound->count; ++i) {
    if (events[i]) d->clReleaseEvent(events[i]);
  }
  free(events);
  return code;
}
