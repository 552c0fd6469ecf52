// Random programs: compiled and interpreted alike.
#include "compiled.h"
#include "random_program.h"

namespace hone::codegen {
namespace {

TEST(Random, ProgramsAgreeWithTheInterpreter) {
  Bytes in(kRandomSize * 8), out(kRandomSize * 8);
  for (int64_t i = 0; i < kRandomSize; ++i) in[static_cast<size_t>(i * 8)] = static_cast<unsigned char>(i * 7 % 31);
  auto pool = runtime::ThreadPool::Create(1, false);
  ASSERT_TRUE(pool.ok());
  // One object of many functions: linking and loading each would be most of the time.
  std::vector<ir::Function> functions;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    functions.push_back(RandomProgram(seed).Make());
    functions.back().name = "f" + std::to_string(seed);
  }
  TempDir dir = *TempDir::Create();
  auto code = CompileToObject(functions, HostForTest(), {});
  ASSERT_TRUE(code.ok()) << code.status().message();
  Status linked = LinkShared({{"all.o", code->object}}, {}, dir.Join("f.so"));
  ASSERT_TRUE(linked.ok()) << linked.message();
  auto module = runtime::LoadedModule::Open(dir.Join("f.so"));
  ASSERT_TRUE(module.ok());
  int ran = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    std::vector<Bytes> expected = {in, out};
    Status status = ir::Run(functions[i], {{expected[0].data(), kRandomSize}, {expected[1].data(), kRandomSize}});
    ASSERT_TRUE(status.ok()) << "seed " << i << ": " << status.message();
    auto runner = runtime::KernelRunner::Create(*module, code->entries[i], &*pool);
    ASSERT_TRUE(runner.ok());
    auto a = *runtime::AlignedBuffer::Create(kRandomSize * 8, true);
    auto b = *runtime::AlignedBuffer::Create(kRandomSize * 8, true);
    memcpy(a.data(), in.data(), in.size());
    runner->Run({a.data(), b.data()});
    EXPECT_EQ(Bytes(b.data(), b.data() + kRandomSize * 8), expected[1]) << "seed " << i;
    EXPECT_EQ(Bytes(a.data(), a.data() + kRandomSize * 8), in) << "seed " << i;
    ran += expected[1] != out;
  }
  EXPECT_GT(ran, 30) << "most programs store something";
}

}  // namespace
}  // namespace hone::codegen
