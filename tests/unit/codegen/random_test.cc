// Random programs give the same results compiled and interpreted.
#include "compiled.h"
#include "random_program.h"

namespace hone::codegen {
namespace {

TEST(Random, ProgramsAgreeWithTheInterpreter) {
  Bytes in(kRandomSize * 8), out(kRandomSize * 8);
  for (int64_t i = 0; i < kRandomSize; ++i) in[static_cast<size_t>(i * 8)] = static_cast<unsigned char>(i * 7 % 31);
  auto pool = Must(runtime::ThreadPool::Create(1, false));
  // One object for many functions, as linking and loading each would take most of the time.
  std::vector<ir::Function> functions;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    functions.push_back(RandomProgram(seed).Make());
    functions.back().name = "f" + std::to_string(seed);
  }
  TempDir dir = *TempDir::Create();
  auto code = Must(CompileToObject(functions, HostForTest(), {}));
  Must(LinkShared({{"all.o", code.object}}, {}, dir.Join("f.so")));
  auto module = Must(runtime::LoadedModule::Open(dir.Join("f.so")));
  int ran = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    std::vector<Bytes> expected = {in, out};
    Must(ir::Run(functions[i], {{expected[0].data(), kRandomSize}, {expected[1].data(), kRandomSize}}));
    auto runner = Must(runtime::KernelRunner::Create(module, code.entries[i], &pool));
    auto a = *runtime::AlignedBuffer::Create(kRandomSize * 8, true);
    auto b = *runtime::AlignedBuffer::Create(kRandomSize * 8, true);
    memcpy(a.data(), in.data(), in.size());
    runner.Run({a.data(), b.data()});
    EXPECT_EQ(Bytes(b.data(), b.data() + kRandomSize * 8), expected[1]) << "seed " << i;
    EXPECT_EQ(Bytes(a.data(), a.data() + kRandomSize * 8), in) << "seed " << i;
    ran += expected[1] != out;
  }
  EXPECT_GT(ran, 30) << "most programs store something";
}

}  // namespace
}  // namespace hone::codegen
