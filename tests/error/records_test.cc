// Record files that cannot be used: each damage has its own message, for every tool that reads them, and somebody's
// file is never overwritten.
#include <sqlite3.h>

#include "base/json.h"
#include "base/rng.h"
#include "error_folder.h"

namespace hone {
namespace {

class RecordFiles : public ErrorFolder {
 protected:
  void SetUp() override {
    task_ = project_->Tasks("one").at(0);
    good_ = project_->Read("work/records/cpu/" + task_ + ".db");
    ASSERT_GT(good_.size(), 4096u);
    // The record files of a network with one of them spoilt.
    for (const std::string& id : project_->Tasks("one"))
      project_->Write(Bad(id), project_->Read("work/records/cpu/" + id + ".db"));
  }

  static std::string Bad(const std::string& id) { return "bad/records/" + id + ".db"; }

  std::vector<std::vector<std::string>> Readers() const {
    return {With("hone-tune", "--db", Bad(task_)),
            With("hone-pick-best", "--records", "bad/records"),
            With("hone-report", "--records", "bad/records"),
            {"hone-records", "list", Bad(task_)}};
  }

  void ExpectRefusedByAll(const std::string& bytes, const std::string& part) {
    project_->Write(Bad(task_), bytes);
    for (const auto& argv : Readers()) ExpectRefused(argv, {Bad(task_), part});
    EXPECT_EQ(project_->Read(Bad(task_)), bytes) << "a file that is refused is left alone";
  }

  std::string task_, good_;
};

TEST_F(RecordFiles, OfANewerVersionTornOrOfAnotherKind) {
  std::string newer = good_;
  newer[63] = 99;  // user_version: bytes 60 to 63 of an SQLite file, big-endian
  ExpectRefusedByAll(newer, "newer");
  ExpectRefusedByAll(good_.substr(0, good_.size() / 3), "cut short");
  ExpectRefusedByAll("these are no records\n", "not a record file");
  std::string other = good_;
  other[71] = static_cast<char>(other[71] ^ 1);  // application_id: bytes 68 to 71
  ExpectRefusedByAll(other, "");
}

TEST_F(RecordFiles, OfAnotherTask) {
  project_->Write(Bad(task_), project_->Read("work/records/cpu/" + project_->Tasks("one").at(1) + ".db"));
  ExpectRefused(With("hone-tune", "--db", Bad(task_)), {Bad(task_), "move"});
  ExpectRefused(With("hone-pick-best", "--records", "bad/records"), {Bad(task_), "move"});
}

TEST_F(RecordFiles, ThatAnotherProgramHasLocked) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(project_->Path(Bad(task_)).c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  // Each waits for some seconds: two stand for those that write and those that read.
  for (const auto& argv : {Readers().front(), Readers().back()}) {
    const CommandResult result = RunTool(argv);
    EXPECT_FALSE(result.status.ok()) << argv[0] << Text(result);
    EXPECT_NE(result.err.find("locked"), std::string::npos) << argv[0] << Text(result);
  }
  sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(project_->Read(Bad(task_)), good_);
}

TEST_F(RecordFiles, WithRandomDamage) {
  Rng rng(23);
  for (int round = 0; round < 10; ++round) {
    std::string bytes = good_;
    for (int i = 0; i < 20; ++i) bytes[rng.UniformInt(bytes.size())] = static_cast<char>(rng.Next());
    for (const auto& argv : Readers()) {
      project_->Write(Bad(task_), bytes);
      const CommandResult result = RunTool(argv);
      EXPECT_EQ(result.status.signal, 0) << argv[0] << ", round " << round << "\n" << Text(result);
      EXPECT_LE(result.status.code, 2) << Text(result);
    }
  }
  ASSERT_TRUE(RemoveTree(project_->Path("new")).ok());
}

}  // namespace
}  // namespace hone
