#include "record/merge.h"

#include "old_format.h"
#include "record/forget.h"
#include "sample.h"

namespace hone::record {
namespace {

class MergeTest : public RecordTest {
 protected:
  // Adds a session to the file.
  void Fill(const std::string& name, const std::string& fingerprint, double started,
            const std::vector<Outcome>& outcomes, const Meta& meta = SampleMeta()) {
    Session session = SampleSession(fingerprint);
    session.started = started;
    Append(outcomes, session, meta, Path(name));
  }
  std::vector<Trial> Trials(const std::string& name) {
    auto store = Must(Store::OpenForReading(Path(name)));
    EXPECT_EQ(*store->Verify(), std::vector<std::string>());
    return *store->Trials();
  }
  std::vector<std::string> Machines(const std::string& name) {
    std::vector<std::string> machines;
    const auto sessions = Must(Must(Store::OpenForReading(Path(name)))->Sessions());
    for (const Session& s : sessions) machines.push_back(s.fingerprint);
    return machines;
  }
  MergeCount Merge(const std::string& out, const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const std::string& name : names) files.push_back(Path(name));
    return Must(MergeRecords(Path(out), files));
  }

  void ExpectNothingIsLeft() {
    const auto names = Must(ListDir(dir_.path()));
    for (const std::string& name : names) EXPECT_THAT(name, Not(HasSubstr("merging")));
  }
};

// A separate artifact, as for different candidates.
Outcome Of(int64_t unroll, const std::vector<double>& samples) {
  return Good(unroll, samples, "a" + std::to_string(unroll));
}

TEST_F(MergeTest, TrialsOfTwoMachinesStandSideBySide) {
  Fill("a.db", "here", 1000, {Of(1, {1e-3}), Of(2, {2e-3}), Bad(3, TrialError::kCrash, "signal 11")});
  Fill("b.db", "there", 900, {Of(1, {5e-3, 4e-3}), Of(4, {6e-3})});
  const MergeCount count = Merge("out.db", {"a.db", "b.db"});
  EXPECT_EQ(count.files, 2);
  EXPECT_EQ(count.added, 5);
  EXPECT_EQ(count.known + count.replaced, 0);
  const std::vector<Trial> trials = Trials("out.db");
  ASSERT_EQ(trials.size(), 5u);
  EXPECT_EQ(Machines("out.db"), (std::vector<std::string>{"here", "there"}));
  EXPECT_EQ(trials[2].outcome.error_text, "signal 11");
  EXPECT_EQ(trials[3].ordinal, 3);
  EXPECT_EQ(trials[3].session, 2);
  EXPECT_EQ(trials[3].outcome.samples, (std::vector<double>{5e-3, 4e-3}));
  EXPECT_EQ(trials[3].outcome.config, SampleConfig(1));
  // The best of each machine is its own.
  const auto store = Must(Store::OpenForReading(Path("out.db")));
  EXPECT_EQ((*store->Best("here"))->ordinal, 0);
  EXPECT_EQ((*store->Best("there"))->ordinal, 3);
}

// A work folder was copied, and both copies continued.
TEST_F(MergeTest, WhatBothHaveIsOneAndMergingAgainAddsNothing) {
  Fill("a.db", "here", 1000, {Of(1, {1e-3}), Of(2, {2e-3})});
  ASSERT_TRUE(WriteFileAtomic(Path("b.db"), *ReadFile(Path("a.db"))).ok());
  Fill("a.db", "here", 2000, {Of(3, {3e-3})});
  Fill("b.db", "here", 3000, {Of(4, {4e-3}), Of(3, {9e-3, 9e-3})});
  const MergeCount count = Merge("out.db", {"a.db", "b.db"});
  EXPECT_EQ(count.added, 4);
  EXPECT_EQ(count.known, 2);
  EXPECT_EQ(count.replaced, 1) << "trial 3 has more samples in b";
  const std::vector<Trial> trials = Trials("out.db");
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[2].outcome.config, SampleConfig(3));
  EXPECT_EQ(trials[2].outcome.samples.size(), 2u);
  EXPECT_EQ(trials[3].outcome.config, SampleConfig(4));
  EXPECT_EQ(Machines("out.db").size(), 3u);

  const MergeCount again = Merge("out.db", {"b.db", "a.db"});
  EXPECT_EQ(again.added + again.replaced, 0);
  EXPECT_EQ(again.known, 7);
  EXPECT_EQ(Trials("out.db").size(), 4u);
  EXPECT_EQ(Machines("out.db").size(), 3u);

  Fill("c.db", "here", 4000, {Of(1, {8e-3})});
  EXPECT_EQ(Merge("out.db", {"c.db"}).known, 1);
  EXPECT_EQ(Trials("out.db")[0].outcome.samples, (std::vector<double>{1e-3})) << "of equals the first stays";
}

TEST_F(MergeTest, ACopyBringsForgottenTrialsBack) {
  Fill("a.db", "here", 1000, {Of(1, {1e-3}), Bad(2, TrialError::kCrash, "signal 9")});
  const std::string copy = Must(ReadFile(Path("a.db")));
  Must(WriteFileAtomic(Path("copy.db"), copy));
  Must(RemoveTrials(Path("a.db"), {1}));
  EXPECT_EQ(Merge("a.db", {"copy.db"}).added, 1);
  EXPECT_EQ(Trials("a.db").at(1).outcome.error, TrialError::kCrash);
}

TEST_F(MergeTest, WhatIsThereKeepsItsNumbers) {
  Fill("out.db", "here", 1000, {Of(7, {1e-3})});
  Fill("a.db", "there", 500, {Of(1, {1e-3})});
  EXPECT_EQ(Merge("out.db", {"a.db"}).added, 1);
  EXPECT_EQ(Trials("out.db")[0].outcome.config, SampleConfig(7));
  EXPECT_EQ(Machines("out.db")[0], "here");
}

TEST_F(MergeTest, OtherTasksAndDamagedFilesAreRefusedAndNothingChanges) {
  Fill("out.db", "here", 1000, {Of(1, {1e-3})});
  const std::string before = *ReadFile(Path("out.db"));
  Meta meta = SampleMeta();
  meta.task_id = "dense-ffffffffffffffff";
  Fill("other.db", "here", 1000, {Of(2, {1e-3})}, meta);
  ASSERT_TRUE(WriteFileAtomic(Path("torn.db"), before.substr(0, 5000)).ok());
  for (const auto& [name, words] : {std::pair("other.db", "task is `dense-ffffffffffffffff`"),
                                    std::pair("torn.db", "torn.db"), std::pair("none.db", "none.db")}) {
    const auto refused = MergeRecords(Path("out.db"), {Path(name)});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.status().message(), HasSubstr(words));
    EXPECT_EQ(*ReadFile(Path("out.db")), before);
  }
  ExpectNothingIsLeft();
}

// A point with another version of its template is another trial; the newest version counts.
TEST_F(MergeTest, TrialsKeepTheVersionsOfTheirTemplates) {
  Fill("old.db", "here", 1000, {Of(1, {1e-3}), Of(2, {2e-3})});
  MakeOld(Path("old.db"), 2);
  Meta meta = SampleMeta();
  meta.templates["dense"] = 2;
  Fill("new.db", "here", 2000, {Of(2, {3e-3}), Of(3, {4e-3})}, meta);
  const std::string old_bytes = Must(ReadFile(Path("old.db"))), new_bytes = Must(ReadFile(Path("new.db")));
  for (const auto& order : {std::vector<std::string>{"old.db", "new.db"}, {"new.db", "old.db"}}) {
    const std::string out = "out_" + order[0];
    EXPECT_EQ(Merge(out, order).added, 4);
    EXPECT_EQ(Merge(out, {"old.db"}).known, 2);
    const std::vector<Trial> trials = Trials(out);
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_EQ(trials[0].outcome.median, 3e-3);
    EXPECT_EQ(trials[1].outcome.median, 4e-3);
    EXPECT_EQ((*Store::OpenForReading(Path(out)))->AllTrials()->size(), 4u);
  }
  EXPECT_EQ(Must(ReadFile(Path("old.db"))), old_bytes) << "inputs are only read, and not migrated";
  EXPECT_EQ(Must(ReadFile(Path("new.db"))), new_bytes);
}

TEST_F(MergeTest, WhoeverLostTheLockReplacesNothing) {
  Fill("out.db", "here", 1000, {Of(1, {1e-3})});
  Fill("a.db", "there", 900, {Of(2, {2e-3})});
  const auto lost = [] { return Status::Locked("out.db.lock: taken over"); };
  EXPECT_EQ(MergeRecords(Path("out.db"), {Path("a.db")}, lost).status().kind(), StatusKind::kLocked);
  EXPECT_EQ(Trials("out.db").size(), 1u);
  ExpectNothingIsLeft();
  EXPECT_EQ(MergeRecords(Path("out.db"), {Path("a.db")}, [] { return Status(); })->added, 1);
}

}  // namespace
}  // namespace hone::record
