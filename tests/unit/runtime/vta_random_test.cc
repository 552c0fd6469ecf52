// Random changes of a program: the simulator accepts or refuses each in every order, with the same result, and no run
// takes long or leaves its memories (the address sanitizer watches).
#include "base/rng.h"
#include "unit/runtime/vta_product.h"

namespace hone::vta {
namespace {

// Sets a random field of a random instruction to 0, a small number, any number, or its largest.
void Change(Rng* rng, const HoneVtaConfig& config, Program* program) {
  HoneVtaInstruction* instruction = &(*program)[rng->UniformInt(program->size())];
  HoneVtaField fields[HONE_VTA_MOST_FIELDS];
  const int count = hone_vta_fields(&config, instruction->opcode, fields);
  const HoneVtaField& field = fields[rng->UniformInt(count)];
  const uint64_t values = std::string_view(field.name) == "imm" ? 1 << 15 : uint64_t{1} << field.width;
  const uint64_t choices[] = {0, rng->UniformInt(std::min<uint64_t>(values, 6)), rng->UniformInt(values), values - 1};
  const auto value = static_cast<uint32_t>(choices[rng->UniformInt(4)]);
  if (field.bit == 0 && value > HONE_VTA_ALU) return;  // the test encodes only known opcodes
  std::memcpy(reinterpret_cast<char*>(instruction) + field.offset, &value, sizeof value);
  if (field.bit != 0) return;
  // Another opcode: its fields may be narrower.
  *instruction = {.opcode = value, .pop_prev = instruction->pop_prev, .push_next = instruction->push_next};
}

TEST(VtaRandom, AcceptanceAndResultsDoNotDependOnTheOrder) {
  int accepted = 0, refused = 0;
  for (uint64_t trial = 0; trial < 1500; ++trial) {
    std::string messages[2];
    std::vector<int8_t> results[2];
    for (int order = 0; order < 2; ++order) {
      SimulatedDevice device({.dram_bytes = 1 << 16, .most_executions = 1 << 16, .seed = order * (trial + 1)});
      Product product = PutProduct(&device);
      Rng rng(trial);
      for (uint64_t changes = 0; changes <= trial % 3; ++changes) Change(&rng, device.config(), &product.program);
      messages[order] = device.Run(product.program);
      results[order] = device.Get(product.out, 64);
    }
    EXPECT_EQ(messages[0].empty(), messages[1].empty()) << trial << ": " << messages[0] << messages[1];
    if (messages[0].empty()) {
      EXPECT_EQ(results[0], results[1]) << trial;
    }
    EXPECT_THAT(messages[0], Not(HasSubstr("\n")));
    ++(messages[0].empty() ? accepted : refused);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace hone::vta
