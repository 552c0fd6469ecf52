#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os_error.h"
#include "common/expect.h"

namespace hone {
namespace {

using Strings = std::vector<std::string>;

class FileTest : public testing::Test {
 protected:
  std::string In(const std::string& name) { return dir_.Join(name); }
  TempDir dir_ = Must(TempDir::Create("hone-file-test"));
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  std::string bytes(200000, 'x');
  bytes[77777] = '\0';
  ASSERT_TRUE(WriteFileAtomic(In("a"), bytes).ok());
  EXPECT_EQ(*ReadFile(In("a")), bytes);
  EXPECT_EQ(*FileSize(In("a")), 200000);
  ASSERT_TRUE(WriteFileAtomic(In("a"), "").ok());
  EXPECT_EQ(*ReadFile(In("a")), "");
  EXPECT_EQ(*ListDir(dir_.path()), Strings{"a"});
}

// Pages of the file that are in memory.
size_t Resident(const std::string& path, size_t bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  EXPECT_EQ(::mincore(mapped, bytes, pages.data()), 0);
  ::munmap(mapped, bytes);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

TEST_F(FileTest, TheCacheForgetsAFileThatIsStillThere) {
  const std::string bytes(3 << 20, 'x');
  ASSERT_TRUE(WriteFileAtomic(In("a"), bytes).ok());
  ASSERT_GT(Resident(In("a"), bytes.size()), 0u);
  DropCached(In("a"));
  const size_t left = Resident(In("a"), bytes.size());
  struct statfs system;
  ASSERT_EQ(::statfs(dir_.path().c_str(), &system), 0);
  constexpr decltype(system.f_type) kExt = 0xef53, kXfs = 0x58465342;
  if (system.f_type != kExt && system.f_type != kXfs) GTEST_SKIP() << "only where pages are a copy of what a disk has";
  EXPECT_EQ(left, 0u);
}

TEST_F(FileTest, AFileThatTheCacheForgetsKeepsItsBytes) {
  const std::string bytes(3 << 20, 'x');
  ASSERT_TRUE(WriteFileAtomic(In("a"), bytes).ok());
  DropCached(In("a"));
  EXPECT_EQ(*ReadFile(In("a")), bytes);
  DropCached(In("none"));
  EXPECT_FALSE(Exists(In("none")));
}

TEST_F(FileTest, FilesThatDoNotKnowTheirSizeAreRead) { EXPECT_NE(ReadFile("/proc/self/stat")->size(), 0u); }

TEST_F(FileTest, MissingFilesAreNotFoundAndNamed) {
  Status status = ReadFile(In("none")).status();
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  EXPECT_EQ(status.message(), In("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(ReadFile(dir_.path()).status().kind(), StatusKind::kIo);
  EXPECT_EQ(ListDir(In("none")).status().kind(), StatusKind::kNotFound);
}

TEST_F(FileTest, WhatNeverEndsOrIsNoFileIsRefused) {
  EXPECT_EQ(ReadFile("/dev/zero").status().message(), "/dev/zero: cannot open: it is a device, not a file");
  EXPECT_EQ(ReadFile("/dev/zero").status().kind(), StatusKind::kIo);
  EXPECT_EQ(ReadFile(dir_.path()).status().message(), dir_.path() + ": cannot open: it is a folder, not a file");
  EXPECT_EQ(ReadFile("").status().message(), "the name of a file to read is empty");
  ASSERT_TRUE(WriteFileAtomic(In("huge"), "").ok());
  EXPECT_EQ(*ReadStart("/proc/self/comm", 3), ReadFile("/proc/self/comm")->substr(0, 3));
  ASSERT_EQ(::truncate(In("huge").c_str(), (off_t{4} << 30) + 1), 0);  // sparse: takes no space
  EXPECT_EQ(ReadFile(In("huge")).status().message(), In("huge") + ": cannot read: it is larger than 4 GiB");
}

// None of them is waited for, whichever way it is opened.
TEST_F(FileTest, SpecialFilesAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(In("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("pipe", In("link").c_str()), 0);
  ASSERT_EQ(::symlink("/dev/zero", In("zero").c_str()), 0);
  ASSERT_EQ(::mknod(In("socket").c_str(), S_IFSOCK | 0600, 0), 0);
  ASSERT_TRUE(MakeDirs(In("folder")).ok());
  const std::pair<const char*, const char*> kinds[] = {
      {"pipe", "a pipe"}, {"link", "a pipe"}, {"zero", "a device"}, {"socket", "a socket"}, {"folder", "a folder"}};
  for (const auto& [name, kind] : kinds) {
    const std::string message = In(name) + ": cannot open: it is " + kind + ", not a file";
    EXPECT_EQ(CheckRegular(In(name)).message(), message);
    EXPECT_EQ(ReadFile(In(name)).status().message(), message);
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_APPEND}) {
      EXPECT_EQ(OpenFile(In(name), flags).status().message(), message) << flags;
    }
    EXPECT_FALSE(AppendLine(In(name), "x\n").ok());
    DropCached(In(name));
  }
  EXPECT_THAT(AppendLine(In("link"), "x\n").message(), HasSubstr("it is a symbolic link"));
  EXPECT_TRUE(CheckRegular(In("none")).ok());
  ASSERT_EQ(::symlink("self", In("self").c_str()), 0);
  EXPECT_EQ(ReadFile(In("self")).status().kind(), StatusKind::kIo);
}

TEST_F(FileTest, LimitsSayWhatToDo) {
  EXPECT_THAT(ErrnoStatus(EDQUOT, "a").message(), HasSubstr("quota"));
  EXPECT_THAT(ErrnoStatus(EFBIG, "a").message(), HasSubstr("ulimit -f"));
}

TEST_F(FileTest, APipeIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "bytes", 5), 5);
  ::close(ends[1]);
  EXPECT_EQ(*ReadFile("/proc/self/fd/" + std::to_string(ends[0])), "bytes");
  ::close(ends[0]);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  // The rename fails: a non-empty folder blocks it.
  ASSERT_TRUE(MakeDirs(In("target/sub")).ok());
  EXPECT_FALSE(WriteFileAtomic(In("target"), "new").ok());
  EXPECT_EQ(*ListDir(dir_.path()), Strings{"target"});
  EXPECT_TRUE(IsDirectory(In("target/sub")));
  // The folder is missing.
  EXPECT_EQ(WriteFileAtomic(In("none/x"), "new").kind(), StatusKind::kNotFound);
  // The name is too long for the temporary file and for the file.
  EXPECT_FALSE(WriteFileAtomic(In(std::string(300, 'n')), "new").ok());
  EXPECT_EQ(*ListDir(dir_.path()), Strings{"target"});
}

TEST_F(FileTest, ALinkIsReplacedAndNotWrittenThrough) {
  ASSERT_TRUE(WriteFileAtomic(In("far"), "old").ok());
  ASSERT_EQ(::symlink(In("far").c_str(), In("link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomic(In("link"), "new").ok());
  struct stat info;
  ASSERT_EQ(::lstat(In("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISREG(info.st_mode));
  EXPECT_EQ(*ReadFile(In("far")), "old");
}

// `--out /dev/full` once replaced the device by a file.
TEST_F(FileTest, WhatIsNoFileIsNotReplaced) {
  ASSERT_EQ(::mkfifo(In("pipe").c_str(), 0600), 0);
  const Status refused = WriteFileAtomic(In("pipe"), "bytes");
  EXPECT_EQ(refused.message(), In("pipe") + ": cannot write: it is a device or a pipe, not a file");
  ASSERT_EQ(::symlink("/dev/null", In("null").c_str()), 0);
  EXPECT_FALSE(WriteFileIfChanged(In("null"), "").ok());
  struct stat info;
  ASSERT_EQ(::stat(In("pipe").c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_EQ(*ListDir(dir_.path()), (Strings{"null", "pipe"}));
}

TEST_F(FileTest, IfChangedKeepsTheTimeOfEqualFiles) {
  EXPECT_TRUE(*WriteFileIfChanged(In("a"), "one"));
  timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, In("a").c_str(), old, 0), 0);
  EXPECT_FALSE(*WriteFileIfChanged(In("a"), "one"));
  struct stat info;
  ASSERT_EQ(::stat(In("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 1000);
  EXPECT_TRUE(*WriteFileIfChanged(In("a"), "two"));  // same length
  EXPECT_EQ(*ReadFile(In("a")), "two");
}

TEST_F(FileTest, FoldersAndRemoval) {
  ASSERT_TRUE(MakeDirs(In("a/b/c")).ok());
  ASSERT_TRUE(MakeDirs(In("a/b/c")).ok());
  ASSERT_TRUE(WriteFileAtomic(In("a/f"), "").ok());
  EXPECT_FALSE(MakeDirs(In("a/f/g")).ok());
  EXPECT_THAT(CheckFolder(In("a/f/g/h")).message(), HasSubstr("a/f is a file"));
  EXPECT_TRUE(CheckFolder(In("a/b/new/folder")).ok());
  EXPECT_TRUE(CheckFolder("new").ok());
  EXPECT_FALSE(Exists(In("a/b/new")));
  EXPECT_EQ(*ListDir(In("a")), (Strings{"b", "f"}));
  EXPECT_FALSE(Remove(In("a")).ok());  // not empty
  EXPECT_TRUE(Remove(In("a/f")).ok());
  EXPECT_TRUE(Remove(In("a/f")).ok());  // already gone
  EXPECT_TRUE(RemoveTree(In("a")).ok());
  EXPECT_FALSE(Exists(In("a")));
}

// The folder of a killed process is removed by the next Create with its prefix; one in use stays, although its process
// has another name here, as in another container.
TEST_F(FileTest, TempDirsOfKilledProcessesAreRemoved) {
  const std::string prefix = dir_.Join("hone-left");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Result<TempDir> left = TempDir::Create(prefix);
    if (!left.ok() || !WriteFileAtomic(left->Join("x"), "x").ok()) _exit(1);
    (void)!write(ready[1], "r", 1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto folders = [&] {
    int count = 0;
    const Strings names = *ListDir(dir_.path());
    for (const std::string& name : names) count += name.rfind("hone-left.", 0) == 0;
    return count;
  };
  EXPECT_TRUE(TempDir::Create(prefix).ok());
  EXPECT_EQ(folders(), 1) << "the child lives";
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(MakeDirs(dir_.Join("hone-left.of-somebody.else")).ok());
  EXPECT_TRUE(TempDir::Create(prefix).ok());
  EXPECT_EQ(folders(), 1) << "the child's is gone, and what has another form of name stays";
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FileTest, TempDirIsRemovedWithItsContents) {
  std::string path;
  {
    TempDir moved = Must(TempDir::Create());
    path = moved.path();
    ASSERT_TRUE(MakeDirs(moved.Join("x/y")).ok());
    EXPECT_TRUE(IsDirectory(path));
  }
  EXPECT_FALSE(Exists(path));
}

TEST(Path, TextFunctions) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(DirName("a/b/c"), "a/b");
  EXPECT_EQ(DirName("c"), ".");
  EXPECT_EQ(DirName("/c"), "/");
  EXPECT_EQ(BaseName("a/b.c"), "b.c");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(AbsolutePath("/a/./b/../c/"), "/a/c");
  EXPECT_EQ(AbsolutePath("/"), "/");
  EXPECT_EQ(AbsolutePath("x")[0], '/');
}

TEST(Path, CurrentExecutableIsAFile) { EXPECT_TRUE(Exists(*CurrentExecutable())); }

}  // namespace
}  // namespace hone
