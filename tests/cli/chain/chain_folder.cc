#include "chain_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/network_builder.h"

namespace hone {
namespace {

constexpr const char* kTools[] = {"hone-plan",      "hone-extract", "hone-tune",    "hone-allocate",
                                  "hone-pick-best", "hone-confirm", "hone-build",   "hone-bench",
                                  "hone-report",    "hone-records", "hone-quantise"};
// These accept --pretend-versions.
const std::set<std::string> kVersioned = {"hone-tune",  "hone-extract",  "hone-confirm", "hone-build",
                                          "hone-bench", "hone-allocate", "hone-quantise"};

}  // namespace

void ChainFolder::SetUp() {
  for (const char* tool : kTools) WriteTool(tool);
  Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\n");
  WriteNetwork("one", 192);
  WriteNetwork("two", 256);
  WritePipeline("one", 8);
  WritePipeline("two", 8);
}

void ChainFolder::TearDown() {
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
  EXPECT_TRUE(WaitForProcesses(20));
}

void ChainFolder::WriteTool(const std::string& name) {
  std::string flags = (name == "hone-tune" ? invented_ : "") + (kVersioned.count(name) > 0 ? pretended_ : "");
  std::string script = "#!/bin/sh\n";
  if (name == "hone-tune" && !failing_.empty()) {
    const std::vector<std::string> ids(failing_.begin(), failing_.end());
    // With a share of failures of 1, all trials fail.
    script += fmt::format("case $* in *{}*) set -- \"$@\" --fake-measure 1,0,1 ;; *) set -- {}\"$@\" ;; esac\n",
                          Join(ids, "*|*"), invented_);
    flags = pretended_;
  }
  WriteProgram("bin/" + name, script + fmt::format("exec '{}/{}' {}\"$@\"\n", HONE_BIN, name, flags));
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
  for (const std::string& tool : kVersioned) WriteTool(tool);
}

void ChainFolder::WriteNetwork(const std::string& name, int classes, int channels) {
  graph::NetworkBuilder net(name, 3);
  std::string x = net.Input("data", {1, 3, 14, 14});
  x = net.Relu("r1", net.Conv("c1", x, channels, {{3}, {1}, {1}}));
  x = net.Relu("r2", net.Add("a", net.Conv("c2", x, channels, {{3}, {1}, {1}}), x));
  x = net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x));
  Write("pipelines/models/" + name + ".json", graph::GraphText(net.Finish({net.Dense("fc", x, classes)})));
}

void ChainFolder::WritePipeline(const std::string& name, int trials, const std::string& tuner, bool alternatives) {
  Write("pipelines/" + name + ".toml",
        fmt::format("network = \"models/{}.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"{}\"\ntrials = {}\n"
                    "alternatives = {}\n[measure]\n"
                    "candidate_seconds = 0.01\ntimeout_seconds = 120\nfinalists = 2\n[bench]\nprocesses = 2\n"
                    "iterations = 3\nwarmup = 1\n",
                    name, tuner, trials, alternatives));
}

pipeline::TaskList ChainFolder::List(const std::string& network) const {
  return Must(pipeline::ReadTaskList(Work("tasks/" + network + ".cpu.tasks.json")));
}

std::vector<std::string> ChainFolder::Tasks(const std::string& network) const {
  std::vector<std::string> ids;
  for (const pipeline::TaskEntry& task : List(network).tasks) ids.push_back(task.id);
  return ids;
}

std::vector<uint64_t> ChainFolder::Trials(const std::string& task) const {
  std::vector<uint64_t> indices;
  if (!Exists(Db(task))) return indices;
  const auto store = Must(record::Store::OpenForReading(Db(task)));
  for (const record::Trial& trial : Must(store->AllTrials())) indices.push_back(trial.outcome.config.index);
  return indices;
}

std::map<std::string, std::vector<uint64_t>> ChainFolder::AllTrials(const std::string& network) const {
  std::map<std::string, std::vector<uint64_t>> all;
  for (const std::string& task : Tasks(network)) all[task] = Trials(task);
  return all;
}

pipeline::BestFile ChainFolder::Best(const std::string& job) const {
  return Must(pipeline::ReadBestFile(Work("best/" + job + ".json")));
}

void ChainFolder::ExpectVerified(const std::string& job) const {
  Json bench = ReadJson("work/bench/" + job + ".json");
  EXPECT_EQ(bench["verification"]["ok"], true) << bench.dump(1);
}

std::vector<pid_t> ChainFolder::Processes(const std::string& word) const {
  std::vector<pid_t> found;
  const std::string project = DirName(Path("x"));
  auto names = ListDir("/proc");
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    auto pid = ParseInt(name);
    if (!pid.ok()) continue;
    char folder[4096];
    const ssize_t length = readlink(fmt::format("/proc/{}/cwd", name).c_str(), folder, sizeof folder);
    if (length <= 0 || !StartsWith(std::string_view(folder, length), project)) continue;
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
