#include "pipeline/stamp_files.h"

#include "base/file.h"
#include "common/expect.h"

namespace hone::pipeline {
namespace {

TEST(StampFiles, AreThoseOfTheTaskOnItsTarget) {
  const TempDir dir = Must(TempDir::Create());
  const auto write = [&](const std::string& name) {
    Must(MakeDirs(DirName(dir.Join(name))));
    Must(WriteFileAtomic(dir.Join(name), "x"));
  };
  for (const char* name : {"a.cpu.done", "a.cpu.winograd-off.tf32.done", "net.cpu.r1/a.done", "net.cpu.r2/a.done",
                           "net.cpu.r2/b.done", "other.gpu.r1/a.done", "b.cpu.done", "a.gpu.done", "a2.cpu.done",
                           "net.cpu.tuned", "a.cpu.notes", "a.cpu.old.done"}) {
    write(std::string("work/stamps/") + name);
  }
  std::vector<std::string> expected;
  for (const char* name : {"a.cpu.done", "a.cpu.winograd-off.tf32.done", "net.cpu.r1/a.done", "net.cpu.r2/a.done"}) {
    expected.push_back(dir.Join(std::string("work/stamps/") + name));
  }
  EXPECT_EQ(Must(StampsOfRecords(dir.Join("work/records/cpu/a.db"))), expected);
  EXPECT_EQ(Must(StampsOfRecords(dir.Join("work/tasks/../records/cpu/a.db"))), expected);
  for (const char* other : {"work/records/cpu/none.db", "work/records/a.db", "work/merged/cpu/a.db",
                            "work/records/cpu/a", "elsewhere/records/cpu/a.db"}) {
    EXPECT_TRUE(Must(StampsOfRecords(dir.Join(other))).empty()) << other;
  }
}

TEST(StampFiles, AFolderThatCannotBeReadIsAnError) {
  const TempDir dir = Must(TempDir::Create());
  Must(MakeDirs(dir.Join("work")));
  EXPECT_TRUE(Must(StampsOfRecords(dir.Join("work/records/cpu/a.db"))).empty()) << "nothing has been tuned by Ninja";
  Must(WriteFileAtomic(dir.Join("work/stamps"), "not a folder"));  // also for root
  const auto stamps = StampsOfRecords(dir.Join("work/records/cpu/a.db"));
  ASSERT_FALSE(stamps.ok());
  EXPECT_THAT(stamps.status().message(), HasSubstr(dir.Join("work/stamps")));
}

TEST(StampFiles, AreRecognisedAsTheyAreNamed) {
  TuneSettings settings;
  for (const int64_t winograd : {6, 2, 0}) {
    for (const bool tf32 : {false, true}) {
      settings.winograd = winograd, settings.tf32 = tf32;
      const std::string path = StampPath("a", "cpu", settings);
      EXPECT_EQ(DirName(path), "stamps");
      EXPECT_TRUE(IsStampOf(BaseName(path), "a", "cpu")) << path;
      EXPECT_FALSE(IsStampOf(BaseName(path), "b", "cpu")) << path;
      EXPECT_FALSE(IsStampOf(BaseName(path), "a", "gpu")) << path;
    }
  }
  EXPECT_EQ(StampPath("a", "cpu", settings), "stamps/a.cpu.winograd-off.tf32.done");
  EXPECT_FALSE(IsStampOf("a.cpu.notes", "a", "cpu"));
  EXPECT_FALSE(IsStampOf("a.cpu.done", "a", "cpu.done"));
  for (const char* of_cpu_old : {"a.cpu.old.done", "a.cpu.old.tf32.done", "a.cpu.old.winograd-2.done"}) {
    EXPECT_FALSE(IsStampOf(of_cpu_old, "a", "cpu")) << of_cpu_old;
    EXPECT_TRUE(IsStampOf(of_cpu_old, "a", "cpu.old")) << of_cpu_old;
  }
}

}  // namespace
}  // namespace hone::pipeline
