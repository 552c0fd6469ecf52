#include "base/log.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "common/expect.h"

namespace hone {
namespace {

TEST(Log, LevelsNamesAndFile) {
  TempDir dir = Must(TempDir::Create());
  ASSERT_TRUE(OpenLogFile(dir.Join("log")).ok());
  SetLogName("hone-tune");
  testing::internal::CaptureStderr();
  LogDebug("hidden");
  LogInfo("words");
  LogError("bad");
  ShowLiveLine("no terminal, no line");
  std::string err = testing::internal::GetCapturedStderr();
  SetLogName("");
  CloseLogFile();
  EXPECT_EQ(err, "words\nhone-tune: error: bad\n");
  std::vector<std::string> lines = Split(*ReadFile(dir.Join("log")), '\n');
  ASSERT_EQ(lines.size(), 4u);  // the file also has the hidden one
  EXPECT_TRUE(EndsWith(lines[0], "Z debug hidden")) << lines[0];
  EXPECT_TRUE(EndsWith(lines[2], "Z error bad")) << lines[2];
  EXPECT_EQ(lines[3], "");
}

TEST(Log, AMessageIsOneLineWhateverItQuotes) {
  TempDir dir = Must(TempDir::Create());
  ASSERT_TRUE(OpenLogFile(dir.Join("log")).ok());
  testing::internal::CaptureStderr();
  LogError("unknown key `a\nhone: error: b\x1b[2J`");
  LogWarning("begin" + std::string(5000, 'x') + "end");
  const std::vector<std::string> lines = Split(testing::internal::GetCapturedStderr(), '\n');
  CloseLogFile();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "error: unknown key `a\\nhone: error: b\\x1b[2J`");
  EXPECT_EQ(lines[1].size(), std::string("warning: ").size() + 1000);
  EXPECT_TRUE(StartsWith(lines[1], "warning: beginxx") && EndsWith(lines[1], "xxend")) << lines[1];
  const std::vector<std::string> kept = Split(*ReadFile(dir.Join("log")), '\n');
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_THAT(kept[0], Not(HasSubstr("\x1b")));
  EXPECT_GT(kept[1].size(), 5000u);
}

// Somebody left a link in the folder: nothing may be written to its target.
TEST(Log, NoLinkIsFollowed) {
  TempDir dir = Must(TempDir::Create());
  ASSERT_TRUE(WriteFileAtomic(dir.Join("precious"), "mine\n").ok());
  ASSERT_EQ(symlink(dir.Join("precious").c_str(), dir.Join("log").c_str()), 0);
  EXPECT_THAT(OpenLogFile(dir.Join("log")).message(), HasSubstr("log: cannot open: it is a symbolic link, not a file"));
  ASSERT_EQ(mkfifo(dir.Join("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(OpenLogFile(dir.Join("pipe")).ok()) << "and it did not wait for a reader";
  EXPECT_EQ(*ReadFile(dir.Join("precious")), "mine\n");
}

TEST(Log, AFileThatCannotBeOpened) { EXPECT_FALSE(OpenLogFile("/nonexistent-folder/log").ok()); }

TEST(Log, NoColorOutsideATerminal) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  EXPECT_FALSE(IsTerminal(pipe_ends[1]));
  EXPECT_FALSE(UseColor(pipe_ends[1]));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

// A pseudo-terminal stands for the real one.
TEST(Log, NoColorIsHonoured) {
  int terminal = ::posix_openpt(2 /* O_RDWR */);
  if (terminal < 0) GTEST_SKIP() << "no pseudo-terminals here";
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(UseColor(terminal));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(UseColor(terminal));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(UseColor(terminal));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(UseColor(terminal));
  ::close(terminal);
}

}  // namespace
}  // namespace hone
