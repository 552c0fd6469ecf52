/* Runs a network library once: run_library LIBRARY PREFIX PARAMETERS THREADS INPUTS OUTPUTS. INPUTS and OUTPUTS are
 * files with the bytes of all tensors, one after the other. Exits with the code of PREFIX_create or PREFIX_run, or with
 * 100 if something else fails. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "library/runtime/net_runtime.h"

enum { kMost = 64, kOther = 100 };

static void fail(const char* what) {
  fprintf(stderr, "run_library: %s\n", what);
  exit(kOther);
}

static void* find(void* library, const char* prefix, const char* name) {
  char symbol[256];
  snprintf(symbol, sizeof symbol, "%s_%s", prefix, name);
  void* found = dlsym(library, symbol);
  if (!found) fail(dlerror());
  return found;
}

static void* allocate(const HoneNetTensor* tensor) {
  void* data = aligned_alloc(64, (tensor->bytes + 63) / 64 * 64);
  if (!data) fail("out of memory");
  return data;
}

int main(int argc, char** argv) {
  if (argc != 7) fail("wrong number of arguments");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  const HoneNetInfo* info = ((const HoneNetInfo* (*)(void))find(library, argv[2], "describe"))();
  const char* (*text)(int) = (const char* (*)(int))find(library, argv[2], "strerror");
  int (*create)(const HoneNetOptions*, void**) =
      (int (*)(const HoneNetOptions*, void**))find(library, argv[2], "create");
  int (*run)(void*, const void* const*, void* const*) =
      (int (*)(void*, const void* const*, void* const*))find(library, argv[2], "run");
  const HoneNetOptions options = {.params_path = argv[3], .threads = atoi(argv[4]), .verify = 1};
  void* net = NULL;
  int code = create(&options, &net);
  if (code != HONE_NET_OK) {
    fprintf(stderr, "%s\n", text(code));
    return code;
  }
  if (info->input_count > kMost || info->output_count > kMost) fail("too many tensors");
  void *inputs[kMost], *outputs[kMost];
  FILE* file = fopen(argv[5], "rb");
  if (!file) fail("the inputs cannot be opened");
  for (int i = 0; i < info->input_count; ++i) {
    inputs[i] = allocate(&info->inputs[i]);
    if (fread(inputs[i], 1, info->inputs[i].bytes, file) != info->inputs[i].bytes) fail("the inputs are too short");
  }
  fclose(file);
  for (int i = 0; i < info->output_count; ++i) outputs[i] = allocate(&info->outputs[i]);
  code = run(net, (const void* const*)inputs, outputs);
  /* Once more: a pool or a workspace that the first run left in a wrong state would show. */
  if (code == HONE_NET_OK) code = run(net, (const void* const*)inputs, outputs);
  file = fopen(argv[6], "wb");
  if (!file) fail("the outputs cannot be opened");
  for (int i = 0; i < info->output_count; ++i) fwrite(outputs[i], 1, info->outputs[i].bytes, file);
  if (fclose(file) != 0) fail("the outputs cannot be written");
  ((void (*)(void*))find(library, argv[2], "destroy"))(net);
  return code;
}
