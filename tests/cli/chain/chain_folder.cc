#include "chain_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "graph/graph_json.h"
#include "graph/network_builder.h"
#include "pipeline/task_list.h"

namespace hone {
namespace {

graph::Graph Network(const std::string& name, int classes) {
  graph::NetworkBuilder net(name, 3);
  std::string x = net.Input("data", {1, 3, 14, 14});
  x = net.Relu("r1", net.Conv("c1", x, 64, {{3}, {1}, {1}}));
  x = net.Relu("r2", net.Add("a", net.Conv("c2", x, 64, {{3}, {1}, {1}}), x));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), classes)});
}

}  // namespace

void ChainFolder::SetUp() {
  Result<TempDir> dir = TempDir::Create("hone-chain");
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  dir_.emplace(std::move(*dir));
  for (const char* tool : {"hone-plan", "hone-extract", "hone-tune", "hone-allocate", "hone-pick-best", "hone-confirm",
                           "hone-build", "hone-bench", "hone-report", "hone-records"}) {
    WriteTool(tool);
  }
  Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\n");
  Write("pipelines/models/one.json", graph::GraphText(Network("one", 192)));
  Write("pipelines/models/two.json", graph::GraphText(Network("two", 256)));
  WritePipeline("one", 8);
  WritePipeline("two", 8);
}

void ChainFolder::TearDown() {
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
  EXPECT_TRUE(WaitForProcesses(20));
}

// The clock of file times advances in ticks of the kernel, 4 to 10 ms, and Ninja sees no change within one.
void ChainFolder::WaitForTick() {
  if (ran_) RealClock()->SleepSeconds(0.015);
  ran_ = false;
}

void ChainFolder::Write(const std::string& name, const std::string& text) {
  WaitForTick();
  ASSERT_TRUE(MakeDirs(DirName(Path(name))).ok());
  const Status written = WriteFileAtomic(Path(name), text);
  ASSERT_TRUE(written.ok()) << written.message();
}

void ChainFolder::Touch(const std::string& name) {
  WaitForTick();
  ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), nullptr, 0), 0) << name;
}

std::string ChainFolder::Read(const std::string& name) const {
  const Result<std::string> text = ReadFile(Path(name));
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

void ChainFolder::WriteTool(const std::string& name) {
  const bool versioned =
      name != "hone-plan" && name != "hone-pick-best" && name != "hone-report" && name != "hone-records";
  std::string flags = (name == "hone-tune" ? invented_ : "") + (versioned ? pretended_ : "");
  std::string script = "#!/bin/sh\n";
  if (name == "hone-tune" && !failing_.empty()) {
    const std::vector<std::string> ids(failing_.begin(), failing_.end());
    // With a share of failures of 1 there is nothing else.
    script += fmt::format("case $* in *{}*) set -- \"$@\" --fake-measure 1,0,1 ;; *) set -- {}\"$@\" ;; esac\n",
                          Join(ids, "*|*"), invented_);
    flags = pretended_;
  }
  Write("bin/" + name, script + fmt::format("exec '{}/{}' {}\"$@\"\n", HONE_BIN, name, flags));
  ASSERT_EQ(chmod(Path("bin/" + name).c_str(), 0755), 0);
}

void ChainFolder::InventTimes(uint64_t seed, double sleep_seconds) {
  invented_ = fmt::format("--fake-measure {},{} ", seed, sleep_seconds);
  WriteTool("hone-tune");
}

void ChainFolder::FailTasks(const std::set<std::string>& tasks) {
  failing_ = tasks;
  WriteTool("hone-tune");
}

void ChainFolder::RealTimes() {
  invented_.clear();
  WriteTool("hone-tune");
}

void ChainFolder::Pretend(const std::string& versions) {
  pretended_ = "--pretend-versions " + versions + " ";
  for (const char* tool : {"hone-tune", "hone-extract", "hone-confirm", "hone-build", "hone-bench", "hone-allocate"}) {
    WriteTool(tool);
  }
}

void ChainFolder::WritePipeline(const std::string& name, int trials, const std::string& tuner, bool alternatives) {
  Write("pipelines/" + name + ".toml",
        fmt::format("network = \"models/{}.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"{}\"\ntrials = {}\n"
                    "alternatives = {}\n[measure]\n"
                    "candidate_seconds = 0.01\ntimeout_seconds = 120\nfinalists = 2\n[bench]\nprocesses = 2\n"
                    "iterations = 3\nwarmup = 1\n",
                    name, tuner, trials, alternatives));
}

CommandResult ChainFolder::Run(const std::vector<std::string>& argv) {
  CommandOptions options;
  options.cwd = dir_->path();
  options.env = {{"HONE_LAUNCHER", ""}, {"NINJA_STATUS", ""}};
  options.timeout_seconds = 240;
  const Result<CommandResult> result = RunCommand(argv, options);
  ran_ = true;
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult{{1, 0}, "", ""};
}

CommandResult ChainFolder::Plan() { return Run({Path("bin/hone-plan"), "--tools", Path("bin")}); }

CommandResult ChainFolder::Ninja(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"ninja", "-C", "work"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Run(argv);
}

std::string ChainFolder::NinjaOk(const std::vector<std::string>& arguments) {
  const CommandResult result = Ninja(arguments);
  EXPECT_TRUE(result.status.ok()) << result.status.ToString() << "\n" << result.out << result.err;
  return result.out;
}

Subprocess ChainFolder::StartNinja(const std::vector<std::string>& arguments) {
  SpawnOptions options;
  options.argv = {"ninja", "-C", "work"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.cwd = dir_->path();
  options.env = {{"HONE_LAUNCHER", ""}};
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  options.stdin_fd = options.stdout_fd = options.stderr_fd = null_fd;
  auto process = Subprocess::Spawn(options);
  close(null_fd);
  ran_ = true;
  EXPECT_TRUE(process.ok()) << process.status().message();
  return process.ok() ? std::move(*process) : Subprocess();
}

void ChainFolder::ExpectNoWork(const std::string& target) {
  const std::string out = NinjaOk({target});
  EXPECT_NE(out.find("ninja: no work to do.\n"), std::string::npos) << out;
}

std::vector<std::string> ChainFolder::Tasks(const std::string& network) const {
  std::vector<std::string> ids;
  auto list = pipeline::ReadTaskList(Work("tasks/" + network + ".cpu.tasks.json"));
  EXPECT_TRUE(list.ok()) << list.status().message();
  if (!list.ok()) return ids;
  for (const pipeline::TaskEntry& task : list->tasks) ids.push_back(task.id);
  return ids;
}

std::vector<uint64_t> ChainFolder::Trials(const std::string& task) const {
  std::vector<uint64_t> indices;
  if (!Exists(Db(task))) return indices;
  auto store = record::Store::OpenForReading(Db(task));
  EXPECT_TRUE(store.ok()) << store.status().message();
  if (!store.ok()) return indices;
  auto trials = (*store)->AllTrials();
  EXPECT_TRUE(trials.ok()) << trials.status().message();
  if (!trials.ok()) return indices;
  for (const record::Trial& trial : *trials) indices.push_back(trial.outcome.config.index);
  return indices;
}

std::map<std::string, std::vector<uint64_t>> ChainFolder::AllTrials(const std::string& network) const {
  std::map<std::string, std::vector<uint64_t>> all;
  for (const std::string& task : Tasks(network)) all[task] = Trials(task);
  return all;
}

pipeline::BestFile ChainFolder::Best(const std::string& network) const {
  auto best = pipeline::ReadBestFile(Work("best/" + network + ".cpu.json"));
  EXPECT_TRUE(best.ok()) << best.status().message();
  return best.ok() ? *best : pipeline::BestFile();
}

void ChainFolder::ExpectRecordsAreWhole() {
  const CommandResult result = Run({Path("bin/hone-records"), "verify", "work/records/cpu"});
  EXPECT_TRUE(result.status.ok()) << result.out << result.err;
}

std::vector<pid_t> ChainFolder::Processes(const std::string& word) const {
  std::vector<pid_t> found;
  if (!dir_) return found;
  auto names = ListDir("/proc");
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    auto pid = ParseInt(name);
    if (!pid.ok()) continue;
    char folder[4096];
    const ssize_t length = readlink(fmt::format("/proc/{}/cwd", name).c_str(), folder, sizeof folder);
    if (length <= 0 || std::string_view(folder, length).rfind(dir_->path(), 0) != 0) continue;
    auto command = ReadFile(fmt::format("/proc/{}/cmdline", name));
    if (command.ok() && command->find(word) != std::string::npos) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

bool ChainFolder::WaitForProcesses(double seconds) const {
  const double end = RealClock()->NowSeconds() + seconds;
  while (!Processes().empty()) {
    if (RealClock()->NowSeconds() > end) return false;
    RealClock()->SleepSeconds(0.005);
  }
  return true;
}

std::string ChoicesText(const pipeline::BestFile& best) {
  std::string text;
  for (const pipeline::BestEntry& entry : best.tasks) {
    text += fmt::format("{}: {} trial {}, {} s, steps {}\n", entry.id, entry.config ? entry.config->ToJson() : "none",
                        entry.trial, entry.median, entry.steps_digest);
  }
  return text;
}

}  // namespace hone
