// Unusable record files: each kind of damage has its own message, for every tool that reads them, and nobody's file is
// ever overwritten.
#include "base/rng.h"
#include "error_folder.h"

namespace hone {
namespace {

class RecordFiles : public ErrorFolder {
 protected:
  void SetUp() override {
    ErrorFolder::SetUp();
    const Words tasks = Tasks("one");
    bad_ = "bad/records/" + tasks.at(0) + ".db";
    good_ = Records(tasks[0]);
    ASSERT_GT(good_.size(), 4096u);
    // The record files of a network with one of them damaged.
    for (const std::string& id : tasks) Write("bad/records/" + id + ".db", Records(id));
  }

  std::string Records(const std::string& id) const { return Read("work/records/cpu/" + id + ".db"); }

  std::vector<Words> Readers() const {
    return {{"hone-records", "list", bad_},
            With("hone-pick-best", "--records", "bad/records"),
            With("hone-report", "--records", "bad/records"),
            With("hone-tune", "--db", bad_)};
  }

  void ExpectRefusedByAll(const std::string& bytes, const std::string& part) {
    Write(bad_, bytes);
    for (const auto& argv : Readers()) ExpectRefused(argv, {bad_, part});
    EXPECT_EQ(Read(bad_), bytes) << "a file that is refused is left alone";
  }

  std::string bad_, good_;
};

TEST_F(RecordFiles, OfANewerVersionTornOrOfAnotherKind) {
  std::string newer = good_;
  newer[63] = 99;  // user_version: bytes 60 to 63 of an SQLite file, big-endian
  ExpectRefusedByAll(newer, "newer");
  ExpectRefusedByAll(good_.substr(0, good_.size() / 3), "cut short");
  ExpectRefusedByAll("these are no records\n", "not a record file");
  std::string other = good_;
  other[71] = static_cast<char>(other[71] ^ 1);  // application_id: bytes 68 to 71
  ExpectRefusedByAll(other, "a database of another program");
}

// As left by a tuner killed before its first write: readers report it, and the tuner starts over.
TEST_F(RecordFiles, ThatAreEmpty) {
  Write(bad_, "");
  for (const Words& argv : Readers()) {
    if (argv[0] != "hone-tune") ExpectRefused(argv, {bad_});
  }
  ExpectOk(RunTool(With("hone-tune", "--db", bad_)));
  EXPECT_GT(Read(bad_).size(), 4096u);
  Delete("new");
}

TEST_F(RecordFiles, WithRandomDamage) {
  Rng rng(23);
  for (int round = 0; round < 10; ++round) {
    std::string bytes = good_;
    for (int i = 0; i < 20; ++i) bytes[rng.UniformInt(bytes.size())] = static_cast<char>(rng.Next());
    for (const auto& argv : Readers()) {
      Write(bad_, bytes);
      const ExitStatus status = RunTool(argv).status;
      EXPECT_EQ(status.signal, 0) << argv[0] << ", round " << round;
      EXPECT_LE(status.code, 2) << argv[0] << ", round " << round;
    }
  }
  ASSERT_TRUE(RemoveTree(Path("new")).ok());
}

}  // namespace
}  // namespace hone
