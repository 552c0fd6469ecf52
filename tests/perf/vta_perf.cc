// How fast the VTA simulator is: a convolution of ResNet-18 with all checks, and the same with cycles alone.
//
//   build/bin/vta_perf
#include <chrono>
#include <cstdio>

#include "common/vta_device.h"
#include "unit/op/vta_conv.h"
#include "unit/op/vta_layers.h"

namespace hone::op {
namespace {

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void Measure(const VtaLayer& layer, int only_cycles) {
  vta::SimulatedDevice device({.only_cycles = only_cycles});
  const PackedConv& c = layer.conv;
  const std::vector<int8_t> data(16 * c.in_blocks * c.height * c.width, 3);
  const std::vector<int8_t> weights(256 * c.out_blocks * c.in_blocks * c.kernel * c.kernel, 5);
  const uint64_t out = device.Put(std::vector<int8_t>(16 * c.out_blocks * c.OutHeight() * c.OutWidth()));
  VtaConvAddresses at{device.PutEntries(HONE_VTA_INP, data), device.PutEntries(HONE_VTA_WGT, weights),
                      static_cast<uint32_t>(out / 16), 0};
  at.uops = device.PutUops(MakeVtaConv(c, layer.published, kTunedStages).uops);
  const VtaConvProgram program = MakeVtaConv(c, layer.published, kTunedStages, at);
  const uint64_t stream = device.Put(device.Encode(program.instructions));
  double best = 1e9;
  for (int i = 0; i < 9; ++i) {
    const double begin = Seconds();
    if (hone_vta_run(device.get(), stream, static_cast<uint32_t>(program.instructions.size())) != 0) {
      std::fprintf(stderr, "%s\n", device.message().c_str());
      std::exit(1);
    }
    best = std::min(best, Seconds() - begin);
  }
  std::printf("%-4s %s %8.3f ms  %6.1f million matrix micro-operations a second\n", layer.name,
              only_cycles ? "cycles only" : "all checks ", best * 1e3,
              static_cast<double>(device.counters().gemm) / best / 1e6);
}

}  // namespace
}  // namespace hone::op

int main() {
  for (int only_cycles : {0, 1}) {
    for (const hone::op::VtaLayer& layer : hone::op::kVtaLayers) hone::op::Measure(layer, only_cycles);
  }
}
