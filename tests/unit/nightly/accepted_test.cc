#include "nightly/accepted.h"

#include <filesystem>

#include "base/file.h"
#include "common/expect.h"
#include "nightly/night_file.h"

namespace hone::nightly {
namespace {

constexpr const char* kJob = "net.cpu";

class Accepted : public testing::Test {
 protected:
  void SetUp() override {
    Must(MakeDirs(dir_.Join("out")));
    Write("out/libnet.so", "code 1");
    for (const char* name : {"out/net.params", "out/net.graph.json", "out/net.h", "out/manifest.json", "choice"})
      Write(name, name);
  }
  void Write(const std::string& name, const std::string& text) { Must(WriteFileAtomic(dir_.Join(name), text)); }
  Result<Acceptance> Take(const std::string& reason) {
    Acceptance a{"2026-11-21T03:00:00Z", "me@here", reason, "", "", "net", "cpu", "net", {}};
    const AcceptInput input{
        folder_, kJob, dir_.Join("out"), dir_.Join("choice"), [this] { return library_; }, [this] { return lock_; }};
    return Accept(input, a, &moved_);
  }
  std::string In(const std::string& digest, const std::string& name) const {
    return JoinPath(AcceptedDir(folder_, kJob, digest), name);
  }
  size_t Accepts() const {
    const auto log = ReadAcceptances(folder_, kJob);
    return log.ok() ? log->size() : 0;
  }

  TempDir dir_ = *TempDir::Create();
  std::string folder_ = dir_.Join("accepted");
  Status library_, lock_;  // what is said of them
  bool moved_ = false;
};

TEST_F(Accepted, NothingYetSaysHow) {
  const auto log = ReadAcceptances(folder_, kJob);
  EXPECT_EQ(log.status().kind(), StatusKind::kNotFound);
  EXPECT_THAT(log.status().message(), HasSubstr("hone-report accept --reason WHY net.cpu"));
  EXPECT_TRUE(AcceptedJobs(folder_)->empty());
}

TEST_F(Accepted, NothingIsHalfAccepted) {
  library_ = Status::Corrupt("no");
  EXPECT_EQ(Take("a damaged library").status().kind(), StatusKind::kCorrupt);
  EXPECT_FALSE(Exists(folder_));
  library_ = Status();
  lock_ = Status::Locked("net.cpu.lock: taken over");
  EXPECT_EQ(Take("too late").status().kind(), StatusKind::kLocked);
  lock_ = Status();
  ASSERT_TRUE(Remove(dir_.Join("out/net.h")).ok());
  EXPECT_FALSE(Take("a file is missing").ok());
  EXPECT_EQ(Accepts(), 0u);
  EXPECT_TRUE(AcceptedJobs(folder_)->empty());
  Write("out/net.h", "header");
  EXPECT_TRUE(Take("again").ok());
  EXPECT_EQ(Accepts(), 1u);
}

TEST_F(Accepted, AWholeCopyThatTheNextBuildDoesNotTouch) {
  const auto first = Must(Take("the beginning"));
  Write("out/libnet.so", "code 2");
  // The library's identity for regression runs, before and after.
  EXPECT_NE(*FolderDigest(dir_.Join("out"), "net"), first.digest);
  EXPECT_EQ(*FolderDigest(AcceptedDir(folder_, kJob, first.digest), "net"), first.digest);
  EXPECT_EQ(*ReadFile(In(first.digest, "libnet.so")), "code 1");
  EXPECT_EQ(*ReadFile(In(first.digest, kChoiceFile)), "choice");
  EXPECT_TRUE(CheckAccepted(folder_, kJob, first).ok());
  EXPECT_THAT(*AcceptedJobs(folder_), ElementsAre(kJob));
  const auto log = Must(ReadAcceptances(folder_, kJob));
  EXPECT_EQ(log.back().reason, "the beginning");
  EXPECT_EQ(log.back().by, "me@here");
  EXPECT_EQ(log.back().before, "");
}

TEST_F(Accepted, TheLogHoldsBothAndTheFirstStaysAsCanary) {
  const auto first = Take("1");
  Write("out/libnet.so", "code 2");
  const auto second = Must(Take("2"));
  EXPECT_TRUE(moved_);
  EXPECT_NE(second.digest, first->digest);
  EXPECT_EQ(second.before, first->digest);
  ASSERT_EQ(Accepts(), 2u);
  const Acceptance canary = ReadAcceptances(folder_, kJob)->front();
  EXPECT_EQ(canary.digest, first->digest);
  EXPECT_TRUE(CheckAccepted(folder_, kJob, canary).ok());
  // Equal parameters are shared, as they are large.
  const auto same_file = [&](const char* name) {
    return std::filesystem::equivalent(In(first->digest, name), In(second.digest, name));
  };
  EXPECT_TRUE(same_file("net.params"));
  EXPECT_FALSE(same_file("libnet.so"));
}

TEST_F(Accepted, TheSameAgainMovesNothing) {
  const auto first = Take("1");
  const std::string log = *ReadFile(AcceptedLogPath(folder_, kJob));
  EXPECT_EQ(Take("again")->reason, "1");
  EXPECT_FALSE(moved_);
  // Another header alone is the same artifact.
  Write("out/net.h", "another comment");
  EXPECT_TRUE(Take("again").ok());
  EXPECT_FALSE(moved_);
  EXPECT_EQ(*ReadFile(AcceptedLogPath(folder_, kJob)), log);
  // Changing back and forth is recorded.
  Write("out/libnet.so", "code 2");
  ASSERT_TRUE(Take("2").ok());
  Write("out/libnet.so", "code 1");
  EXPECT_EQ(Take("back")->digest, first->digest);
  EXPECT_TRUE(moved_);
  EXPECT_EQ(Accepts(), 3u);
}

TEST_F(Accepted, DamageIsNamedAndAcceptingAgainMendsIt) {
  const auto first = Take("1");
  const std::string path = In(first->digest, "libnet.so");
  ASSERT_TRUE(Remove(path).ok());
  EXPECT_THAT(CheckAccepted(folder_, kJob, *first).message(), HasSubstr("libnet.so: is gone"));
  ASSERT_TRUE(WriteFileAtomic(path, "code X").ok());
  const Status damaged = CheckAccepted(folder_, kJob, *first);
  EXPECT_EQ(damaged.kind(), StatusKind::kCorrupt);
  EXPECT_THAT(damaged.message(), HasSubstr("is not what was accepted"));
  ASSERT_TRUE(Take("mended").ok());
  EXPECT_TRUE(moved_);
  EXPECT_TRUE(CheckAccepted(folder_, kJob, *first).ok());
}

// Work folders may contain other people's files: a log must not lead out of the folder, nor name digests other than its
// files have.
TEST_F(Accepted, ALogThatMakesNoSenseIsRefusedByItsLine) {
  const auto first = Take("1");
  const std::string line = AcceptanceText(*first);
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string bad = line;
    bad.replace(bad.find(from), from.size(), to);
    return ParseAcceptances(line + bad, "l.jsonl").status().message();
  };
  EXPECT_THAT(message("\"net.h\"", "\"../net.h\""), HasSubstr("l.jsonl, line 2"));
  EXPECT_THAT(message("\"net.h\"", "\"../net.h\""), HasSubstr("is no name of a file in a folder"));
  EXPECT_THAT(message(first->digest, std::string(32, '0')), HasSubstr("is not that of the files"));
  EXPECT_THAT(message("\"version\":1", "\"version\":9"), HasSubstr("9"));
  // A torn last line was never accepted.
  EXPECT_EQ(ParseAcceptances(line + line.substr(0, 30), "l.jsonl")->size(), 1u);
}

TEST(NightFile, ANightIsOpenUntilItIsClosedOrTooOld) {
  const auto dir = Must(TempDir::Create());
  const std::string nights = dir.Join("nights");
  EXPECT_EQ(*LastNight(nights), "");
  EXPECT_TRUE(CloseNight(nights).ok());
  const std::string first = *OpenNight(nights, 1e9);
  EXPECT_EQ(first, "2001-09-09T01:46:40Z");
  EXPECT_EQ(*OpenNight(nights, 1e9 + 3600), first);
  ASSERT_TRUE(CloseNight(nights).ok());
  EXPECT_EQ(*LastNight(nights), first);
  // Another night within the same second has a later name.
  EXPECT_GT(*OpenNight(nights, 1e9), first);
  const std::string abandoned = *OpenNight(nights, 1e9 + 100);
  EXPECT_GT(*OpenNight(nights, 1e9 + 100 + kLongestNight), abandoned);
  // If the clock was set back by a year, that night is not reused.
  EXPECT_LT(*OpenNight(nights, 1e9 - 3e7), first);
}

}  // namespace
}  // namespace hone::nightly
