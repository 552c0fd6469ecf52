#include "record/store.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old_format.h"
#include "record/sqlite.h"
#include "sample.h"

// SQLite in this program calls these.
static int syncs = 0;
extern "C" int fsync(int fd) { return ++syncs, static_cast<int>(syscall(SYS_fsync, fd)); }
extern "C" int fdatasync(int fd) { return ++syncs, static_cast<int>(syscall(SYS_fdatasync, fd)); }

namespace hone::record {
namespace {

class StoreTest : public RecordTest {
 protected:
  void Fill() {
    std::unique_ptr<Store> store = Open();
    const int64_t session = *store->BeginSession(SampleSession());
    const Outcome wrong = Bad(2, TrialError::kWrong, "element 3: 1 instead of 2");
    Must(store->Append(session, {Good(1, {3e-3, 1e-3, 2e-3}), wrong}));
    Must(store->Append(session, {Good(4, {1e-3})}));
    Must(store->EndSession(session, 2000));
  }
};

TEST_F(StoreTest, WhatIsWrittenIsReadAgain) {
  Fill();
  std::unique_ptr<Store> store = OpenToRead();
  EXPECT_EQ(store->meta().workload, SampleMeta().workload);
  const std::vector<Trial> trials = *store->Trials();
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[0].ordinal, 0);
  EXPECT_EQ(trials[0].outcome.config, SampleConfig(1));
  EXPECT_EQ(trials[0].outcome.samples, (std::vector<double>{3e-3, 1e-3, 2e-3}));
  EXPECT_EQ(trials[0].outcome.median, 2e-3);
  EXPECT_EQ(trials[0].outcome.steps, "vectorize out m");
  EXPECT_EQ(trials[1].outcome.error, TrialError::kWrong);
  EXPECT_EQ(trials[1].outcome.error_text, "element 3: 1 instead of 2");
  EXPECT_EQ(trials[2].ordinal, 2);
  const std::vector<Session> sessions = *store->Sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].seed, 18446744073709551615ull);
  EXPECT_EQ(sessions[0].ended, 2000);
  EXPECT_TRUE(store->Verify()->empty());
}

TEST_F(StoreTest, BestIsOfOneFingerprintOnly) {
  Fill();
  std::unique_ptr<Store> store = Open();
  EXPECT_EQ((*store->Best(""))->ordinal, 2);
  const int64_t other = *store->BeginSession(SampleSession("f2"));
  EXPECT_FALSE(store->Best("")->has_value());  // the newest fingerprint has none yet
  Outcome pruned = Good(16, {1e-5});
  pruned.state = TrialState::kPruned;
  ASSERT_TRUE(store->Append(other, {Good(8, {9e-3}), pruned}).ok());
  EXPECT_EQ((*store->Best(""))->ordinal, 3);
  EXPECT_EQ((*store->Best("f1"))->ordinal, 2);
  EXPECT_EQ((*store->Best("f1"))->outcome.samples.size(), 1u);
}

TEST_F(StoreTest, RemeasuringAppendsSamplesAndMovesTheMedian) {
  Fill();
  std::unique_ptr<Store> store = Open();
  ASSERT_TRUE(store->Remeasure({{0, Good(1, {1.5e-3, 1.6e-3, 1.7e-3})}}).ok());
  const Trial t = (*store->Trials())[0];
  EXPECT_EQ(t.outcome.samples.size(), 6u);
  EXPECT_EQ(t.outcome.median, 1.6e-3);
  EXPECT_EQ(t.rounds, (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(t.LastRound(), (std::vector<double>{1.5e-3, 1.6e-3, 1.7e-3}));
  EXPECT_EQ((*store->Best("f1"))->rounds.size(), 1u);
  EXPECT_TRUE(store->Verify()->empty());
}

TEST_F(StoreTest, AnotherTaskIsRefused) {
  Fill();
  Meta other = SampleMeta();
  other.workload = "dense(f32[1,4], f32[9,4])";
  const Status refused = Store::OpenForWriting(path_, other).status();
  EXPECT_EQ(refused.kind(), StatusKind::kInvalid);
  EXPECT_THAT(refused.message(), HasSubstr("its workload is"));
}

// A changed template supersedes only its own trials; they count again when its version returns.
TEST_F(StoreTest, VersionsBelongToTrials) {
  const auto ordinals = [](const std::vector<Trial>& trials) {
    std::vector<int64_t> list;
    for (const Trial& trial : trials) list.push_back(trial.ordinal);
    return list;
  };
  Meta meta = SampleMeta();
  const auto run = [&](int64_t dense, const std::string& name, double seconds) {
    meta.templates = {{"dense", dense}, {"other", 4}};
    Outcome outcome = Good(8, {seconds}, Digest128(std::to_string(seconds)).Hex());
    outcome.config.template_name = name;
    Append({outcome}, SampleSession(), meta);
    EXPECT_EQ(Findings(), std::vector<std::string>());
  };
  run(1, "dense", 1e-3);
  run(1, "other", 2e-3);
  run(2, "dense", 3e-3);
  auto store = OpenToRead();
  EXPECT_EQ(ordinals(*store->Trials()), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((*store->Best("f1"))->ordinal, 1);
  const std::vector<Trial> all = *store->AllTrials();
  EXPECT_EQ(ordinals(all), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(all[0].superseded);
  EXPECT_EQ(all[0].template_version, 1);
  EXPECT_EQ(all[1].template_version, 4);
  EXPECT_EQ(*store->CountTrials(), 3);
  store.reset();
  Open();  // "other" is gone
  store = OpenToRead();
  EXPECT_EQ(ordinals(*store->Trials()), std::vector<int64_t>{0});
  EXPECT_EQ((*store->Best("f1"))->ordinal, 0);
}

TEST_F(StoreTest, OldFilesAreReadAndMigratedWithTheirTrials) {
  for (const int version : {1, 2}) {
    SCOPED_TRACE(version);
    ASSERT_TRUE(Remove(path_).ok());
    Fill();
    const size_t trials = Open()->Trials()->size();
    MakeOld(path_, version);
    auto old = OpenToRead();
    EXPECT_EQ(old->meta().templates, SampleMeta().templates);
    EXPECT_EQ(old->Trials()->size(), trials);
    EXPECT_EQ(old->Trials()->front().template_version, 1);
    EXPECT_EQ(*old->Verify(), std::vector<std::string>());
    old.reset();
    EXPECT_EQ(Open()->Trials()->size(), trials) << "after the migration";
    EXPECT_EQ(*Open()->Verify(), std::vector<std::string>());
    Meta newer = SampleMeta();
    newer.templates["dense"] = 2;
    EXPECT_EQ((*Store::OpenForWriting(path_, newer))->Trials()->size(), 0u);
    EXPECT_FALSE(OpenToRead()->Best("f1")->has_value());
  }
}

TEST_F(StoreTest, ANewerFormatACutFileAndAFolderAreRefused) {
  Must(MakeDirs(path_));
  ExpectRefused(StatusKind::kIo, path_ + ": cannot open: it is a folder, not a file");
  Must(RemoveTree(path_));
  Fill();
  const std::string bytes = *ReadFile(path_);
  ASSERT_TRUE(WriteFileAtomic(path_, bytes.substr(0, bytes.size() - 4096)).ok());
  ExpectRefused(StatusKind::kCorrupt, "cut short");
  ASSERT_TRUE(WriteFileAtomic(path_, bytes).ok());
  Sql("PRAGMA user_version = 99");
  ExpectRefused(StatusKind::kUnsupported, "99");
}

TEST_F(StoreTest, SomethingElseIsRefused) {
  ASSERT_TRUE(MakeDirs(DirName(path_)).ok());
  ASSERT_TRUE(WriteFileAtomic(path_, "hello").ok());
  EXPECT_EQ(Store::OpenForReading(path_).status().kind(), StatusKind::kCorrupt);
  ASSERT_TRUE(Remove(path_).ok());
  Sql("CREATE TABLE songs(name TEXT)");
  EXPECT_EQ(Store::OpenForWriting(path_, SampleMeta()).status().kind(), StatusKind::kInvalid);
}

TEST_F(StoreTest, AMissingFileIsNotMadeByReadingAndAnEmptyOneIsFilled) {
  EXPECT_EQ(Store::OpenForReading(path_).status().kind(), StatusKind::kNotFound);
  EXPECT_FALSE(Exists(path_));
  ASSERT_TRUE(MakeDirs(DirName(path_)).ok());
  ASSERT_TRUE(WriteFileAtomic(path_, "").ok());
  EXPECT_EQ(Store::OpenForReading(path_).status().kind(), StatusKind::kCorrupt);
  EXPECT_NE(Open(), nullptr);
}

TEST_F(StoreTest, VerifyFindsWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"DELETE FROM sample WHERE trial = 1; DELETE FROM trial WHERE ordinal = 1", "a trial is missing"},
      {"UPDATE trial SET config_digest = 'zz' WHERE ordinal = 0", "digest"},
      {"UPDATE trial SET median = 7 WHERE ordinal = 2", "its median is 7, but its 1 samples give 0.001"},
      {"UPDATE trial SET artifact_digest = 'xyz' WHERE ordinal = 0",
       "trial 0: its artifact digest `xyz` is not hexadecimal"},
      {"UPDATE trial SET steps = 'vectorise out m' WHERE ordinal = 2", "did you mean `vectorize`?"},
      {"INSERT INTO sample(trial, sequence, round, seconds) VALUES (99, 0, 0, 0.001)", "refers to a missing trial"},
  };
  for (const auto& [sql, finding] : cases) {
    ASSERT_TRUE(Remove(path_).ok());
    Fill();
    Sql(sql);
    const std::vector<std::string> findings = Findings();
    ASSERT_EQ(findings.size(), 1u) << sql;
    EXPECT_THAT(findings[0], HasSubstr(finding));
  }
}

TEST_F(StoreTest, VerifyFindsADoubledTrial) {
  Fill();
  Append({Good(4, {1e-3})});
  EXPECT_EQ(Findings(), std::vector<std::string>{"trials 2 and 3 are of the same config"});
}

TEST_F(StoreTest, VerifyComparesTheMedianWithTheLastRoundOnly) {
  Fill();
  Must(Open()->Remeasure({{0, Good(1, {5e-3, 7e-3})}}));
  EXPECT_TRUE(Findings().empty());
  Sql("UPDATE trial SET median = 3e-3 WHERE ordinal = 0");  // that of all five
  EXPECT_EQ(Findings(), std::vector<std::string>{"trial 0: its median is 0.003, but its 2 samples give 0.006"});
}

// With AutoTVM's timing in blocks, the trimmed mean replaces the median.
TEST_F(StoreTest, VerifyTakesTheTrimmedMeanOfBlocks) {
  Fill();
  Outcome blocks = Good(8, {1e-3, 2e-3, 4e-3, 4.5e-3, 9e-3});
  blocks.median = TrimmedMean(blocks.samples);
  ASSERT_NE(blocks.median, Median(blocks.samples));
  Append({blocks}, SampleSession("f1; number=4 repeat=5 min_repeat_ms=0 trimmed"));
  EXPECT_TRUE(Findings().empty());
  Sql("UPDATE trial SET median = 4.1e-3 WHERE ordinal = 3");  // neither that nor the median
  EXPECT_EQ(Findings().size(), 1u);
  Sql("UPDATE trial SET median = 3.5e-3 WHERE ordinal = 3");
  EXPECT_TRUE(Findings().empty());
  Sql("UPDATE session SET fingerprint = 'f1; number=4 repeat=5 min_repeat_ms=0'");  // as it was when medians counted
  EXPECT_EQ(Findings().size(), 1u);
  Sql("UPDATE session SET fingerprint = 'f1'");
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(StoreTest, ATwinHasTheMedianOfTheTrialThatWasTimedAndNoSamples) {
  Fill();
  std::unique_ptr<Store> store = Open();
  const int64_t session = *store->BeginSession(SampleSession());
  Outcome timed = Good(32, {4e-3}, "beef"), twin = Good(64, {}, "beef");
  twin.median = 4e-3;
  ASSERT_TRUE(store->Append(session, {timed, twin}).ok());
  EXPECT_TRUE(store->Verify()->empty());
  timed.samples = {2e-3, 2e-3};
  timed.median = twin.median = 2e-3;
  ASSERT_TRUE(store->Remeasure({{3, timed}, {4, twin}}).ok());
  EXPECT_TRUE(store->Verify()->empty());
  EXPECT_EQ((*store->Trials())[4].outcome.median, 2e-3);
  EXPECT_TRUE((*store->Trials())[4].rounds.empty());
  store.reset();
  Sql("UPDATE trial SET median = 1 WHERE ordinal = 4");
  EXPECT_EQ(Findings().at(0), "trial 4: its median is 1, but trial 3, which is the same artifact, has 0.002");
  Sql("UPDATE trial SET artifact_digest = 'f00d' WHERE ordinal = 3");
  EXPECT_EQ(Findings().at(0), "trial 4: ok, but neither it nor an earlier trial of its artifact has a sample");
}

TEST_F(StoreTest, RemeasuringStoresAllOrNothing) {
  Fill();
  std::unique_ptr<Store> store = Open();
  EXPECT_FALSE(store->Remeasure({{0, Good(1, {9e-3})}, {99, Good(4, {9e-3})}}).ok());
  EXPECT_EQ((*store->Trials())[0].outcome.median, 2e-3);
  EXPECT_TRUE(store->Verify()->empty());
}

TEST_F(StoreTest, TuningSecondsOfASessionOnlyGrow) {
  Fill();
  std::unique_ptr<Store> store = Open();
  const int64_t session = *store->BeginSession(SampleSession());
  ASSERT_TRUE(store->Append(session, {Good(8, {1e-3})}, 12.5).ok());
  ASSERT_TRUE(store->Append(session, {Good(16, {1e-3})}, 3).ok());
  EXPECT_EQ(store->Sessions()->back().tuning_seconds, 12.5);
  EXPECT_EQ(store->Sessions()->front().tuning_seconds, 0);
}

// SQLite writes page 1, with the new number of pages, before the new pages: a kill in between leaves a file shorter
// than its header says, and a journal that repairs it.
class KilledCommit : public StoreTest {
 protected:
  static std::vector<Outcome> Large(int from, int count) {
    std::vector<Outcome> outcomes;
    for (int i = 0; i < count; ++i) {
      outcomes.push_back(Good(from + i, {1e-3}));
      outcomes.back().steps = "vectorize out " + std::string(5000, 's');
    }
    return outcomes;
  }

  void Kill() {
    Append(Large(0, 40));
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core = {0, 0};
      const rlimit size = {static_cast<rlim_t>(*FileSize(path_)), static_cast<rlim_t>(*FileSize(path_))};
      setrlimit(RLIMIT_CORE, &no_core);
      setrlimit(RLIMIT_FSIZE, &size);  // the first page beyond the file's end ends the process
      signal(SIGXFSZ, SIG_DFL);
      auto store = Store::OpenForWriting(path_, SampleMeta());
      if (store.ok()) (void)(*store)->Append(1, Large(100, 40)).ok();
      _exit(0);
    }
    int raw = 0;
    ASSERT_EQ(waitpid(child, &raw, 0), child);
    ASSERT_TRUE(WIFSIGNALED(raw) && WTERMSIG(raw) == SIGXFSZ) << raw;
    const std::string bytes = *ReadFile(path_);
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
    const size_t pages = byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31);
    ASSERT_LT(bytes.size(), pages * (byte(16) << 8 | byte(17))) << "the state that this test is about";
    ASSERT_GT(*FileSize(path_ + "-journal"), 0);
  }
};

TEST_F(KilledCommit, OpensForReading) {
  Kill();
  EXPECT_EQ(*OpenToRead()->CountTrials(), 40);
}

TEST_F(KilledCommit, OpensForWritingAndGoesOn) {
  Kill();
  Must(Open()->Append(1, Large(100, 40)));
  EXPECT_EQ(*Open()->CountTrials(), 80);
  EXPECT_TRUE(Findings().empty());
}

TEST_F(StoreTest, AFailedAppendStoresNothing) {
  Fill();
  std::unique_ptr<Store> store = Open();
  // The second outcome violates the table's constraint that a failed trial names its error.
  EXPECT_FALSE(store->Append(1, {Good(32, {1e-3}), Bad(64, TrialError::kNone, "")}).ok());
  EXPECT_EQ(*store->CountTrials(), 3);
  EXPECT_TRUE(store->Append(1, {Good(32, {1e-3})}).ok());
}

TEST_F(StoreTest, WhatIsStoredIsSyncedToTheDisk) {
  Fill();
  const std::unique_ptr<Store> store = Open();
  for (const int64_t unroll : {8, 16}) {
    syncs = 0;
    Must(store->Append(1, {Good(unroll, {1e-3})}));
    EXPECT_GE(syncs, 2) << "the journal, then the file";
  }
}

TEST_F(StoreTest, AWriterInATransactionLocksOthersOut) {
  Fill();
  const auto other = Must(Database::Open(path_, OpenMode::kWrite));
  Must(other->Execute("BEGIN EXCLUSIVE"));
  const Status s = Store::OpenForReading(path_).status();
  EXPECT_EQ(s.kind(), StatusKind::kLocked) << s.message();
}

}  // namespace
}  // namespace hone::record
