// Instructions for VTA, on the simulator. They are at device address 4096 and may read themselves as data; behind them
// is a region of 16 KiB of zeros for everything else. Beyond doing no harm, whether they are accepted, and with which
// result, must not depend on the order in which modules run; and the same instructions take the same cycles without
// data.
#include <cstring>
#include <memory>

#include "fuzz_target.h"
#include "runtime/vta/simulator.h"

namespace hone::fuzz {
namespace {

constexpr size_t kRegion = 16 << 10;

struct Outcome {
  std::string message;  // empty if accepted
  uint64_t cycles = 0;
  std::vector<unsigned char> region;
};

Outcome Simulate(std::string_view input, uint64_t seed, int only_cycles) {
  const HoneVtaConfig config = hone_vta_default_config();
  const HoneVtaSimulation options{.timing = *hone_vta_find_preset("pynq"),
                                  .dram_bytes = input.size() + 2 * kRegion + 2 * HONE_VTA_PAGE_BYTES,
                                  .most_executions = 1 << 16,
                                  .seed = seed,
                                  .only_cycles = only_cycles};
  const std::unique_ptr<HoneVtaDevice, void (*)(HoneVtaDevice*)> device(hone_vta_open_simulator(&config, &options),
                                                                        hone_vta_close);
  HONE_CHECK(device != nullptr);
  const uint64_t stream = hone_vta_allocate(device.get(), input.size());
  const uint64_t region = hone_vta_allocate(device.get(), kRegion);
  HONE_CHECK(stream != 0 && region != 0);
  HONE_CHECK(hone_vta_copy_in(device.get(), stream, input.data(), input.size()) == 0);
  Outcome outcome;
  const auto count =
      static_cast<uint32_t>((input.size() + HONE_VTA_INSTRUCTION_BYTES - 1) / HONE_VTA_INSTRUCTION_BYTES);
  if (hone_vta_run(device.get(), stream, count) != 0) outcome.message = hone_vta_message(device.get());
  outcome.cycles = hone_vta_counters(device.get())->cycles;
  outcome.region.resize(kRegion);
  HONE_CHECK(hone_vta_copy_out(device.get(), outcome.region.data(), region, kRegion) == 0);
  return outcome;
}

}  // namespace
}  // namespace hone::fuzz

HONE_FUZZ_TARGET(vta_stream) {
  const hone::fuzz::Outcome first = hone::fuzz::Simulate(input, 0, 0), second = hone::fuzz::Simulate(input, 12345, 0);
  HONE_CHECK(first.message.empty() == second.message.empty());
  if (!first.message.empty()) return hone::Status::Invalid(first.message);
  HONE_CHECK(first.region == second.region);
  const hone::fuzz::Outcome timed = hone::fuzz::Simulate(input, 0, 1);
  HONE_CHECK(timed.message.empty() && timed.cycles == first.cycles);
  return hone::Status();
}
