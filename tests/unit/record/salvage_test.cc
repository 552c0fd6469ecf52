// Salvaging damaged record files: each second page of one is destroyed in turn.
#include "record/salvage.h"

#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/rng.h"
#include "old_format.h"
#include "sample.h"

namespace hone::record {
namespace {

constexpr size_t kPage = 4096;

class SalvageTest : public RecordTest {
 protected:
  SalvageTest() {
    const auto store = Open();
    const int64_t first = *store->BeginSession(SampleSession()), second = *store->BeginSession(SampleSession("f2"));
    std::vector<Outcome> batch;
    for (int i = 0; i < 120; ++i) {
      Outcome o = Good(i, {1e-3 + i * 1e-6, 1.1e-3, 1.2e-3}, "ab" + std::to_string(i));
      if (i % 10 == 3) o = Bad(i, TrialError::kCrash, std::string(200, 'x'));
      if (i % 10 == 7) {  // an equal artifact to an earlier one
        o = Good(i, batch.back().samples, batch.back().artifact_digest);
        o.samples.clear();
      }
      o.disturbed = i % 10 == 5;
      batch.push_back(o);
      if (i % 60 != 59) continue;
      EXPECT_TRUE(store->Append(i < 60 ? first : second, batch).ok());
      batch.clear();
    }
    EXPECT_TRUE(store->EndSession(first, 5).ok());
    bytes_ = *ReadFile(path_);
  }

  // Config index and state of each, in order.
  static std::vector<std::string> Rows(const std::string& path) {
    const auto store = Must(Store::OpenForReading(path));
    EXPECT_EQ(*store->Verify(), std::vector<std::string>());
    std::vector<std::string> rows;
    const std::vector<Trial> trials = *store->Trials();
    for (const Trial& t : trials) {
      std::ostringstream row;
      row << t.outcome.config.IndexText() << ' ' << TrialStateName(t.outcome.state) << ' ' << t.outcome.median << ' '
          << t.outcome.samples.size() << ' ' << t.outcome.disturbed;
      rows.push_back(row.str());
    }
    return rows;
  }

  const std::string out_ = Path("saved.db");
  std::string bytes_;
};

TEST_F(SalvageTest, AWholeFileComesBackAsItWas) {
  auto count = Must(SalvageRecords(path_, out_));
  EXPECT_EQ(count.trials, 120);
  EXPECT_EQ(count.lost, 0);
  EXPECT_EQ(Rows(out_), Rows(path_));
  auto sessions = *(*Store::OpenForReading(out_))->Sessions();
  ASSERT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions[0].ended, 5);
  EXPECT_EQ(sessions[1].ended, 0);
  EXPECT_EQ(sessions[1].fingerprint, "f2");
}

TEST_F(SalvageTest, OnePageCostsWhatWasOnItAndNoMore) {
  const std::vector<std::string> all = Rows(path_);
  Rng rng(5);
  const size_t pages = bytes_.size() / kPage;
  ASSERT_GT(pages, 8u);
  int64_t saved = 0, tries = 0;
  for (size_t page = 1; page < pages; page += 2) {
    std::string damaged = bytes_;
    for (size_t i = page * kPage; i < (page + 1) * kPage; ++i)
      damaged[i] = page % 4 == 1 ? static_cast<char>(rng.Next()) : 0;
    ASSERT_TRUE(WriteFileAtomic(path_, damaged).ok());
    ASSERT_TRUE(Remove(out_).ok());
    auto count = SalvageRecords(path_, out_);
    EXPECT_EQ(*ReadFile(path_), damaged) << "the damaged file itself stays";
    if (!count.ok()) {
      EXPECT_EQ(count.status().kind(), StatusKind::kCorrupt);
      EXPECT_THAT(count.status().message(), HasSubstr("nothing can be saved"));
      EXPECT_FALSE(Exists(out_));
      continue;
    }
    // In the same order, some missing.
    const std::vector<std::string> rows = Rows(out_);
    size_t at = 0;
    for (const std::string& row : rows) {
      while (at < all.size() && all[at] != row) ++at;
      ASSERT_LT(at, all.size()) << "page " << page << ": " << row << " was never recorded";
      ++at;
    }
    EXPECT_EQ(count->trials, static_cast<int64_t>(rows.size()));
    // The last ones may leave nothing to count them by.
    EXPECT_LE(count->trials + count->lost, 120) << page;
    EXPECT_GE(count->trials + count->lost, 110) << page;
    saved += count->trials;
    ++tries;
  }
  // For all pages except those of meta and sessions, which everything depends on, the other pages' trials are saved.
  EXPECT_GT(tries, static_cast<int64_t>(pages / 4));
  EXPECT_GT(saved, tries * 120 / 2);
}

TEST_F(SalvageTest, AFileThatIsCutShortKeepsWhatIsThere) {
  ASSERT_TRUE(WriteFileAtomic(path_, bytes_.substr(0, bytes_.size() - 2 * kPage)).ok());
  EXPECT_EQ(Store::OpenForReading(path_).status().kind(), StatusKind::kCorrupt);
  auto count = Must(SalvageRecords(path_, out_));
  EXPECT_GT(count.trials, 30);
  EXPECT_EQ(Rows(out_).size(), static_cast<size_t>(count.trials));
}

TEST_F(SalvageTest, RefusesWhatItCannotOrMustNotDo) {
  EXPECT_EQ(SalvageRecords(dir_.Join("none.db"), out_).status().kind(), StatusKind::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(out_, "mine").ok());
  EXPECT_EQ(SalvageRecords(path_, out_).status().kind(), StatusKind::kInvalid);
  EXPECT_EQ(*ReadFile(out_), "mine");
  ASSERT_TRUE(WriteFileAtomic(dir_.Join("text.db"), "not a database at all, but long enough to be looked at").ok());
  EXPECT_EQ(SalvageRecords(dir_.Join("text.db"), dir_.Join("o.db")).status().message(),
            dir_.Join("text.db") +
                ": its first page cannot be read: nothing can be saved; move it away to start the task again");
  EXPECT_EQ(SalvageRecords(dir_.path(), dir_.Join("o.db")).status().message(),
            dir_.path() + ": cannot open: it is a folder, not a file");
  EXPECT_FALSE(Exists(dir_.Join("o.db")));
}

// Files from before disturbed runs were marked.
TEST_F(SalvageTest, FilesOfVersionOneAreReadMigratedAndSaved) {
  MakeOld(path_, 1);
  const auto trials = *(*Store::OpenForReading(path_))->Trials();
  ASSERT_EQ(trials.size(), 120u);
  EXPECT_EQ(trials[5].outcome.disturbed, 0);
  EXPECT_EQ(Must(SalvageRecords(path_, out_)).trials, 120);
  {
    auto store = Must(Store::OpenForWriting(path_, SampleMeta()));
    Outcome marked = Good(500, {1e-3, 2e-3, 4e-3});
    marked.disturbed = 2;
    marked.retaken = 9;
    ASSERT_TRUE(store->Append(1, {marked}).ok());
    EXPECT_EQ(*store->Verify(), std::vector<std::string>());
  }
  const Trial last = (*(*Store::OpenForReading(path_))->Trials()).back();
  EXPECT_EQ(last.outcome.disturbed, 2);
  EXPECT_EQ(last.outcome.retaken, 9);
}

}  // namespace
}  // namespace hone::record
