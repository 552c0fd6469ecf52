// Fifty programs of convolutions, from which each token is removed in turn.
#include <bitset>
#include <set>

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

// The accesses of an instruction to a memory that two modules share: ACC counts as OUT does. FINISH is left out.
struct Access {
  int memory;
  bool write;
  std::set<uint32_t> entries;
};

std::vector<Access> AccessesOf(const HoneVtaInstruction& i, const std::vector<HoneVtaUop>& uops) {
  std::vector<Access> made;
  if (i.opcode == HONE_VTA_LOAD || i.opcode == HONE_VTA_STORE) {
    const bool store = i.opcode == HONE_VTA_STORE;
    if (i.x_size == 0 || i.memory == HONE_VTA_UOP) return {};
    Access a{store ? int{HONE_VTA_ACC} : static_cast<int>(i.memory), !store, {}};
    const uint32_t entries = (i.x_pad_0 + i.x_size + i.x_pad_1) * (i.y_pad_0 + i.y_size + i.y_pad_1);
    for (uint32_t e = 0; e < entries; ++e) a.entries.insert(i.sram_base + e);
    return {a};
  }
  if (i.opcode == HONE_VTA_FINISH) return {};
  Access dst{HONE_VTA_ACC, true, {}}, src{HONE_VTA_INP, false, {}}, wgt{HONE_VTA_WGT, false, {}};
  for (uint32_t o = 0; o < i.iter_out; ++o) {
    for (uint32_t n = 0; n < i.iter_in; ++n) {
      for (uint32_t u = i.uop_begin; u < i.uop_end; ++u) {
        dst.entries.insert(uops[u].dst + o * i.dst_out + n * i.dst_in);
        src.entries.insert(uops[u].src + o * i.src_out + n * i.src_in);
        wgt.entries.insert(uops[u].wgt + o * i.wgt_out + n * i.wgt_in);
      }
    }
  }
  if (i.opcode == HONE_VTA_GEMM && !i.reset) return {dst, src, wgt};
  return {dst};
}

bool Conflict(const std::vector<Access>& a, const std::vector<Access>& b) {
  for (const Access& x : a) {
    for (const Access& y : b) {
      if (x.memory != y.memory || (!x.write && !y.write)) continue;
      for (uint32_t e : x.entries) {
        if (y.entries.count(e) != 0) return true;
      }
    }
  }
  return false;
}

using Pairs = std::vector<std::pair<size_t, size_t>>;

// The pairs of instructions of different modules that must be ordered: those that conflict, and each with FINISH. The
// tensors in DRAM do not overlap: only store writes there, and only its own.
Pairs Conflicts(const VtaConvProgram& program) {
  std::vector<std::vector<Access>> accesses;
  for (const HoneVtaInstruction& i : program.instructions) accesses.push_back(AccessesOf(i, program.uops));
  Pairs found;
  for (size_t b = 0; b < accesses.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (ModuleOf(program.instructions[a]) == ModuleOf(program.instructions[b])) continue;
      if (b + 1 == accesses.size() || Conflict(accesses[a], accesses[b])) found.push_back({a, b});
    }
  }
  return found;
}

// Whether program order within modules and the tokens order all pairs: the transitive closure of both. Here, unlike in
// the simulator, tokens go forward in the program.
bool Ordered(const vta::Program& program, const Pairs& pairs) {
  constexpr size_t kMost = 1024;
  if (program.size() > kMost) throw std::length_error("program");
  std::vector<std::vector<size_t>> direct(program.size());
  for (const Queue& queue : kQueues) {
    const std::vector<size_t> pushes = WithToken(program, queue.pusher, queue.push);
    const std::vector<size_t> pops = WithToken(program, queue.popper, queue.pop);
    for (size_t k = 0; k < pops.size(); ++k) {
      if (pushes.at(k) >= pops[k]) throw std::logic_error("a token goes backward");
      direct[pops[k]].push_back(pushes[k]);
    }
  }
  std::vector<std::bitset<kMost>> before(program.size());
  std::optional<size_t> last[3];
  for (size_t i = 0; i < program.size(); ++i) {
    std::optional<size_t>& previous = last[ModuleOf(program[i])];
    if (previous) direct[i].push_back(*previous);
    previous = i;
    for (size_t d : direct[i]) before[i] |= before[d], before[i].set(d);
  }
  return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return before[pair.second][pair.first]; });
}

struct Counts {
  int programs = 0, single = 0, needed = 0, redundant = 0;
};

// Without one end of a token, a program must be refused. Without both, it must be refused exactly if the remaining
// tokens leave a conflict unordered. If they order all (the token is redundant), the result must be right in several
// orders.
void RemoveTokens(const PackedConv& c, const PackedTile& tile, Counts* counts) {
  std::vector<std::unique_ptr<SimulatedDevice>> devices;
  for (uint64_t seed : {0, 1, 2}) {
    devices.push_back(std::make_unique<SimulatedDevice>(HoneVtaSimulation{.dram_bytes = 1 << 19, .seed = seed}));
  }
  const VtaConvData data = RandomVtaData(c);
  const std::vector<int8_t> expected = ExpectedOutputs(c, data);
  const size_t outputs = expected.size();
  VtaConvAddresses at;
  uint64_t out = 0;
  for (auto& device : devices) {  // each gets the same addresses
    out = device->Put(std::vector<int8_t>(outputs));
    at = {device->PutEntries(HONE_VTA_INP, data.data), device->PutEntries(HONE_VTA_WGT, data.weights),
          static_cast<uint32_t>(out / 16), 0};
    at.uops = device->PutUops(MakeVtaConv(c, tile, kTunedStages).uops);
  }
  const VtaConvProgram made = MakeVtaConv(c, tile, kTunedStages, at);
  const vta::Program& program = made.instructions;
  const Pairs conflicts = Conflicts(made);
  ASSERT_TRUE(Ordered(program, conflicts));
  for (auto& device : devices) {
    ASSERT_EQ(device->Run(program), "");
    ASSERT_EQ(device->Get(out, outputs), expected);
  }
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
      EXPECT_EQ(message.empty(), Ordered(changed, conflicts)) << pushes[k] << " " << pops[k] << " " << message;
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
  EXPECT_EQ(counts.single, 5016);
  EXPECT_EQ(counts.needed, 1568);
  EXPECT_EQ(counts.redundant, 940);
}

}  // namespace
}  // namespace hone::op
