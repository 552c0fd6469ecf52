#include "work_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/text.h"

namespace hone {
void WorkFolderTest::SetUp() {
  Result<TempDir> dir = TempDir::Create("hone-manifest");
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  dir_.emplace(std::move(*dir));
  const std::string inner = dir_->Join(project_);
  ASSERT_TRUE(MakeDirs(inner).ok());

  const Result<std::string> script = ReadFile("tests/cli/manifest/fake_tool.sh");
  ASSERT_TRUE(script.ok()) << script.status().message();
  for (const char* tool : {"hone-extract", "hone-tune", "hone-pick-best", "hone-confirm", "hone-build", "hone-bench", "hone-report"}) {
    const std::string name = std::string("bin/") + tool;
    Write(name, *script);
    ASSERT_EQ(chmod(Path(project_ + "/" + name).c_str(), 0755), 0);
    Write(name + ".abi", "version 1\n");
  }
  // These two are the real ones.
  ASSERT_EQ(symlink(HONE_PLAN, Path(project_ + "/bin/hone-plan").c_str()), 0);
  ASSERT_EQ(symlink(HONE_ALLOCATE, Path(project_ + "/bin/hone-allocate").c_str()), 0);
  Write("bin/networks/resnet-18", "a b\n");
  Write("bin/networks/resnet-34", "b c\n");
  Write("bin/speed", "10\n");
  Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\n");
  WritePipeline("alpha", "resnet-18", 4);
  WritePipeline("beta", "resnet-34", 4);
}

// It does so in steps of the kernel's tick, 4 to 10 ms, and Ninja sees no change within one.
void WorkFolderTest::WaitForTick() {
  if (ran_) std::this_thread::sleep_for(std::chrono::milliseconds(15));
  ran_ = false;
}

void WorkFolderTest::Write(const std::string& name, const std::string& text) {
  WaitForTick();
  const std::string path = Path(project_ + "/" + name);
  ASSERT_TRUE(MakeDirs(DirName(path)).ok());
  // Not WriteFileAtomic: it waits for the disk, and a test writes dozens.
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  ASSERT_TRUE(file.flush().good()) << path;
}

void WorkFolderTest::Touch(const std::string& name) {
  WaitForTick();
  ASSERT_EQ(utimensat(AT_FDCWD, Path(project_ + "/" + name).c_str(), nullptr, 0), 0) << name;
}

std::string WorkFolderTest::Read(const std::string& name) const {
  const Result<std::string> text = ReadFile(Path(project_ + "/" + name));
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

void WorkFolderTest::WritePipeline(const std::string& name, const std::string& network, int trials) {
  Write("pipelines/" + name + ".toml",
        fmt::format("network = \"{}\"\ntargets = [\"cpu\"]\n[tune]\ntrials = {}\n", network, trials));
}

CommandResult WorkFolderTest::RunPlan(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {Path(project_ + "/bin/hone-plan"), "--tools", Path(project_ + "/bin")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.cwd = Path(project_);
  const Result<CommandResult> result = RunCommand(argv, options);
  ran_ = true;
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult();
}

CommandResult WorkFolderTest::Ninja(const std::vector<std::string>& arguments,
                                    std::vector<std::pair<std::string, std::string>> env) {
  std::vector<std::string> argv = {"ninja", "-C", "work"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.cwd = Path(project_);
  options.env = {{"HONE_LAUNCHER", ""}, {"NINJA_STATUS", ""}};
  options.env.insert(options.env.end(), env.begin(), env.end());
  const Result<CommandResult> result = RunCommand(argv, options);
  ran_ = true;
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult();
}

std::string WorkFolderTest::NinjaOk(const std::vector<std::string>& arguments) {
  const CommandResult result = Ninja(arguments);
  EXPECT_TRUE(result.status.ok()) << result.out << result.err;
  return result.out;
}

std::vector<std::string> WorkFolderTest::Calls() {
  const std::string path = Path(project_ + "/bin/calls");
  if (!Exists(path)) return {};
  std::vector<std::string> lines = Split(Trim(Read("bin/calls")), '\n');
  EXPECT_TRUE(Remove(path).ok());
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace hone
