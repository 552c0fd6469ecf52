/* Devices through OpenCL 1.2: one in-order queue; places in the memories are sub-buffers; one kernel object per launch,
 * so that its arguments are set only once. */
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
  HoneOpenCl cl;
  const HoneNetDeviceTable* table;
  char name[128];
  cl_device_id id;
  cl_context context;
  cl_command_queue queue, timed_queue; /* the second only when profiling */
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
  if (hone_opencl_is_memory(error)) return HONE_NET_E_DEVICE_MEMORY;
  return hone_opencl_is_fatal(error) ? HONE_NET_E_DEVICE_LOST : HONE_NET_E_DEVICE_CALL;
}

static int check(const HoneDevice* d, cl_int error, const char* what) {
  if (error == CL_SUCCESS) return HONE_NET_OK;
  return hone_net_fail(code_of(error), "%s: %s failed: OpenCL error %d", d->name, what, (int)error);
}

static int find_device(HoneDevice* d, int number) {
  cl_platform_id platform = NULL;
  const cl_uint seen = hone_opencl_find(&d->cl, (cl_uint)number, &platform, &d->id);
  if (seen <= (cl_uint)number)
    return hone_net_fail(HONE_NET_E_DEVICE, "no OpenCL device %d: there are %u, counted from 0", number, seen);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  cl_int error = CL_SUCCESS;
  d->cl.clGetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof d->name - 1, d->name, NULL);
  d->context = d->cl.clCreateContext(properties, 1, &d->id, NULL, NULL, &error);
  return check(d, error, "making a context");
}

static int check_alignment(HoneDevice* d) {
  cl_uint bits = 0;
  const int code = check(d, d->cl.clGetDeviceInfo(d->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL),
                         "asking about the device");
  if (code != HONE_NET_OK) return code;
  if (bits == 0 || d->table->alignment % (bits / 8 ? bits / 8 : 1) == 0) return HONE_NET_OK;
  return hone_net_fail(HONE_NET_E_DEVICE, "%s wants memory at multiples of %u bytes, the library has it at %llu",
                       d->name, bits / 8, (unsigned long long)d->table->alignment);
}

static int refused(HoneDevice* d, cl_program program) {
  char line[300];
  hone_opencl_build_error(&d->cl, program, d->id, line, sizeof line);
  return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: its compiler refuses a kernel: %s", d->name, line);
}

static int build_programs(HoneDevice* d, const char* more) {
  const HoneNetDeviceTable* t = d->table;
  char options[256];
  const int length = snprintf(options, sizeof options, "%s%s%s", hone_opencl_options(&d->cl, d->id), more ? " " : "",
                              more ? more : "");
  if (length >= (int)sizeof options) return hone_net_fail(HONE_NET_E_ARGUMENT, "the device options are too long");
  d->programs = calloc(t->module_count + 1, sizeof *d->programs);
  if (!d->programs) return HONE_NET_E_MEMORY;
  for (uint64_t i = 0; i < t->module_count; ++i) {
    const size_t size = t->modules[i].bytes;
    cl_int error = CL_SUCCESS;
    d->programs[i] = d->cl.clCreateProgramWithSource(d->context, 1, (const char**)&t->modules[i].code, &size, &error);
    if (error != CL_SUCCESS) return check(d, error, "making a program");
    error = d->cl.clBuildProgram(d->programs[i], 1, &d->id, options, NULL, NULL);
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
  const char* wrong = hone_opencl_load(&d->cl, "libOpenCL.so.1");
  int code = wrong ? hone_net_fail(HONE_NET_E_DRIVER, "%s", wrong) : find_device(d, options->device);
  if (code == HONE_NET_OK) code = check_alignment(d);
  if (code == HONE_NET_OK) {
    cl_int error = CL_SUCCESS;
    d->queue = d->cl.clCreateCommandQueue(d->context, d->id, 0, &error);
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
      d->cl.clReleaseMemObject(d->views[i].memory);
    } else {
      d->views[kept++] = d->views[i];
    }
  }
  d->view_count = kept;
}

void hone_device_close(HoneDevice* d) {
  if (d->queue) d->cl.clFinish(d->queue);
  for (uint32_t i = 0; i < HONE_NET_MEMORIES; ++i) {
    drop_views(d, i);
    if (d->memory[i]) d->cl.clReleaseMemObject(d->memory[i]);
  }
  free(d->views);
  for (uint64_t i = 0; d->programs && i < d->table->module_count; ++i) {
    if (d->programs[i]) d->cl.clReleaseProgram(d->programs[i]);
  }
  free(d->programs);
  if (d->timed_queue) d->cl.clReleaseCommandQueue(d->timed_queue);
  if (d->queue) d->cl.clReleaseCommandQueue(d->queue);
  if (d->context) d->cl.clReleaseContext(d->context);
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
    d->cl.clReleaseMemObject(d->memory[memory]);
    d->memory[memory] = NULL;
  }
  if (bytes == 0) return HONE_NET_OK;
  cl_int error = CL_SUCCESS;
  d->memory[memory] = d->cl.clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
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
  *out = d->cl.clCreateSubBuffer(d->memory[place->memory], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                 &error);
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
      d, d->cl.clEnqueueWriteBuffer(d->queue, d->memory[to->memory], CL_FALSE, to->offset, bytes, data, 0, NULL, NULL),
      "copying to the device");
}

int hone_device_read(HoneDevice* d, const HoneNetPlace* from, void* data) {
  return check(d,
               d->cl.clEnqueueReadBuffer(d->queue, d->memory[from->memory], CL_FALSE, from->offset, from->bytes, data,
                                         0, NULL, NULL),
               "copying from the device");
}

int hone_device_copy_in(HoneDevice* d, const HoneNetPlace* to, void* handle) {
  cl_mem memory = NULL;
  const int code = view(d, to, &memory);
  if (code != HONE_NET_OK || memory == handle) return code; /* already in place */
  return check(d, d->cl.clEnqueueCopyBuffer(d->queue, handle, memory, 0, 0, to->bytes, 0, NULL, NULL),
               "copying on the device");
}

int hone_device_copy_out(HoneDevice* d, const HoneNetPlace* from, void* handle) {
  cl_mem memory = NULL;
  const int code = view(d, from, &memory);
  if (code != HONE_NET_OK || memory == handle) return code;
  return check(d, d->cl.clEnqueueCopyBuffer(d->queue, memory, handle, 0, 0, from->bytes, 0, NULL, NULL),
               "copying on the device");
}

int hone_device_wait(HoneDevice* d) { return check(d, d->cl.clFinish(d->queue), "waiting for the device"); }

static int let_wait(HoneDevice* d, cl_command_queue queue, cl_command_queue other) {
  cl_event event = NULL;
  if (queue == other) return HONE_NET_OK; /* a queue does its work in order */
  cl_int error = d->cl.clEnqueueMarkerWithWaitList(other, 0, NULL, &event);
  if (error == CL_SUCCESS) error = d->cl.clFlush(other); /* or the event might never come */
  if (error == CL_SUCCESS) error = d->cl.clEnqueueBarrierWithWaitList(queue, 1, &event, NULL);
  if (event) d->cl.clReleaseEvent(event);
  return check(d, error, "waiting for a queue");
}

int hone_device_after(HoneDevice* d, void* stream) { return stream ? let_wait(d, d->queue, stream) : HONE_NET_OK; }

int hone_device_before(HoneDevice* d, void* stream) {
  return stream ? let_wait(d, stream, d->queue) : hone_device_wait(d);
}

static int bind_one(HoneDevice* d, const HoneNetLaunch* launch, BoundKernel* bound) {
  cl_int error = CL_SUCCESS;
  bound->kernel = d->cl.clCreateKernel(d->programs[launch->module], launch->symbol, &error);
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
  error = d->cl.clGetKernelWorkGroupInfo(bound->kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  if (error != CL_SUCCESS) return check(d, error, "asking about a kernel");
  if (threads > most) {
    return hone_net_fail(HONE_NET_E_DEVICE_CODE, "%s: kernel %s has %zu threads in a block, the device runs %zu",
                         d->name, launch->symbol, threads, most);
  }
  for (uint64_t i = 0; i < launch->arg_count; ++i) {
    cl_mem memory = NULL;
    const int code = view(d, &launch->args[i], &memory);
    if (code != HONE_NET_OK) return code;
    error = d->cl.clSetKernelArg(bound->kernel, (cl_uint)i, sizeof memory, &memory);
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
  for (uint64_t i = 0; i < bound->count; ++i) d->cl.clReleaseKernel(bound->kernels[i].kernel);
  free(bound);
}

static int enqueue(HoneDevice* d, cl_command_queue queue, const BoundKernel* k, cl_event* event) {
  return check(d, d->cl.clEnqueueNDRangeKernel(queue, k->kernel, 3, NULL, k->global, k->local, 0, NULL, event),
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
  *seconds = 0;
  if (step->count == 0) return HONE_NET_OK;
  const cl_event last = events[step->first + step->count - 1];
  return check(d, hone_opencl_seconds(&d->cl, events[step->first], last, seconds), "reading the times");
}

int hone_device_profile(HoneDevice* d, HoneBound* bound, const HoneNetStep* steps, int32_t count, double* seconds) {
  int code = hone_device_wait(d);
  if (code != HONE_NET_OK) return code;
  if (!d->timed_queue) {
    cl_int error = CL_SUCCESS;
    d->timed_queue = d->cl.clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) return check(d, error, "making a queue");
  }
  cl_event* events = calloc(bound->count + 1, sizeof *events);
  if (!events) return HONE_NET_E_MEMORY;
  for (uint64_t i = 0; i < bound->count && code == HONE_NET_OK; ++i)
    code = enqueue(d, d->timed_queue, &bound->kernels[i], &events[i]);
  const int waited = check(d, d->cl.clFinish(d->timed_queue), "waiting for the device");
  if (code == HONE_NET_OK) code = waited;
  for (int32_t i = 0; i < count && code == HONE_NET_OK; ++i) code = step_seconds(d, &steps[i], events, &seconds[i]);
  for (uint64_t i = 0; i < bound->count; ++i) {
    if (events[i]) d->cl.clReleaseEvent(events[i]);
  }
  free(events);
  return code;
}
