// Programs that are wrong, each reported by its own check with instruction, module and entry.
#include "unit/runtime/vta_product.h"

namespace hone::vta {
namespace {

// The product with a change; "" if the simulator accepts it. Several seeds must agree.
std::string RunChanged(const std::function<void(Program*)>& change, HoneVtaConfig config = hone_vta_default_config()) {
  std::string message;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SimulatedDevice device({.seed = seed}, config);
    Product product = PutProduct(&device);
    change(&product.program);
    const std::string found = device.Run(product.program);
    EXPECT_TRUE(seed == 0 || found.empty() == message.empty()) << seed << ": " << found;
    if (seed == 0) message = found;
    if (found.empty()) continue;
    EXPECT_EQ(device.counters().cycles, 0u);
    EXPECT_EQ(device.counters().gemm, 0u);
  }
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message;
}

TEST(VtaChecks, AcceptTheProduct) {
  EXPECT_EQ(RunChanged([](Program*) {}), "");
}

TEST(VtaChecks, ReportEveryRemovedToken) {
  int removed = 0;
  for (int step = 0; step <= kEnd; ++step) {
    for (auto token : {&HoneVtaInstruction::pop_prev, &HoneVtaInstruction::pop_next, &HoneVtaInstruction::push_prev,
                       &HoneVtaInstruction::push_next}) {
      SimulatedDevice device;
      if (PutProduct(&device).program[step].*token == 0) continue;
      ++removed;
      EXPECT_THAT(RunChanged([&](Program* p) { (*p)[step].*token = 0; }),
                  AnyOf(HasSubstr("deadlock: "), HasSubstr("that no instruction pops")))
          << step;
    }
  }
  EXPECT_EQ(removed, 6);
  const std::string lost = RunChanged([](Program* p) { (*p)[kProduct].pop_prev = 0; });
  EXPECT_EQ(lost, "instruction 3 (LOAD WGT) of load: pushes a token to l2g that no instruction pops");
}

TEST(VtaChecks, ReportARaceOnWhateverOrderRan) {
  // Without its token, load may fetch the weights while the product reads them, and compute the results while store
  // reads them.
  const std::string weights =
      RunChanged([](Program* p) { (*p)[kLoadWeights].push_next = (*p)[kProduct].pop_prev = 0; });
  EXPECT_THAT(weights, HasSubstr("no token orders the two"));
  EXPECT_THAT(weights, HasSubstr("entry 0 of INP"));
  EXPECT_THAT(weights, HasSubstr("instruction 5 (GEMM) of compute"));
  EXPECT_THAT(weights, HasSubstr("instruction 2 (LOAD INP) of load"));
  // The product waits for the rows, but not for the weights behind them.
  EXPECT_THAT(RunChanged([](Program* p) { (*p)[kLoadWeights].push_next = 0, (*p)[kLoadRows].push_next = 1; }),
              HasSubstr("entry 0 of WGT"));
  EXPECT_EQ(RunChanged([](Program* p) {
              std::swap((*p)[kLoadRows].push_next, (*p)[kLoadWeights].push_next),
                  std::swap((*p)[kLoadRows], (*p)[kLoadWeights]);
            }),
            "");
  const std::string results = RunChanged([](Program* p) { (*p)[kMax].push_next = 0, (*p)[kMin].push_next = 1; });
  EXPECT_THAT(results, HasSubstr("no token orders the two"));
  EXPECT_THAT(results, HasSubstr("instruction 10 (STORE) of store"));
  EXPECT_THAT(results, HasSubstr("instruction 9 (ALU MAX) of compute"));
}

TEST(VtaChecks, ReportARaceInDram) {
  // Load reads again what store writes.
  const auto change = [](Program* p, bool ordered) {
    HoneVtaInstruction load = (*p)[kLoadRows];
    load.sram_base = 8, load.x_size = 1, load.dram_base = (*p)[kStore].dram_base + 3, load.push_next = 1;
    HoneVtaInstruction last = (*p)[kLast];
    last.pop_prev = 1, last.pop_next = 0;
    if (ordered) (*p)[kLast].push_prev = 1, load.pop_next = 1;
    p->insert(p->end() - 1, {load, last});
  };
  const std::string race = RunChanged([&](Program* p) { change(p, false); });
  EXPECT_THAT(race,
              HasSubstr("writes DRAM at address 0x1000, which instruction 12 (LOAD INP) of load accesses: no token"));
  EXPECT_EQ(RunChanged([&](Program* p) { change(p, true); }), "");
}

TEST(VtaChecks, ReportFinishBeforeTheEnd) {
  EXPECT_EQ(
      RunChanged([](Program* p) { (*p)[kStore].push_prev = (*p)[kLast].pop_next = 0; }),
      "instruction 12 (FINISH) of compute: may run before instruction 10 (STORE) of store: no token orders the two");
}

TEST(VtaChecks, ReportADeadlock) {
  // The product waits for results of store, which waits for the product.
  EXPECT_EQ(
      RunChanged([](Program* p) { (*p)[kProduct].pop_next = 1, (*p)[kLast].pop_next = 0; }),
      "deadlock: instruction 5 (GEMM) of compute waits (pop_next) for a token in s2g, which instruction 10 (STORE) "
      "of store pushes; instruction 10 (STORE) of store waits (pop_prev) for a token in g2s, which instruction 9 "
      "(ALU MAX) of compute pushes");
  EXPECT_THAT(RunChanged([](Program* p) { (*p)[kLoadRows].pop_next = 1; }),
              HasSubstr("instruction 2 (LOAD INP) of load waits (pop_next) for a token in g2l, which no instruction "
                        "pushes"));
}

// 1024 tokens fit into a queue, and 512 instructions into a module's.
TEST(VtaChecks, ReportFullQueues) {
  const HoneVtaInstruction push{.opcode = HONE_VTA_LOAD, .push_next = 1, .memory = HONE_VTA_INP};
  const HoneVtaInstruction pop{.opcode = HONE_VTA_LOAD, .pop_prev = 1, .memory = HONE_VTA_UOP};
  HoneVtaInstruction blocked = push;
  blocked.pop_next = 1;
  for (int only_cycles : {0, 1}) {
    SimulatedDevice device({.only_cycles = only_cycles});
    Program all(1000, push);
    all.insert(all.end(), 1000, pop);
    all.push_back(Finish());
    EXPECT_EQ(device.Run(all), "");
    // The first waits for a token that compute would push behind 512 instructions of load.
    Program stuck = {blocked};
    HoneVtaInstruction frees = pop;
    frees.pop_prev = 0, frees.push_prev = 1;
    stuck.insert(stuck.end(), 511, push);
    stuck.push_back(frees);
    stuck.insert(stuck.end(), 512, pop);
    stuck.push_back(Finish());
    EXPECT_EQ(device.Run(stuck), "");
    stuck.insert(stuck.begin() + 1, push);
    stuck.insert(stuck.end() - 1, pop);
    EXPECT_THAT(device.Run(stuck), HasSubstr("compute waits to be fetched, behind 512 others"));
  }
  // Both modules push one token too many before either pops.
  SimulatedDevice device({.only_cycles = 1});
  HoneVtaInstruction push_back = pop, pop_back = push;
  push_back.pop_prev = 0, push_back.push_prev = 1, pop_back.push_next = 0, pop_back.pop_next = 1;
  const auto tokens = [&](int count) {
    Program p;
    for (int i = 0; i < count; ++i) p.insert(p.end(), {push, push_back});
    for (int i = 0; i < count; ++i) p.insert(p.end(), {pop_back, pop});
    p.push_back(Finish());
    return p;
  };
  EXPECT_EQ(device.Run(tokens(1024)), "");
  EXPECT_EQ(device.Run(tokens(1025)),
            "deadlock: instruction 2048 (LOAD INP) of load waits (push_next) for room in l2g, where instruction 2051 "
            "(LOAD UOP) of compute pops a token; instruction 2049 (LOAD UOP) of compute waits (push_prev) for room in "
            "g2l, where instruction 2050 (LOAD INP) of load pops a token");
}

TEST(VtaChecks, ReportAccessesOutside) {
  struct Case {
    int step;
    uint32_t HoneVtaInstruction::* field;
    uint32_t value;
    const char* message;
  };
  const Case cases[] = {
      {kLoadRows, &HoneVtaInstruction::sram_base, 2047,
       "instruction 2 (LOAD INP) of load: accesses entries 2047 to 2048 of INP, which has 2048"},
      {kLoadWeights, &HoneVtaInstruction::sram_base, 1023, "entries 1023 to 1024 of WGT, which has 1024"},
      {kLoadBias, &HoneVtaInstruction::sram_base, 65535, "entries 65535 to 65536 of ACC, which has 2048"},
      {kLoadUops, &HoneVtaInstruction::sram_base, 8191, "entries 8191 to 8192 of UOP, which has 8192"},
      {kStore, &HoneVtaInstruction::sram_base, 2045,
       "instruction 10 (STORE) of store: accesses entries 2045 to 2048 of OUT, which has 2048"},
      {kLoadRows, &HoneVtaInstruction::dram_base, 0, "reads 32 bytes of DRAM at address 0, which are not in one"},
      {kLoadRows, &HoneVtaInstruction::dram_base, 4294967295u, "bytes of DRAM at address 0xffffffff0"},
      {kLoadRows, &HoneVtaInstruction::x_size, 3, "reads 48 bytes of DRAM at address"},
      {kStore, &HoneVtaInstruction::dram_base, 7,
       "instruction 10 (STORE) of store: writes 64 bytes of DRAM at address 0x70"},
      {kProduct, &HoneVtaInstruction::src_out, 2047,
       "instruction 5 (GEMM) of compute: reads entry 2047 of INP, which this stream never wrote"},
      {kProduct, &HoneVtaInstruction::iter_out, 1025, "instruction 5 (GEMM) of compute: accesses entry 2049 of ACC"},
      {kProduct, &HoneVtaInstruction::wgt_in, 1023, "reads entry 1023 of WGT, which this stream never wrote"},
      {kProduct, &HoneVtaInstruction::uop_end, 8193,
       "instruction 5 (GEMM) of compute: reads entry 8192 of UOP, which has"},
      {kProduct, &HoneVtaInstruction::uop_end, 3, "reads entry 2 of UOP, which this stream never loaded"},
      {kAddBias, &HoneVtaInstruction::src_in, 2047, "(ALU ADD) of compute: accesses entry 2051 of ACC, which has 2048"},
      {kAddBias, &HoneVtaInstruction::src_in, 9,
       "(ALU ADD) of compute: reads entry 13 of ACC, which this stream never"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.step << " " << c.value);
    const std::string message = RunChanged([&](Program* p) {
      (*p)[c.step].*c.field = c.value;
      if (c.step == kProduct && c.value == 1025) (*p)[c.step].src_out = 0;
    });
    EXPECT_THAT(message, HasSubstr(c.message));
  }
}

TEST(VtaChecks, ReportRewritesInThePipelineAcrossLoops) {
  const auto product = [](uint32_t inner, uint32_t outer, uint32_t dst_in, uint32_t dst_out) {
    return RunChanged([&](Program* p) {
      HoneVtaInstruction& gemm = (*p)[kProduct];
      gemm.iter_in = inner, gemm.iter_out = outer, gemm.dst_in = dst_in, gemm.dst_out = dst_out;
      gemm.src_in = gemm.src_out = gemm.wgt_in = gemm.wgt_out = 0;
    });
  };
  EXPECT_EQ(
      product(2, 2, 0, 1),
      "instruction 5 (GEMM) of compute: reads entry 0 of ACC 1 execution(s) after writing it; the pipeline needs 3");
  EXPECT_THAT(product(2, 2, 1, 0),
              HasSubstr("reads entry 0 of ACC 2 execution(s) after writing it"));  // across the outer
  EXPECT_EQ(product(3, 5, 1, 0), "");
  // Between micro-operations of one list, and none between two instructions.
  EXPECT_THAT(RunChanged([](Program* p) {
                (*p)[kProduct].uop_end = 2, (*p)[kProduct].src_out = 0;
                (*p)[kLoadRows].x_pad_1 = 4;
              }),
              HasSubstr("reads entry 0 of ACC 1 execution(s)"));
  EXPECT_EQ(RunChanged([](Program* p) {
              for (int k : {kShift, kMin, kMax}) (*p)[k].iter_in = 1;
            }),
            "");
  // The ALU reads a source that it has just written.
  EXPECT_THAT(RunChanged([](Program* p) {
                HoneVtaInstruction& add = (*p)[kAddBias];
                add.uop_begin = 0, add.uop_end = 1, add.iter_out = 1, add.iter_in = 3, add.dst_in = 1, add.src_in = 0;
                add.dst_out = add.src_out = 0;
              }),
              HasSubstr("(ALU ADD) of compute: reads entry 0 of ACC 1 execution(s) after writing it"));
}

TEST(VtaChecks, ReportResultsThatNeverPassedTheAlu) {
  EXPECT_EQ(
      RunChanged([](Program* p) { (*p)[kStore].sram_base = 1; }),
      "instruction 10 (STORE) of store: stores entry 4 of OUT, which was loaded into ACC but never passed GEMM or "
      "ALU");
  EXPECT_THAT(RunChanged([](Program* p) { (*p)[kStore].sram_base = 100; }),
              HasSubstr("stores entry 100 of OUT, which this stream never computed"));
  // A shift by 0 is enough.
  EXPECT_EQ(RunChanged([](Program* p) {
              for (int k : {kShift, kMin, kMax}) (*p)[k].iter_in = 5;
              (*p)[kStore].sram_base = 1;
            }),
            "");
}

TEST(VtaChecks, RefuseWhatTheHardwareLacks) {
  const std::pair<std::function<void(Program*)>, const char*> cases[] = {
      {[](Program* p) { (*p)[kLoadRows].pop_prev = 1; },
       "instruction 2 (LOAD INP) of load: a token from or to the module before load, which does not exist"},
      {[](Program* p) { (*p)[kStore].push_next = 1; }, "the module after store"},
      {[](Program* p) { (*p)[kLoadWeights].x_pad_0 = 1; }, "the hardware pads only INP and ACC"},
      {[](Program* p) { (*p)[kLoadUops].y_size = 2; }, "the hardware loads micro-operations in one row only"},
      {[](Program* p) { (*p)[kLoadRows].x_size = 0, (*p)[kLoadRows].x_pad_0 = 1; }, "padding without entries"},
      {[](Program* p) { (*p)[kStore].memory = HONE_VTA_ACC; }, "STORE can read only OUT"},
      {[](Program* p) { (*p)[kStore].y_pad_0 = 1; }, "the hardware does not pad stores"},
      {[](Program* p) { (*p)[kLoadBias].memory = HONE_VTA_OUT; }, "LOAD cannot write this memory"},
      {[](Program* p) { (*p)[kLoadBias].memory = 7; }, "LOAD cannot write this memory"},
      {[](Program* p) { (*p)[kLoadBias].memory = HONE_VTA_ACC_8BIT; }, "this design cannot load ACC_8BIT"},
      {[](Program* p) { (*p)[kMin].alu_opcode = HONE_VTA_MUL; }, "this design cannot multiply in the ALU"},
      {[](Program* p) { (*p)[kMin].alu_opcode = 5; }, "unknown ALU operation"},
      {[](Program* p) { (*p)[kShift].imm = 16; },
       "instruction 7 (ALU SHR) of compute: the hardware shifts by -15 to 15 bits only"},
      {[](Program* p) { (*p)[kShift].imm = -16; },
       "instruction 7 (ALU SHR) of compute: the hardware shifts by -15 to 15 bits only"},
      {[](Program* p) { (*p)[kShift].use_imm = 0; }, "shifts entry 0 of ACC by"},
      {[](Program* p) { p->pop_back(); }, "a stream of 12 instructions does not end with FINISH"},
      {[](Program* p) { (*p)[kMin] = Finish(); }, "instruction 8 (FINISH) of compute: instructions after FINISH"},
      {[](Program* p) { p->clear(); }, "a stream of 0 instructions does not end with FINISH"},
  };
  for (const auto& [change, message] : cases) EXPECT_THAT(RunChanged(change), HasSubstr(message));
  // VTA's simulator has these two.
  HoneVtaConfig config = hone_vta_default_config();
  config.extensions = 1;
  EXPECT_EQ(RunChanged([](Program* p) { (*p)[kMin].alu_opcode = HONE_VTA_MUL; }, config), "");
  EXPECT_EQ(RunChanged(
                [](Program* p) {
                  (*p)[kLoadBias].memory = HONE_VTA_ACC_8BIT;
                  (*p)[kLoadBias].dram_base *= 4;
                },
                config),
            "");
}

TEST(VtaChecks, RefuseStreamsThatAreNoPrograms) {
  SimulatedDevice device;
  const uint64_t stream = device.Put(std::vector<unsigned char>(32, 0x05));
  EXPECT_EQ(hone_vta_run(device.get(), stream, 2), 1);
  EXPECT_EQ(device.message(), "instruction 0: unknown opcode 5");
  EXPECT_EQ(hone_vta_run(device.get(), stream, 3), 1);
  EXPECT_THAT(device.message(), HasSubstr("3 instructions at device address"));
  EXPECT_THAT(device.message(), HasSubstr("are not in one allocation"));
  EXPECT_EQ(hone_vta_run(device.get(), 0, 1), 1);
}

TEST(VtaChecks, StopBeforeARunTakesForEver) {
  SimulatedDevice device({.most_executions = 7});
  const Product product = PutProduct(&device);
  EXPECT_EQ(device.Run(product.program),
            "instruction 5 (GEMM) of compute: the run would execute more than 7 micro-operations");
  // By default, 2^28: one instruction could otherwise run for hours.
  EXPECT_EQ(RunChanged([](Program* p) {
              (*p)[kProduct].iter_out = (*p)[kProduct].iter_in = 16383, (*p)[kProduct].uop_end = 2;
            }),
            "instruction 5 (GEMM) of compute: the run would execute more than 268435456 micro-operations");
}

TEST(VtaChecks, RefuseToOverwriteTheRunningStream) {
  SimulatedDevice device;
  Product product = PutProduct(&device);
  // The next allocation of this size is the stream's.
  const uint64_t next = hone_vta_allocate(device.get(), 100);
  hone_vta_release(device.get(), next);
  product.program[kStore].dram_base = static_cast<uint32_t>(next / 16);
  EXPECT_THAT(device.Run(product.program), HasSubstr("overwrites the running instructions, at DRAM address"));
}

}  // namespace
}  // namespace hone::vta
