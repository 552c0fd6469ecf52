#include "nightly/accepted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "nightly/history.h"
#include "nightly/night_file.h"

namespace hone::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Accepted : public testing::Test {
 protected:
  void SetUp() override {
    dir_.emplace(*TempDir::Create());
    ASSERT_TRUE(MakeDirs(dir_->Join("out")).ok());
    Write("out/libnet.so", "code 1");
    Write("out/net.params", "parameters");
    Write("out/net.graph.json", "graph");
    Write("out/net.h", "header");
    Write("out/manifest.json", "{}");
    Write("choice", "choice");
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(dir_->Join(name), text).ok());
  }
  std::string Folder() const { return dir_->Join("accepted"); }
  Result<Acceptance> Take(const std::string& reason, bool* moved = nullptr) {
    Acceptance a;
    a.recorded = "2026-11-21T03:00:00Z";
    a.by = "me@here";
    a.reason = reason;
    a.network = "net";
    a.name = "net";
    bool unused = false;
    return Accept({Folder(), "net.cpu", dir_->Join("out"), dir_->Join("choice"), {}, [this] { return lock_; }}, a,
                  moved ? moved : &unused);
  }
  std::string In(const std::string& digest, const std::string& name) const {
    return JoinPath(AcceptedDir(Folder(), "net.cpu", digest), name);
  }
  static ino_t Inode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return info.st_ino;
  }

  std::optional<TempDir> dir_;
  Status lock_;  // what is said of it when the line is to be written
};

TEST_F(Accepted, NothingYetSaysHow) {
  const auto log = ReadAcceptances(Folder(), "net.cpu");
  EXPECT_EQ(log.status().kind(), StatusKind::kNotFound);
  EXPECT_THAT(log.status().message(), HasSubstr("hone-report accept --reason WHY net.cpu"));
  EXPECT_TRUE(AcceptedJobs(Folder())->empty());
}

TEST_F(Accepted, WhoeverLostTheLockMovesNothing) {
  lock_ = Status::Locked("net.cpu.lock: taken over");
  EXPECT_EQ(Take("too late").status().kind(), StatusKind::kLocked);
  EXPECT_EQ(ReadAcceptances(Folder(), "net.cpu").status().kind(), StatusKind::kNotFound);
  lock_ = Status();
  EXPECT_TRUE(Take("again").ok());
  EXPECT_EQ(ReadAcceptances(Folder(), "net.cpu")->size(), 1u);
}

TEST_F(Accepted, AWholeCopyThatTheNextBuildDoesNotTouch) {
  const auto first = Take("the beginning");
  ASSERT_TRUE(first.ok()) << first.status().message();
  Write("out/libnet.so", "code 2");
  // What nights know the library of the day by, before and after.
  EXPECT_NE(*FolderDigest(dir_->Join("out"), "net"), first->digest);
  EXPECT_EQ(*FolderDigest(AcceptedDir(Folder(), "net.cpu", first->digest), "net"), first->digest);
  EXPECT_EQ(*ReadFile(In(first->digest, "libnet.so")), "code 1");
  EXPECT_EQ(*ReadFile(In(first->digest, kChoiceFile)), "choice");
  EXPECT_TRUE(CheckAccepted(Folder(), "net.cpu", *first).ok());
  EXPECT_THAT(*AcceptedJobs(Folder()), ElementsAre("net.cpu"));
  const auto log = ReadAcceptances(Folder(), "net.cpu");
  ASSERT_TRUE(log.ok()) << log.status().message();
  EXPECT_EQ(log->back().reason, "the beginning");
  EXPECT_EQ(log->back().by, "me@here");
  EXPECT_EQ(log->back().before, "");
}

TEST_F(Accepted, TheLogHoldsBothAndTheFirstStaysAsCanary) {
  const auto first = Take("1");
  Write("out/libnet.so", "code 2");
  bool moved = false;
  const auto second = Take("2", &moved);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(moved);
  EXPECT_NE(second->digest, first->digest);
  EXPECT_EQ(second->before, first->digest);
  const auto log = *ReadAcceptances(Folder(), "net.cpu");
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log.front().digest, first->digest);
  EXPECT_TRUE(CheckAccepted(Folder(), "net.cpu", log.front()).ok());
  // Parameters are large, and the same.
  EXPECT_EQ(Inode(In(first->digest, "net.params")), Inode(In(second->digest, "net.params")));
  EXPECT_NE(Inode(In(first->digest, "libnet.so")), Inode(In(second->digest, "libnet.so")));
}

TEST_F(Accepted, TheSameAgainMovesNothing) {
  const auto first = Take("1");
  const std::string log = *ReadFile(AcceptedLogPath(Folder(), "net.cpu"));
  bool moved = true;
  EXPECT_EQ(Take("again", &moved)->reason, "1");
  EXPECT_FALSE(moved);
  EXPECT_EQ(*ReadFile(AcceptedLogPath(Folder(), "net.cpu")), log);
  // Another header alone is the same artifact.
  Write("out/net.h", "another comment");
  EXPECT_TRUE(Take("again", &moved).ok());
  EXPECT_FALSE(moved);
  // Back and forth is recorded.
  Write("out/libnet.so", "code 2");
  ASSERT_TRUE(Take("2").ok());
  Write("out/libnet.so", "code 1");
  EXPECT_EQ(Take("back", &moved)->digest, first->digest);
  EXPECT_TRUE(moved);
  EXPECT_EQ(ReadAcceptances(Folder(), "net.cpu")->size(), 3u);
}

TEST_F(Accepted, DamageIsNamedAndAcceptingAgainMendsIt) {
  const auto first = Take("1");
  const std::string path = In(first->digest, "libnet.so");
  ASSERT_TRUE(Remove(path).ok());
  EXPECT_THAT(CheckAccepted(Folder(), "net.cpu", *first).message(), HasSubstr("libnet.so: is gone"));
  ASSERT_TRUE(WriteFileAtomic(path, "code X").ok());
  const Status damaged = CheckAccepted(Folder(), "net.cpu", *first);
  EXPECT_EQ(damaged.kind(), StatusKind::kCorrupt);
  EXPECT_THAT(damaged.message(), HasSubstr("is not what was accepted"));
  bool moved = false;
  ASSERT_TRUE(Take("mended", &moved).ok());
  EXPECT_TRUE(moved);
  EXPECT_TRUE(CheckAccepted(Folder(), "net.cpu", *first).ok());
}

TEST_F(Accepted, NothingIsHalfAccepted) {
  ASSERT_TRUE(Remove(dir_->Join("out/net.h")).ok());
  EXPECT_FALSE(Take("1").ok());
  EXPECT_TRUE(AcceptedJobs(Folder())->empty());
  Write("out/net.h", "header");
  Acceptance a;
  a.name = "net";
  bool moved = false;
  AcceptInput input{Folder(), "net.cpu", dir_->Join("out"), ""};
  input.check = [] { return Status::Corrupt("no"); };
  EXPECT_EQ(Accept(input, a, &moved).status().kind(), StatusKind::kCorrupt);
  EXPECT_FALSE(Exists(Folder()));
}

// Work folders hold files of others: a log must not lead out of the folder, nor name another digest than its files
// have.
TEST_F(Accepted, ALogThatMakesNoSenseIsRefusedByItsLine) {
  const auto first = Take("1");
  const std::string line = AcceptanceText(*first);
  auto message = [&](std::string from, const std::string& to) {
    std::string bad = line;
    const size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
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
  const auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const std::string nights = dir->Join("nights");
  EXPECT_EQ(*LastNight(nights), "");
  EXPECT_TRUE(CloseNight(nights).ok());
  const std::string first = *OpenNight(nights, 1e9);
  EXPECT_EQ(first, "2001-09-09T01:46:40Z");
  EXPECT_EQ(*OpenNight(nights, 1e9 + 3600), first);
  ASSERT_TRUE(CloseNight(nights).ok());
  EXPECT_EQ(*LastNight(nights), first);
  // Within the same second, and yet another one, later by its name.
  EXPECT_GT(*OpenNight(nights, 1e9), first);
  const std::string abandoned = *OpenNight(nights, 1e9 + 100);
  EXPECT_GT(*OpenNight(nights, 1e9 + 100 + kLongestNight), abandoned);
  // The clock was set back by a year: not the night of then.
  EXPECT_LT(*OpenNight(nights, 1e9 - 3e7), first);
}

}  // namespace
}  // namespace hone::nightly
