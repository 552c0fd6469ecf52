#include "tune_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone {
namespace {

constexpr char kWorkload[] = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + bias";

}  // namespace

void TuneFolder::SetUp() {
  auto dir = TempDir::Create("hone-cli");
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  dir_ = std::make_unique<TempDir>(std::move(*dir));
  WriteTask(kWorkload);
  WriteSettings(40);
}

void TuneFolder::WriteSettings(int trials, const std::string& more) {
  const std::string text =
      fmt::format(R"({{"version": 1, "tuner": "random", "trials": {}, "seed": 3{}}})", trials, more);
  ASSERT_TRUE(WriteFileAtomic(Path("s.json"), text).ok());
}

void TuneFolder::WriteTask(const std::string& workload) {
  auto target = HostTarget();
  ASSERT_TRUE(target.ok()) << target.status().message();
  auto parsed = Workload::Parse(workload);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const std::string text =
      fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 3612672}})",
                  TaskId(*parsed, target->Text()), parsed->Text(), target->Text());
  ASSERT_TRUE(WriteFileAtomic(Path("t.json"), text).ok());
}

std::vector<std::string> TuneFolder::Arguments(const std::vector<std::string>& more) const {
  std::vector<std::string> all = {"--task", Path("t.json"), "--settings", Path("s.json"),
                                  "--db",   Db(),           "--stamp",    Stamp()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

CommandResult TuneFolder::RunOnly(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {HONE_TUNE};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return RunTool(argv);
}

CommandResult TuneFolder::RunTool(const std::vector<std::string>& argv) {
  auto result = RunCommand(argv);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult();
}

CommandResult TuneFolder::Run(const std::vector<std::string>& more) { return RunOnly(Arguments(more)); }

Subprocess TuneFolder::Start(const std::vector<std::string>& more) {
  SpawnOptions options;
  options.argv = {HONE_TUNE};
  const auto arguments = Arguments(more);
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  options.stdin_fd = options.stdout_fd = options.stderr_fd = null_fd;
  auto process = Subprocess::Spawn(options);
  close(null_fd);
  EXPECT_TRUE(process.ok()) << process.status().message();
  return process.ok() ? std::move(*process) : Subprocess();
}

std::vector<record::Trial> TuneFolder::Trials() const {
  auto store = record::Store::OpenForReading(Db());
  if (!store.ok()) return {};
  auto trials = (*store)->Trials();
  EXPECT_TRUE(trials.ok()) << trials.status().message();
  return trials.ok() ? *trials : std::vector<record::Trial>();
}

std::vector<uint64_t> TuneFolder::Indices() const {
  std::vector<uint64_t> indices;
  for (const record::Trial& trial : Trials()) indices.push_back(trial.outcome.config.index);
  return indices;
}

std::string TuneFolder::StampText() const {
  auto text = ReadFile(Stamp());
  return text.ok() ? *text : "";
}

void TuneFolder::Reset() {
  ASSERT_TRUE(RemoveTree(Path("records")).ok());
  ASSERT_TRUE(RemoveTree(Path("stamps")).ok());
}

std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word) {
  std::vector<pid_t> found;
  auto children = ReadFile(fmt::format("/proc/{0}/task/{0}/children", parent));
  if (!children.ok()) return found;
  for (const std::string& text : SplitWords(*children)) {
    auto pid = ParseInt(text);
    auto command = ReadFile(fmt::format("/proc/{}/cmdline", text));
    if (pid.ok() && command.ok() && command->find(word) != std::string::npos) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

}  // namespace hone
