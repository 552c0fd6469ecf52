// Bad input: one clear line, the right exit code, nothing written. tests/error has the common errors of all tools.
#include "tune_folder.h"

namespace hone {
namespace {

class RefuseTest : public TuneFolder {};

TEST_F(RefuseTest, Flags) {
  ExpectMisused(TuneTask({"--db", kDb}), "--settings");
  ExpectMisused(TuneTask({"--settings", "s.json", "--db", kDb}), "--stamp");
  ExpectMisused(TuneTask(Words{"--settings", "s.json", "--db", kDb, "--stamp", "."} + kFake),
                "it is a folder, not a file; --stamp is to be a file");
  ExpectMisused(Tune({"--trial", "0", "--compile-only"}), "exclude");
  ExpectMisused(Tune({"--explain", "0", "--show", "asm"}), "assembly");
  ExpectMisused(Run({HONE_REPLAY, "none.replay", "--seeds", "0"}), "--seeds");
  ExpectMisused(Run({HONE_REPLAY, "none.replay", "--like", "autotmv"}),
                "--like: knows no `autotmv`; did you mean `autotvm`?");
  EXPECT_FALSE(Has(kDb));
}

TEST_F(RefuseTest, ATunerThatIsNotKnownAndATaskOfAnotherId) {
  const Words before = Must(ListDir(Path("")));
  Write("s.json", R"({"version": 1, "tuner": "randm"})");
  ExpectMisused(Tune(kFake), "s.json: /tuner: unknown tuner `randm`; did you mean `random`?");
  WriteSettings(40);
  Write("t.json", ReplaceAll(Read("t.json"), "pad=1,1,1,1", "pad=0,0,0,0"));
  ExpectMisused(Tune(kFake), "/id");
  EXPECT_EQ(Must(ListDir(Path(""))), before) << "no lock, no log, no records";
}

TEST_F(RefuseTest, AFolderInThePlaceOfTheRecords) {
  ExpectOk(Run({"mkdir", "records"}));
  const Words before = Must(ListDir(Path("")));
  ExpectRefused(TuneTask(Words{"--settings", "s.json", "--stamp", kStamp, "--db", "records"} + kFake), kFailed,
                {"records: cannot open: it is a folder, not a file"});
  EXPECT_EQ(Must(ListDir(Path(""))), before) << "no lock, no log, no stamps";
}

}  // namespace
}  // namespace hone
