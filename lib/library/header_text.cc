#include "library/header_text.h"

#include <cctype>

#include "base/text.h"
#include "library/network_plan.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

// For device libraries, before the destructor.
constexpr char kDeviceTemplate[] =
    R"(/* What a caller that keeps its data on the device works with. */
typedef struct @_device_info {
  const char *api;  /* "cuda" or "opencl" */
  const char *name; /* of the device */
  void *context;    /* CUcontext or cl_context */
  void *queue;      /* CUstream or cl_command_queue of this instance */
} @_device_info;

/* Where the instance has its inputs and outputs: a CUdeviceptr or cl_mem each, in the order of @_describe(), until it is
 * destroyed. Each of the three may be NULL. */
int @_device(@_net *net, @_device_info *info, void **inputs, void **outputs);
/* As @_run, with buffers of the device, of @_device()'s context. Where a pointer, or all, is NULL the data is, or
 * stays, in the instance's own.
 *
 * `stream` is the caller's CUstream or cl_command_queue, of the same context. The run begins when all work in it is
 * done, and work that it gets after this call begins when the outputs are there. So a copy or kernel in the same stream
 * may write an input before the call or read an output after it. The call itself may return before the run is done; use
 * the buffers from elsewhere after waiting for the stream, or after @_wait. A failure of the device may show only in a
 * later call. The stream must not be capturing a graph.
 * NULL: the legacy default stream of CUDA. If you use streams that do not wait for it (CU_STREAM_NON_BLOCKING), pass
 * yours. With OpenCL, the inputs must be there before the call, and the outputs are there when it returns. */
int @_run_device(@_net *net, void *const *inputs, void *const *outputs, void *stream);
/* Waits until all runs of the instance are done, and reports failures of them. */
int @_wait(@_net *net);
/* What the device said of this thread's last call, if that failed; never NULL. */
const char *@_error_detail(void);
)";

// How long the library uses the parameter file.
constexpr char kWhile[] = "until the instance is destroyed.";
constexpr char kWhileOnDevice[] = "until @_create returns.";

// Rules for a child of fork().
constexpr char kFork[] =
    " * In a child of fork(), an instance that the parent created with more than one thread returns\n"
    " * ^_E_FORKED: create another one in the child. ";
constexpr char kForkOnDevice[] =
    " * In a child of fork(), every call on an instance of the parent returns ^_E_FORKED. Drivers do not\n"
    " * work in a child of a process that has used them: fork before the first @_create. ";

// @ is replaced by the identifier, ^ by the identifier in capitals; $LIB, $NET and $TENSORS by what they name.
constexpr char kTemplate[] =
    R"(/* Made by hone-build. The network $NET as a library: link with -l$LIB, or load lib$LIB.so.
 *
$TENSORS * Tensors are row-major; the type stands before the extents (f32 is float, u8 is uint8_t). An instance is used by one thread at a time; instances are independent of each other.
 * Every function but @_strerror and the sizes returns 0, or one of the codes below. */
#ifndef HONE_^_H_
#define HONE_^_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ^_ABI_VERSION 4

enum @_code {
  ^_OK = 0,
  ^_E_ARGUMENT = 1,
  ^_E_MEMORY = 2,
  ^_E_THREADS = 3,
  ^_E_CPU = 4,              /* the machine lacks instructions that the library was built for */
  ^_E_WORKSPACE = 5,        /* too small, or not aligned to 64 bytes */
  ^_E_BUSY = 6,             /* the instance is running in another thread */
  ^_E_PARAMS_OPEN = 7,
  ^_E_PARAMS_FORMAT = 8,    /* not a parameter file of Hone */
  ^_E_PARAMS_VERSION = 9,   /* newer than the library */
  ^_E_PARAMS_TRUNCATED = 10,
  ^_E_PARAMS_DAMAGED = 11,  /* changes of the values are found only with options.verify */
  ^_E_PARAMS_OTHER = 12,    /* of another build */
  ^_E_DRIVER = 13,          /* the GPU's driver is missing or too old */
  ^_E_DEVICE = 14,          /* there is no such device */
  ^_E_DEVICE_ARCH = 15,     /* the library was built for another architecture */
  ^_E_DEVICE_MEMORY = 16,
  ^_E_DEVICE_LOST = 17,     /* only a new process can use it again */
  ^_E_DEVICE_CODE = 18,     /* the device does not take the kernels */
  ^_E_DEVICE_CALL = 19,     /* anything else that its driver says */
  ^_E_FORKED = 20           /* the instance was created before fork(), and this is the child */
};

typedef struct @_net @_net;

/* An input or output. A buffer that has the alignment is used in place; another one is copied. */
typedef struct @_tensor {
  const char *name;
  const char *type; /* "f32" */
  int32_t rank;
  int32_t alignment; /* bytes */
  const int64_t *shape; /* rank extents */
  uint64_t bytes;
} @_tensor;

/* One step of the network: what @_profile_run times. */
typedef struct @_layer {
  const char *name;
  const char *workload;
  double flop;
} @_layer;

typedef struct @_info {
  int32_t abi_version;
  int32_t threads; /* that the kernels were made for */
  const char *network;
  const char *target;
  const char *digest; /* of the parameters that belong to the library */
  int32_t input_count;
  int32_t output_count;
  const @_tensor *inputs;
  const @_tensor *outputs;
  int32_t layer_count;
  int32_t reserved;
  const @_layer *layers;
} @_info;

/* All zero but the parameters is a good start. */
typedef struct @_options {
  const char *params_path; /* the parameter file by its path ... */
  const void *params_data; /* ... or in memory, which must outlive the instance; aligned to 64 bytes it is used in place */
  size_t params_size;
  int threads;             /* 0: as the kernels were made for */
  int pin;                 /* not 0: every thread, the caller of @_create too, stays on a core of its own */
  void *workspace;         /* NULL, or @_workspace_size() bytes aligned to 64 that outlive the instance */
  size_t workspace_size;
  int device;              /* of a library for GPUs: which, counted from 0; it then takes no workspace, threads or pin */
  int verify;              /* not 0: @_create compares every byte of the parameters with the build's */
  const char *device_options; /* OpenCL: more options for the compiler ("-cl-opt-disable"), or NULL */
} @_options;

/* ^_ABI_VERSION of the library: compare it with that of this header before anything else if you load it at run time. */
int @_abi_version(void);
const @_info *@_describe(void);
size_t @_workspace_size(void);

/* *net is NULL after a failure.
 *
 * A parameter file given by its path is mapped, not copied, $WHILE
 * If its bytes are overwritten meanwhile, the outputs change and no code says so: options.verify looks only once. If
 * it shrinks, the next access to a missing part raises SIGBUS, which ends the process. So do not write into the file.
 * Write a new one in the same folder and rename() it over the old one; instances keep the old one. "mv" within a file
 * system renames, "cp" overwrites. */
int @_create(const @_options *options, @_net **net);
/* inputs and outputs: one pointer each, in the order of @_describe(). Allocates nothing.
 *
$FORK@_destroy works in the child as well. */
int @_run(@_net *net, const void *const *inputs, void *const *outputs);
/* The same, and the seconds that each layer took: layer_count of them. */
int @_profile_run(@_net *net, const void *const *inputs, void *const *outputs, double *seconds);
$DEVICEvoid @_destroy(@_net *net); /* NULL is allowed */

/* One line about a code; never NULL. */
const char *@_strerror(int code);

#ifdef __cplusplus
}
#endif

#endif
)";

std::string Row(const char* what, size_t i, const NamedType& tensor, bool channels_last) {
  const auto& [name, type] = tensor;
  const char* order = !channels_last || !semantics::HasLayouts(type) ? "" : type.shape.size() == 4 ? " NHWC" : " NDHWC";
  return fmt::format(" * {} {}: {} {}{}, {} bytes\n", what, i, name, type.Text(), order, BytesOf(type));
}

}  // namespace

std::string CIdentifier(const std::string& name) {
  std::string id;
  for (char c : name) id += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (id.empty() || isdigit(static_cast<unsigned char>(id[0]))) id = "net_" + id;
  return id;
}

std::string HeaderText(const graph::Graph& graph, const std::string& name, const std::string& identifier, bool device) {
  std::string tensors;
  const bool last = graph.layout == Layout::kChannelsLast;
  const std::vector<NamedType> inputs = InputsOf(graph), outputs = OutputsOf(graph);
  for (size_t i = 0; i < inputs.size(); ++i) tensors += Row("input ", i, inputs[i], last);
  for (size_t i = 0; i < outputs.size(); ++i) tensors += Row("output", i, outputs[i], last);
  // A tensor's name must not end the comment.
  tensors = ReplaceAll(tensors, "*/", "* /");
  std::string upper;
  for (char c : identifier) upper += static_cast<char>(toupper(static_cast<unsigned char>(c)));
  std::string text = ReplaceAll(kTemplate, "$DEVICE", device ? kDeviceTemplate : "");
  text = ReplaceAll(text, "$WHILE", device ? kWhileOnDevice : kWhile);
  text = ReplaceAll(text, "$FORK", device ? kForkOnDevice : kFork);
  text = ReplaceAll(text, "@", identifier);
  text = ReplaceAll(text, "^", upper);
  text = ReplaceAll(text, "$LIB", name);
  text = ReplaceAll(text, "$NET", graph.name);
  return ReplaceAll(text, "$TENSORS", tensors);
}

}  // namespace hone::library
