#define _GNU_SOURCE
#include "library/runtime/net_device.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct HoneNet {
  HoneDevice* device;
  HoneBound* layers;
  atomic_int running;
  int lost; /* nothing works any more */
  pid_t owner;
} HoneNet;

static _Thread_local char detail[512];

int hone_net_fail(int code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  return code;
}

HONE_NET_EXPORT const char* HONE_NET_error_detail(void) { return detail; }

const HoneNetInfo* hone_net_info(void) { return &hone_net_device_table.info; }

HONE_NET_EXPORT size_t HONE_NET_workspace_size(void) { return (size_t)hone_net_device_table.memory[HONE_NET_IN_ARENA]; }

static int upload(HoneDevice* device, const HoneNetUpload* uploads, uint64_t count, const char* params) {
  int code = HONE_NET_OK;
  for (uint64_t i = 0; i < count && code == HONE_NET_OK; ++i) {
    code = hone_device_write(device, &uploads[i].to, uploads[i].to.bytes, params + uploads[i].from);
  }
  return code;
}

/* The device packs the kernels' packed constants itself: one layer after the other through the same staging area, which
 * is freed afterwards. */
static int pack(HoneDevice* device, const HoneNetDeviceTable* t, const char* params) {
  if (t->packing_count == 0) return HONE_NET_OK;
  int code = hone_device_allocate(device, HONE_NET_IN_STAGING, t->memory[HONE_NET_IN_STAGING]);
  for (uint64_t i = 0; i < t->packing_count && code == HONE_NET_OK; ++i) {
    const HoneNetPacking* p = &t->packings[i];
    HoneBound* bound = NULL;
    code = upload(device, t->uploads + p->first_upload, p->upload_count, params);
    if (code == HONE_NET_OK) code = hone_device_bind(device, t->launches + p->step.first, p->step.count, &bound);
    if (code == HONE_NET_OK) code = hone_device_run(device, bound, 0);
    if (code == HONE_NET_OK) code = hone_device_wait(device);
    hone_device_unbind(device, bound);
  }
  if (code != HONE_NET_OK) return code;
  return hone_device_allocate(device, HONE_NET_IN_STAGING, 0);
}

static int fill_constants(HoneDevice* device, const HoneNetDeviceTable* t, const HoneNetOptions* options) {
  HoneNetParams params = {0};
  int code = hone_net_params_open(t->digest, t->params_bytes, options, &params);
  if (code != HONE_NET_OK) return code;
  code = hone_device_allocate(device, HONE_NET_IN_CONSTANTS, t->memory[HONE_NET_IN_CONSTANTS]);
  if (code == HONE_NET_OK) code = upload(device, t->uploads, t->upload_count, params.data);
  if (code == HONE_NET_OK) code = pack(device, t, params.data);
  if (code == HONE_NET_OK) code = hone_device_wait(device);
  hone_net_params_close(&params);
  return code;
}

static int create(HoneNet* net, const HoneNetDeviceTable* t, const HoneNetOptions* options) {
  int code = hone_device_open(t, options, &net->device);
  if (code != HONE_NET_OK) return code;
  code = hone_device_allocate(net->device, HONE_NET_IN_ARENA, t->memory[HONE_NET_IN_ARENA]);
  if (code == HONE_NET_OK) code = fill_constants(net->device, t, options);
  uint64_t launches = 0;
  for (int32_t i = 0; i < t->info.layer_count; ++i) launches += t->steps[i].count;
  if (code == HONE_NET_OK) code = hone_device_bind(net->device, t->launches, launches, &net->layers);
  hone_device_leave(net->device);
  return code;
}

/* In a child of fork() the driver's objects are the parent's, and the driver's threads do not exist. */
static int forked(const HoneNet* net) { return getpid() != net->owner; }

HONE_NET_EXPORT void HONE_NET_destroy(HoneNet* net) {
  if (!net) return;
  if (net->device && !forked(net)) {
    hone_device_enter(net->device);
    hone_device_unbind(net->device, net->layers);
    hone_device_close(net->device);
  }
  free(net);
}

HONE_NET_EXPORT int HONE_NET_create(const HoneNetOptions* options, HoneNet** out) {
  detail[0] = '\0';
  if (!out) return HONE_NET_E_ARGUMENT;
  *out = NULL;
  if (!options || options->device < 0) return HONE_NET_E_ARGUMENT;
  if (options->workspace) return HONE_NET_E_WORKSPACE;
  HoneNet* net = calloc(1, sizeof *net);
  if (!net) return HONE_NET_E_MEMORY;
  net->owner = getpid();
  const int code = create(net, &hone_net_device_table, options);
  if (code != HONE_NET_OK) {
    HONE_NET_destroy(net);
    return code;
  }
  *out = net;
  return HONE_NET_OK;
}

static int null_among(const void* const* pointers, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!pointers[i]) return 1;
  }
  return 0;
}

/* Admits one thread at a time. Rejects forked children, and every thread once the device is lost. */
static int begin(HoneNet* net) {
  detail[0] = '\0';
  if (forked(net)) return HONE_NET_E_FORKED;
  if (atomic_exchange_explicit(&net->running, 1, memory_order_acquire)) return HONE_NET_E_BUSY;
  const int code = net->lost ? HONE_NET_E_DEVICE_LOST : hone_device_enter(net->device);
  if (code != HONE_NET_OK) atomic_store_explicit(&net->running, 0, memory_order_release);
  return code;
}

static int end(HoneNet* net, int code) {
  if (code == HONE_NET_E_DEVICE_LOST) net->lost = 1;
  hone_device_leave(net->device);
  atomic_store_explicit(&net->running, 0, memory_order_release);
  return code;
}

static int run_layers(HoneNet* net, const HoneNetDeviceTable* t, double* seconds) {
  if (!seconds) return hone_device_run(net->device, net->layers, 1);
  return hone_device_profile(net->device, net->layers, t->steps, t->info.layer_count, seconds);
}

HONE_NET_EXPORT int HONE_NET_profile_run(HoneNet* net, const void* const* inputs, void* const* outputs,
                                         double* seconds) {
  const HoneNetDeviceTable* t = &hone_net_device_table;
  if (!net || !inputs || !outputs) return HONE_NET_E_ARGUMENT;
  if (null_among(inputs, t->info.input_count) || null_among((const void* const*)outputs, t->info.output_count))
    return HONE_NET_E_ARGUMENT;
  int code = begin(net);
  if (code != HONE_NET_OK) return code;
  for (int32_t i = 0; i < t->info.input_count && code == HONE_NET_OK; ++i)
    code = hone_device_write(net->device, &t->inputs[i], t->inputs[i].bytes, inputs[i]);
  if (code == HONE_NET_OK) code = run_layers(net, t, seconds);
  for (int32_t i = 0; i < t->info.output_count && code == HONE_NET_OK; ++i)
    code = hone_device_read(net->device, &t->outputs[i], outputs[i]);
  /* The device uses the caller's memory until it has finished. */
  const int waited = hone_device_wait(net->device);
  return end(net, code != HONE_NET_OK ? code : waited);
}

HONE_NET_EXPORT int HONE_NET_run(HoneNet* net, const void* const* inputs, void* const* outputs) {
  return HONE_NET_profile_run(net, inputs, outputs, NULL);
}

HONE_NET_EXPORT int HONE_NET_run_device(HoneNet* net, void* const* inputs, void* const* outputs, void* stream) {
  const HoneNetDeviceTable* t = &hone_net_device_table;
  if (!net) return HONE_NET_E_ARGUMENT;
  int code = begin(net);
  if (code != HONE_NET_OK) return code;
  code = hone_device_after(net->device, stream);
  for (int32_t i = 0; inputs && i < t->info.input_count && code == HONE_NET_OK; ++i) {
    if (inputs[i]) code = hone_device_copy_in(net->device, &t->inputs[i], inputs[i]);
  }
  if (code == HONE_NET_OK) code = run_layers(net, t, NULL);
  for (int32_t i = 0; outputs && i < t->info.output_count && code == HONE_NET_OK; ++i) {
    if (outputs[i]) code = hone_device_copy_out(net->device, &t->outputs[i], outputs[i]);
  }
  if (code == HONE_NET_OK) code = hone_device_before(net->device, stream);
  if (code != HONE_NET_OK) hone_device_wait(net->device); /* the caller may free its buffers after a failure */
  return end(net, code);
}

HONE_NET_EXPORT int HONE_NET_wait(HoneNet* net) {
  if (!net) return HONE_NET_E_ARGUMENT;
  const int code = begin(net);
  return code != HONE_NET_OK ? code : end(net, hone_device_wait(net->device));
}

HONE_NET_EXPORT int HONE_NET_device(HoneNet* net, HoneNetDeviceInfo* info, void** inputs, void** outputs) {
  const HoneNetDeviceTable* t = &hone_net_device_table;
  if (!net) return HONE_NET_E_ARGUMENT;
  int code = begin(net);
  if (code != HONE_NET_OK) return code;
  if (info) hone_device_describe(net->device, info);
  for (int32_t i = 0; inputs && i < t->info.input_count && code == HONE_NET_OK; ++i)
    code = hone_device_handle(net->device, &t->inputs[i], &inputs[i]);
  for (int32_t i = 0; outputs && i < t->info.output_count && code == HONE_NET_OK; ++i)
    code = hone_device_handle(net->device, &t->outputs[i], &outputs[i]);
  return end(net, code);
}
