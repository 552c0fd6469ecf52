// Bad input: one clear line, the right exit code, nothing written.
#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "tune_folder.h"

namespace hone {
namespace {

class RefuseTest : public TuneFolder {
 protected:
  void Expect(const CommandResult& result, int code, const std::string& text) {
    EXPECT_EQ(result.status.code, code) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << "expected: " << text << "\nfound: " << result.err;
    EXPECT_EQ(Split(std::string(Trim(result.err)), '\n').size(), 1u) << result.err;
    EXPECT_FALSE(Exists(Stamp()));
  }

  void Write(const std::string& name, const std::string& text) { ASSERT_TRUE(WriteFileAtomic(Path(name), text).ok()); }
};

TEST_F(RefuseTest, Flags) {
  Expect(Run({"--setings", "x"}), kMisused, "--settings");
  Expect(RunOnly({}), kMisused, "--task");
  Expect(RunOnly({"--task", Path("t.json"), "--db", Db()}), kMisused, "--settings");
  Expect(RunOnly({"--task", Path("t.json"), "--settings", Path("s.json"), "--db", Db()}), kMisused, "--stamp");
  Expect(RunOnly({"--task", Path("t.json"), "--settings", Path("s.json"), "--db", Db(), "--stamp", Path(""),
                  "--fake-measure", "7"}),
         kMisused, "this is a folder; --stamp is to be a file");
  Expect(Run({"--list-space", "--compile-only"}), kMisused, "exclude");
  Expect(Run({"--explain", "0", "--show", "asm"}), kMisused, "assembly");
  Expect(Run({"--trial", "99999999999"}), kMisused, "points");
  Expect(Run({"--trial", "-1"}), kMisused, "--trial");
  Expect(RunOnly({"--doctor"}), kMisused, "run hone-doctor");
  Expect(RunOnly({"--replay", Path("none.replay"), "--seeds", "2"}), kMisused, "run hone-replay");
  Expect(RunTool({HONE_REPLAY, Path("none.replay"), "--seeds", "0"}), kMisused, "--seeds");
  Expect(RunTool({HONE_REPLAY, Path("none.replay"), "--like", "autotmv"}), kMisused,
         "--like: knows no `autotmv`; did you mean `autotvm`?");
  EXPECT_FALSE(Exists(Db()));
}

TEST_F(RefuseTest, Settings) {
  Write("s.json", R"({"version": 1, "trails": 40})");
  Expect(Run(kFake), kMisused, "trials");
  Write("s.json", R"({"version": 1, "trials": 0})");
  Expect(Run(kFake), kMisused, "s.json");
  Write("s.json", R"({"version": 1, "trials": 40)");
  Expect(Run(kFake), kMisused, "s.json:1");
  Write("s.json", R"({"version": 99})");
  Expect(Run(kFake), kMisused, "version");
  const auto before = ListDir(Path(""));
  ASSERT_TRUE(before.ok());
  Write("s.json", R"({"version": 1, "tuner": "randm"})");
  Expect(Run(kFake), kMisused, "s.json: /tuner: unknown tuner `randm`; did you mean `random`?");
  EXPECT_EQ(*ListDir(Path("")), *before);  // no lock, no log, no records
  EXPECT_FALSE(Exists(Db()));
  ASSERT_TRUE(Remove(Path("s.json")).ok());
  Expect(Run(kFake), kMisused, "s.json");
}

TEST_F(RefuseTest, Tasks) {
  const auto good = ReadFile(Path("t.json"));
  ASSERT_TRUE(good.ok());
  Write("t.json", good->substr(0, good->size() / 2));
  Expect(Run(kFake), kMisused, "t.json:1");
  Write("t.json", ReplaceAll(*good, "\"flop\"", "\"flops\""));
  Expect(Run(kFake), kMisused, "flop");
  Write("t.json", ReplaceAll(*good, "f32[32,32,3,3]", "f32[32,32,3,3"));
  Expect(Run(kFake), kMisused, "/workload");
  Write("t.json", ReplaceAll(*good, "pad=1,1,1,1", "pad=0,0,0,0"));
  Expect(Run(kFake), kMisused, "/id");
  EXPECT_FALSE(Exists(Db()));
}

TEST_F(RefuseTest, OperatorsThatAreNotKnownAndConvolutionsWithoutOutput) {
  WriteTask("conv2dd(f32[1,32,14,14], f32[32,32,3,3])");
  Expect(Run(kFake), kMisused, "conv2d");
  WriteTask("conv2d(f32[1,32,2,2], f32[32,32,3,3])");
  Expect(Run(kFake), kMisused, "t.json");
  EXPECT_FALSE(Exists(Db()));
}

// The messages of records that cannot be used differ: each says what to do.
TEST_F(RefuseTest, Records) {
  ASSERT_EQ(Run(kFake).status.code, kDone);
  ASSERT_TRUE(Remove(Stamp()).ok());
  auto good = ReadFile(Db());
  ASSERT_TRUE(good.ok());

  std::string newer = *good;
  newer[63] = 99;  // user_version: bytes 60 to 63 of an SQLite file, big-endian
  Write("records/t.db", newer);
  const CommandResult refused = Run(kFake);
  Expect(refused, kMisused, "newer");

  Write("records/t.db", good->substr(0, good->size() / 3));
  const CommandResult truncated = Run(kFake);
  Expect(truncated, kFailed, "t.db");
  EXPECT_NE(truncated.err.find("cut short"), std::string::npos) << truncated.err;

  Write("records/t.db", "these are no records");
  Expect(Run(kFake), kFailed, "t.db");
  EXPECT_EQ(*ReadFile(Db()), "these are no records") << "somebody's file is left alone";

  Write("records/t.db", *good);
  EXPECT_EQ(Run(kFake).status.code, kDone);
}

TEST_F(RefuseTest, RecordsOfAnotherTask) {
  ASSERT_EQ(Run(kFake).status.code, kDone);
  ASSERT_TRUE(Remove(Stamp()).ok());
  WriteTask("conv2d(f32[1,16,14,14], f32[32,16,3,3], pad=1,1,1,1)");
  Expect(Run(kFake), kMisused, "move the file away");
}

}  // namespace
}  // namespace hone
