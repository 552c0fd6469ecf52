#include "library/runtime/net_runtime.h"

#if defined(__x86_64__)

static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]) {
  __asm__ __volatile__("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
}

/* XCR0, which says what register state the operating system saves; 0 if it does not use XSAVE. */
static uint64_t saved_state(void) {
  uint32_t r[4], low, high;
  cpuid(1, 0, r);
  if (!(r[2] >> 27 & 1)) return 0;
  __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

int hone_net_cpu_fits(const HoneNetTable* table) {
  const uint64_t state = saved_state();
  for (uint64_t i = 0; i < table->feature_count; ++i) {
    const HoneNetFeature* f = &table->features[i];
    uint32_t r[4];
    cpuid(f->leaf & 0x80000000u, 0, r);
    if (r[0] < f->leaf) return 0;
    cpuid(f->leaf, f->subleaf, r);
    if (!(r[f->reg] >> f->bit & 1) || (state & f->state) != f->state) return 0;
  }
  return 1;
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

int hone_net_cpu_fits(const HoneNetTable* table) {
  for (uint64_t i = 0; i < table->feature_count; ++i) {
    const HoneNetFeature* f = &table->features[i];
    if (!(getauxval(f->leaf) >> f->bit & 1)) return 0;
  }
  return 1;
}

#endif
