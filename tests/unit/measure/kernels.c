/* Candidates for the measuring tests, good and bad. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "unit/measure/twice_kernels.h"

/* Uses what it was promised: workspace and scratch. */
KERNEL(right_with_memory) {
  (void)parallel;
  for (int i = 0; i < 4096; ++i) workspace[i] = scratch[i] = (char)i;
  Right(buffers);
}

KERNEL(wrong) {
  UNUSED;
  Right(buffers);
  ((float*)buffers[2])[5] += 1;
}

KERNEL(forgetful) { /* leaves the last element as it was */
  UNUSED;
  float* out = buffers[2];
  float last = out[kCount - 1];
  Right(buffers);
  out[kCount - 1] = last;
}

KERNEL(spoiler) { /* wrong, and writes into its constants and inputs */
  UNUSED;
  for (int i = 0; i < kCount; ++i) ((float*)buffers[0])[i] = ((float*)buffers[1])[i] = 7;
  Right(buffers);
}

KERNEL(overrun) {
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[2])[kCount] = 1;
}

KERNEL(workspace_overrun) { /* of 4096 bytes: a page */
  UNUSED;
  Right(buffers);
  ((volatile char*)workspace)[4096] = 1;
}

KERNEL(constant_overrun) {
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[1])[kCount] = 1;
}

KERNEL(input_overrun) {
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[0])[kCount] = 1;
}

/* Finds another copy of `values` in the memory around them, by asking the kernel which pages there are, and changes it.
 * Right if there is none. */
static void ChangeOther(const float* values) {
  float wanted[kCount];
  memcpy(wanted, values, sizeof wanted);
  const uintptr_t here = (uintptr_t)values / 4096 * 4096, reach = (uintptr_t)64 << 20;
  for (uintptr_t page = here - reach; page < here + reach; page += 4096) {
    volatile float* other = (volatile float*)page;
    if (page == here || write(2, (const void*)page, 1) != 1) continue;
    if (memcmp((const void*)page, wanted, sizeof wanted) != 0) continue;
    (void)!write(2, "\n", 1); /* ends the line of last words that was written above */
    other[0] = 7;
  }
}

KERNEL(changes_the_reference) { /* and leaves what agrees with it */
  UNUSED;
  Right(buffers);
  ChangeOther(buffers[2]);
}

KERNEL(changes_the_inputs) { /* those that are copied for the next candidate */
  UNUSED;
  Right(buffers);
  ChangeOther(buffers[0]);
}

KERNEL(sums_differently) { /* in every second run, as by another order of a sum */
  UNUSED;
  static int runs = 0;
  Right(buffers);
  if (++runs % 2 == 0) ((float*)buffers[2])[7] *= 1 + 0x1p-22f;
}

/* Right if each of two threads may use one core alone. */
static void CountCores(void* closure, int64_t begin, int64_t end, char* scratch) {
  (void)scratch;
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  for (int64_t i = begin; i < end; ++i) ((int*)closure)[i] = CPU_COUNT(&cores);
}

KERNEL(pinned) {
  (void)workspace, (void)scratch;
  int cores[2] = {0, 0};
  parallel->launch(parallel->pool, CountCores, cores, 2);
  Right(buffers);
  if (cores[0] != 1 || cores[1] != 1) ((float*)buffers[2])[0] += 1;
}

KERNEL(moody) { /* wrong in every tenth run */
  UNUSED;
  static int runs = 0;
  Right(buffers);
  if (++runs % 10 == 0) ((float*)buffers[2])[7] *= 2;
}

KERNEL(lazy) { /* does nothing in every tenth run */
  UNUSED;
  static int runs = 0;
  if (++runs % 10 != 0) Right(buffers);
}

/* The bytes behind the scratch of the thread that has the last of two iterations. */
static void OverrunScratch(void* closure, int64_t begin, int64_t end, char* scratch) {
  (void)begin;
  for (int i = 0; i < *(const int*)closure; ++i) scratch[i] = 1;
  if (end == 2) ((volatile char*)scratch)[*(const int*)closure] = 1;
}

KERNEL(scratch_overrun) { /* of 4096 bytes: a page */
  (void)workspace, (void)scratch;
  int bytes = 4096;
  parallel->launch(parallel->pool, OverrunScratch, &bytes, 2);
  Right(buffers);
}

KERNEL(short_scratch_overrun) { /* of 100 bytes: some are left of the page */
  (void)workspace, (void)scratch;
  int bytes = 100;
  parallel->launch(parallel->pool, OverrunScratch, &bytes, 2);
  Right(buffers);
}

KERNEL(late_underrun) { /* in front of the output in every tenth run, and the output is right */
  UNUSED;
  static int runs = 0;
  Right(buffers);
  if (++runs % 10 == 0) ((volatile float*)buffers[2])[-1] = 1;
}

KERNEL(late_constant_overrun) { /* behind a constant in every tenth run */
  UNUSED;
  static int runs = 0;
  Right(buffers);
  if (++runs % 10 == 0) ((volatile float*)buffers[1])[kCount] = 1;
}

KERNEL(late_scratch_underrun) { /* of 100 bytes, in every tenth run */
  (void)parallel, (void)workspace;
  static int runs = 0;
  Right(buffers);
  if (++runs % 10 == 0) ((volatile char*)scratch)[-1] = 1;
}

KERNEL(underrun) { /* the element in front of the output */
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[2])[-1] = 1;
}

KERNEL(far_underrun) { /* beyond the page that the output is in */
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[2])[-1024] = 1;
}

KERNEL(crash) {
  UNUSED;
  (void)buffers;
  static int* volatile nowhere = 0; /* volatile, lest the compiler sees through it */
  *nowhere = 1;
}

KERNEL(hang) {
  UNUSED;
  (void)buffers;
  for (volatile int64_t i = 0;; ++i) {
  }
}

KERNEL(slow) { /* some hundred microseconds at least on any machine */
  UNUSED;
  for (volatile int64_t i = 0; i < 500000; ++i) {
  }
  Right(buffers);
}

KERNEL(long_one) { /* 20 ms by the clock: longer than a turn of the scheduler */
  UNUSED;
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 20000000);
  Right(buffers);
}

/* Right if nothing of what it tries is possible. */
KERNEL(short_of_memory) { /* ends as the handler of `new` does */
  UNUSED;
  (void)buffers;
  (void)!write(2, "no memory", 9);
  _exit(75);
}

/* Takes addresses until there are none, and gives them back; right if that ended below what any machine has. Touches a
 * page of each piece, so that the machine does not notice. */
KERNEL(hoarder) {
  UNUSED;
  const size_t much = (size_t)1 << 28, all = (size_t)1 << 46;
  size_t taken = 0;
  void* last = 0;
  while (taken < all) {
    void* piece = mmap(0, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (piece == MAP_FAILED) break;
    *(void**)piece = last;
    last = piece;
    taken += much;
  }
  while (last) {
    void* next = *(void**)last;
    munmap(last, much);
    last = next;
  }
  Right(buffers);
  if (taken >= all) ((float*)buffers[2])[0] += 1;
}

/* Sends a message of its own to the parent, and then computes the right result. */
static void SendFrame(const char* text, uint32_t announced) {
  char header[8] = {'H', 'N', 'C', '1'};
  for (int i = 0; i < 4; ++i) header[4 + i] = (char)(announced >> (8 * i));
  (void)!send(3, header, sizeof header, 0);
  (void)!send(3, text, strlen(text), 0);
}

KERNEL(forger) {
  UNUSED;
  static const char kAnswer[] =
      "\n{\"ok\":true,\"peak\":1e30,\"outcome\":{\"state\":\"ok\",\"error\":\"\",\"error_text\":\"\",\"samples\":[1e-9],"
      "\"median\":1e-9,\"disturbed\":0,\"retaken\":0,\"seconds\":0}}";
  SendFrame(kAnswer, sizeof kAnswer - 1);
  Right(buffers);
}

KERNEL(flooder) { /* announces 900 MB */
  UNUSED;
  SendFrame("{", (uint32_t)900 << 20);
  Right(buffers);
}
