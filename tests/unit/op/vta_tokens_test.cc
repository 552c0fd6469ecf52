// Fifty programs of convolutions, from which each token is removed in turn.
#include "common/vta_device.h"
#include "unit/op/vta_conv.h"

namespace hone::op {
namespace {

using vta::SimulatedDevice;

using Token = uint32_t HoneVtaInstruction::*;
// The fields that push to a queue and pop from it, with the opcodes' modules: load, compute, store.
struct Queue {
  int pusher, popper;
  Token push, pop;
};
const Queue kQueues[] = {{0, 1, &HoneVtaInstruction::push_next, &HoneVtaInstruction::pop_prev},
                         {1, 0, &HoneVtaInstruction::push_prev, &HoneVtaInstruction::pop_next},
                         {1, 2, &HoneVtaInstruction::push_next, &HoneVtaInstruction::pop_prev},
                         {2, 1, &HoneVtaInstruction::push_prev, &HoneVtaInstruction::pop_next}};

int ModuleOf(const HoneVtaInstruction& i) {
  if (i.opcode == HONE_VTA_STORE) return 2;
  return i.opcode == HONE_VTA_LOAD && (i.memory == HONE_VTA_INP || i.memory == HONE_VTA_WGT) ? 0 : 1;
}

// The instructions of a module with this token.
std::vector<size_t> WithToken(const vta::Program& program, int module, Token token) {
  std::vector<size_t> found;
  for (size_t i = 0; i < program.size(); ++i) {
    if (ModuleOf(program[i]) == module && program[i].*token != 0) found.push_back(i);
  }
  return found;
}

struct Counts {
  int programs = 0, single = 0, needed = 0, redundant = 0;
};

// Without one end of a token, a program must be refused. Without both it must be refused, or give the same result in
// several orders: then another chain of tokens orders the same accesses.
void RemoveTokens(const PackedConv& c, const PackedTile& tile, Counts* counts) {
  std::vector<std::unique_ptr<SimulatedDevice>> devices;
  for (uint64_t seed : {0, 1, 2}) {
    devices.push_back(std::make_unique<SimulatedDevice>(HoneVtaSimulation{.dram_bytes = 1 << 19, .seed = seed}));
  }
  const size_t outputs = static_cast<size_t>(16 * c.out_blocks * c.OutHeight() * c.OutWidth());
  VtaConvAddresses at;
  uint64_t out = 0;
  for (auto& device : devices) {  // each gets the same addresses
    std::vector<int8_t> data(16 * c.in_blocks * c.height * c.width), weights(256 * c.out_blocks * c.in_blocks * 9);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int8_t>(i * 37 % 251);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<int8_t>(i * 59 % 241);
    out = device->Put(std::vector<int8_t>(outputs));
    at = {device->PutEntries(HONE_VTA_INP, data), device->PutEntries(HONE_VTA_WGT, weights),
          static_cast<uint32_t>(out / 16), 0};
    at.uops = device->PutUops(MakeVtaConv(c, tile, kTunedStages).uops);
  }
  const vta::Program program = MakeVtaConv(c, tile, kTunedStages, at).instructions;
  ASSERT_EQ(devices[0]->Run(program), "");
  const std::vector<int8_t> expected = devices[0]->Get(out, outputs);
  ++counts->programs;
  for (const Queue& queue : kQueues) {
    const std::vector<size_t> pushes = WithToken(program, queue.pusher, queue.push);
    const std::vector<size_t> pops = WithToken(program, queue.popper, queue.pop);
    ASSERT_EQ(pushes.size(), pops.size());
    for (size_t k = 0; k < pushes.size(); ++k) {
      for (const auto& [step, token] : {std::pair(pushes[k], queue.push), std::pair(pops[k], queue.pop)}) {
        vta::Program changed = program;
        changed[step].*token = 0;
        EXPECT_NE(devices[0]->Run(changed), "") << step;
        ++counts->single;
      }
      vta::Program changed = program;
      changed[pushes[k]].*queue.push = 0, changed[pops[k]].*queue.pop = 0;
      const std::string message = devices[0]->Run(changed);
      ++(message.empty() ? counts->redundant : counts->needed);
      if (!message.empty()) continue;
      for (auto& device : devices) {
        ASSERT_EQ(hone_vta_copy_in(device->get(), out, std::vector<int8_t>(outputs).data(), outputs), 0);
        EXPECT_EQ(device->Run(changed), "");
        EXPECT_EQ(device->Get(out, outputs), expected) << pushes[k] << " " << pops[k];
      }
    }
  }
}

TEST(VtaTokens, EveryRemovalIsReportedOrRedundant) {
  Counts counts;
  for (const PackedConv& conv :
       {PackedConv{4, 4, 2, 4, 3, 1, 1}, PackedConv{6, 4, 1, 4, 3, 1, 1}, PackedConv{4, 6, 2, 3, 3, 1, 1}}) {
    const search::Space space = Conv2dPackedSpace(hone_vta_default_config(), conv);
    for (PointIndex index = 0; index < space.size() && counts.programs < 50; ++index) {
      const PackedTile tile = PackedTile::Of(space.At(index));
      if (space.Legal(index) && tile.out_blocks * tile.height >= 3) RemoveTokens(conv, tile, &counts);
    }
  }
  EXPECT_EQ(counts.programs, 50);
  EXPECT_GT(counts.needed, counts.redundant);
}

}  // namespace
}  // namespace hone::op
