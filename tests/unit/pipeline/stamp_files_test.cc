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
  for (const char* name :
       {"a.cpu.done", "a.cpu.winograd-off.tf32.done", "net.cpu.r1/a.done", "net.cpu.r2/a.done", "net.cpu.r2/b.done",
        "other.gpu.r1/a.done", "b.cpu.done", "a.gpu.done", "a2.cpu.done", "net.cpu.tuned", "a.cpu.notes"}) {
    write(std::string("work/stamps/") + name);
  }
  std::vector<std::string> expected;
  for (const char* name : {"a.cpu.done", "a.cpu.winograd-off.tf32.done", "net.cpu.r1/a.done", "net.cpu.r2/a.done"}) {
    expected.push_back(dir.Join(std::string("work/stamps/") + name));
  }
  EXPECT_EQ(StampsOfRecords(dir.Join("work/records/cpu/a.db")), expected);
  EXPECT_EQ(StampsOfRecords(dir.Join("work/tasks/../records/cpu/a.db")), expected);
  for (const char* other : {"work/records/cpu/none.db", "work/records/a.db", "work/merged/cpu/a.db",
                            "work/records/cpu/a", "elsewhere/records/cpu/a.db"}) {
    EXPECT_TRUE(StampsOfRecords(dir.Join(other)).empty()) << other;
  }
}

}  // namespace
}  // namespace hone::pipeline
