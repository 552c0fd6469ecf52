/* What tests ask of the fake driver (fake_cuda.cc), found in it by dlsym. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `symbol` started: the addresses are host addresses, in the order of the parameters. */
typedef void (*FakeLaunch)(const char* symbol, void* const* addresses, const unsigned grid[3], const unsigned block[3]);

/* Everything as at the beginning, nothing allocated. */
void fake_cuda_reset(FakeLaunch on_launch);
/* The call of `function` after the next `skip` ones fails with `error`; if sticky, so does all that follows. */
void fake_cuda_fail(const char* function, int error, int skip, int sticky);
/* From now on the stream does its work as soon as it may, not as late as it may. */
void fake_cuda_hurry(void* stream);
/* How far apart all events are from now on, instead of 2.5 ms. */
void fake_cuda_elapse(float milliseconds);
/* The first thing that a real driver would not have forgiven, or "". */
const char* fake_cuda_complaint(void);
/* Contexts, allocations, modules, streams, events and graphs that are alive. */
int fake_cuda_alive(void);
/* Bytes of the largest allocation that is alive. */
size_t fake_cuda_largest(void);
/* Launches recorded into graphs since the reset; each is a call of cuLaunchKernel. */
int fake_cuda_captured(void);
/* Launches of the largest graph since the reset. */
int fake_cuda_largest_graph(void);
/* Overwrites all memory of the device, as a kernel might. */
void fake_cuda_spoil(void);
/* How often `function` was called since the reset; NULL: all functions together. */
int fake_cuda_calls(const char* function);
/* How many contexts this thread has pushed or made current. */
int fake_cuda_contexts(void);

#ifdef __cplusplus
}
#endif
