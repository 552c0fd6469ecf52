/* A network library that is 5 % slower than another: it lies in the place of libaa.so and forwards to aa.original beside
 * it. Each run computes for another twentieth of its own time, so the ratio is 1.05 however fast the machine is at the
 * moment, and a run differs in nothing else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library/runtime/net_runtime.h"

typedef struct HoneNet HoneNet;

static void *Original(const char *name) {
  static void *handle;
  if (handle == NULL) {
    Dl_info here;
    char path[4096];
    if (dladdr(&handle, &here) == 0) abort();
    const char *slash = strrchr(here.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/aa.original", (int)(slash - here.dli_fname), here.dli_fname);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) abort();
  }
  return dlsym(handle, name);
}

#define FORWARD(type, name, parameters, arguments) \
  type name parameters {                           \
    type(*original) parameters = Original(#name);  \
    return original arguments;                     \
  }

FORWARD(int, aa_abi_version, (void), ())
FORWARD(const HoneNetInfo *, aa_describe, (void), ())
FORWARD(size_t, aa_workspace_size, (void), ())
FORWARD(int, aa_create, (const HoneNetOptions *options, HoneNet **net), (options, net))
FORWARD(int, aa_profile_run, (HoneNet * net, const void *const *in, void *const *out, double *seconds),
        (net, in, out, seconds))
FORWARD(void, aa_destroy, (HoneNet * net), (net))
FORWARD(const char *, aa_strerror, (int code), (code))

static double Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int aa_run(HoneNet *net, const void *const *in, void *const *out) {
  static int (*original)(HoneNet *, const void *const *, void *const *);
  if (original == NULL) original = Original("aa_run");
  const double start = Now();
  const int code = original(net, in, out);
  const double end = Now();
  while (Now() < end + 0.05 * (end - start)) {
  }
  return code;
}
