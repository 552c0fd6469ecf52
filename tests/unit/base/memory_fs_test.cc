// The fake must fail where the disk fails: the same checks against both.
#include "fake/memory_fs.h"

#include <gtest/gtest.h>

#include "fake/fake_clock.h"

namespace hone {
namespace {

void CheckContract(FileSystem* fs, const std::string& root) {
  EXPECT_EQ(fs->WriteAtomic(root + "/none/x", "1").kind(), StatusKind::kNotFound);
  ASSERT_TRUE(fs->MakeDirs(root + "/a/b").ok());
  ASSERT_TRUE(fs->WriteAtomic(root + "/a/f", "1").ok());
  EXPECT_FALSE(fs->MakeDirs(root + "/a/f/g").ok());
  EXPECT_EQ(*fs->ReadFile(root + "/a/f"), "1");
  EXPECT_EQ(fs->ReadFile(root + "/a/g").status().kind(), StatusKind::kNotFound);
  EXPECT_FALSE(*fs->WriteIfChanged(root + "/a/f", "1"));
  EXPECT_TRUE(*fs->WriteIfChanged(root + "/a/f", "2"));
  EXPECT_EQ(*fs->List(root + "/a"), (std::vector<std::string>{"b", "f"}));
  EXPECT_EQ(fs->List(root + "/none").status().kind(), StatusKind::kNotFound);
  EXPECT_TRUE(fs->Exists(root + "/a/b"));
  EXPECT_TRUE(fs->Remove(root + "/a/f").ok());
  EXPECT_TRUE(fs->Remove(root + "/a/f").ok());
  EXPECT_FALSE(fs->Exists(root + "/a/f"));
}

TEST(FileSystem, TheRealDisk) {
  Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  CheckContract(RealFileSystem(), dir->path());
}

TEST(FileSystem, TheFakeDisk) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/root").ok());
  CheckContract(&fs, "/root");
}

TEST(MemoryFileSystem, RemembersAndFails) {
  MemoryFileSystem fs;
  fs.Put("/d/x", "1");
  EXPECT_TRUE(fs.writes().empty());
  fs.FailWritesTo("/d/y");
  EXPECT_EQ(fs.WriteAtomic("/d/y", "2").kind(), StatusKind::kIo);
  EXPECT_TRUE(fs.WriteAtomic("/d/x", "2").ok());
  EXPECT_EQ(fs.writes(), std::vector<std::string>{"/d/x"});
  EXPECT_EQ(fs.files().count("/d/y"), 0u);
}

TEST(FakeClock, MovesBySleepingOnly) {
  FakeClock clock(5, 100);
  clock.SleepSeconds(2.5);
  clock.SleepSeconds(-1);
  EXPECT_EQ(clock.NowSeconds(), 7.5);
  EXPECT_EQ(clock.WallSeconds(), 102.5);
}

}  // namespace
}  // namespace hone
