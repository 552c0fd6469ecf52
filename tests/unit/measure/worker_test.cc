// How a child ended, and whose fault that was: the candidate's or this machine's. The children are shell scripts.
#include "measure/worker.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "common/expect.h"
#include "measure/child_measurer.h"
#include "unit/measure/twice_task.h"

namespace hone::measure {
namespace {

class WorkerTest : public testing::Test {
 protected:
  std::string Script(const std::string& lines) {
    const std::string path = dir_.Join("worker");
    Must(WriteFileAtomic(path, "#!/bin/sh\n" + lines + "\n"));
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }
  // What the parent learns of a child that ends in this way.
  Status End(const std::string& lines) {
    Worker worker({Script(lines), "measure"});
    Must(worker.Start());
    return worker.Receive(60).status();
  }

  TempDir dir_ = Must(TempDir::Create());
};

TEST_F(WorkerTest, SignalsOfItsOwnAreTheCandidatesAndOthersTheMachines) {
  for (const char* name : {"SEGV", "BUS", "ILL", "FPE", "ABRT", "TRAP", "SYS", "XFSZ"}) {
    const Status status = End(std::string("echo started >&2; echo words >&2; kill -") + name + " $$");
    EXPECT_EQ(status.kind(), StatusKind::kCrashed) << status.message();
    EXPECT_EQ(status.message(), std::string("killed by SIG") + name + ": words");
  }
  for (const char* name : {"KILL", "TERM", "HUP", "INT", "XCPU", "USR1", "ALRM", "PIPE"}) {
    const Status status = End(std::string("echo started >&2; kill -") + name + " $$");
    EXPECT_EQ(status.kind(), StatusKind::kIo) << status.message();
    EXPECT_THAT(status.message(), HasSubstr(std::string("killed by SIG") + name));
  }
}

TEST_F(WorkerTest, AnExitIsTheCandidatesUnlessMemoryOrALibraryWasMissing) {
  EXPECT_EQ(End("echo started >&2; exit 0").kind(), StatusKind::kCrashed);
  EXPECT_EQ(End("echo started >&2; exit 3").message(), "exited 3");
  EXPECT_EQ(End("exit 3").kind(), StatusKind::kIo) << "before any code of ours ran";
  for (const char* lines :
       {"exit 75", "echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$", "echo std::bad_alloc >&2; kill -ABRT $$",
        "echo 'error while loading shared libraries: libx.so' >&2; exit 127"}) {
    EXPECT_EQ(End(std::string("echo started >&2; ") + lines).kind(), StatusKind::kIo) << lines;
  }
}

TEST_F(WorkerTest, ThreeChildrenTryACandidateThatThisMachineFails) {
  TaskSetup setup = TwiceTask(dir_);
  const std::string count = dir_.Join("count");
  const std::string program = Script("echo >> " + count + "\nexec " HONE_TEST_WORKER " \"$@\"");
  ChildMeasurer measurer(program, setup);
  BuiltKernel kernel = TwiceKernel("short_of_memory", "pack");
  kernel.path = HONE_TEST_KERNELS;
  EXPECT_EQ(Must(measurer.Measure(kernel, 0)).error, TrialError::kDevice);
  EXPECT_EQ(Must(ReadFile(count)), "\n\n\n");
}

}  // namespace
}  // namespace hone::measure
