/* libnvidia-ml.so.1 without a GPU, as runtime/cuda/nvml.cc calls it. */
#include "fake_nvml.h"

#include <string.h>

enum { OK = 0, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, MOST = 8, SM_CLOCK = 1 };
static const unsigned usual_watts = 700;

struct running {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct use {
  unsigned pid;
  unsigned long long microseconds;
  unsigned sm, memory, encoder, decoder;
};

static struct {
  char uuid[64];
  unsigned watts;
  unsigned long long reasons;
  int throttled, asked;
  struct running running[MOST];
  struct use uses[MOST];
  unsigned running_count, use_count;
} fake;
static int gpu;

void fake_nvml_reset(void) { memset(&fake, 0, sizeof fake); }
void fake_nvml_know(const char* uuid) {
  strncpy(fake.uuid, uuid, sizeof fake.uuid - 1);
  fake.watts = usual_watts;
}
void fake_nvml_power(unsigned watts) { fake.watts = watts; }
void fake_nvml_throttle(unsigned long long reasons, int times) {
  fake.reasons = reasons;
  fake.throttled = times;
}
void fake_nvml_process(unsigned pid) { fake.running[fake.running_count++ % MOST] = (struct running){pid, 1 << 20, 0, 0}; }
void fake_nvml_use(unsigned pid, unsigned long long microseconds, unsigned percent) {
  fake.uses[fake.use_count++ % MOST] = (struct use){pid, microseconds, percent, 0, 0, 0};
}
int fake_nvml_asked(void) { return fake.asked; }

int nvmlInit_v2(void) { return OK; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** found) {
  if (!*fake.uuid || strcmp(uuid, fake.uuid) != 0) return NOT_FOUND;
  *found = &gpu;
  return OK;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  strncpy(text, "550.54.15", size);
  return OK;
}
int nvmlDeviceGetPowerManagementLimit(void* of, unsigned* milliwatts) {
  *milliwatts = 1000 * fake.watts;
  return of == &gpu ? OK : NOT_FOUND;
}
int nvmlDeviceGetPowerManagementDefaultLimit(void* of, unsigned* milliwatts) {
  *milliwatts = 1000 * usual_watts;
  return of == &gpu ? OK : NOT_FOUND;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* of, unsigned long long* reasons) {
  ++fake.asked;
  *reasons = fake.throttled > 0 ? fake.reasons : 1; /* idle */
  if (fake.throttled > 0) --fake.throttled;
  return of == &gpu ? OK : NOT_FOUND;
}
int nvmlDeviceGetClockInfo(void* of, int type, unsigned* megahertz) {
  *megahertz = 1200;
  return of == &gpu && type == SM_CLOCK ? OK : NOT_FOUND;
}
int nvmlDeviceGetMaxClockInfo(void* of, int type, unsigned* megahertz) {
  *megahertz = 1980;
  return of == &gpu && type == SM_CLOCK ? OK : NOT_FOUND;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* of, unsigned* count, struct running* list) {
  const unsigned room = *count;
  *count = fake.running_count;
  if (room < fake.running_count) return INSUFFICIENT_SIZE;
  memcpy(list, fake.running, fake.running_count * sizeof *list);
  return of == &gpu ? OK : NOT_FOUND;
}
int nvmlDeviceGetProcessUtilization(void* of, struct use* list, unsigned* count, unsigned long long since) {
  unsigned found = 0;
  for (unsigned i = 0; i < fake.use_count; ++i) {
    if (fake.uses[i].microseconds <= since) continue;
    if (list && found < *count) list[found] = fake.uses[i];
    ++found;
  }
  if (found == 0) return NOT_FOUND;
  const int fits = list && found <= *count;
  *count = found;
  return of != &gpu ? NOT_FOUND : fits ? OK : INSUFFICIENT_SIZE;
}
