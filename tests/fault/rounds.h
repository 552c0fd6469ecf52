// Shared parts of the rounds of faults: their number and seed, the undisturbed chain, and one disturbance of a running
// Ninja.
#pragma once

#include <fmt/format.h>
#include <signal.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/rng.h"
#include "base/text.h"
#include "chain_folder.h"

namespace hone {

inline int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == 0 ? otherwise : Must(ParseInt(text));
}
inline int FaultRounds() { return static_cast<int>(FromEnvironment("HONE_FAULT_ROUNDS", 20)); }
inline uint64_t FaultSeed() { return static_cast<uint64_t>(FromEnvironment("HONE_FAULT_SEED", 1)); }

inline constexpr double kPatience = 600;  // seconds until a hang counts as a failure: these tests do not measure speed

// Parts of command lines: the program and its first argument.
inline const std::string kTuner = "/bin/hone-tune", kCompiler("hone-worker\0compile", 19),
                         kMeasurer("hone-worker\0measure", 19);

struct Blow {
  std::string victim;  // empty: Ninja; else a part of its command line
  int signal = 0;
  std::string Text() const {
    return fmt::format("signal {} to {}", signal,
                       victim.empty() ? "ninja" : ReplaceAll(victim, std::string(1, '\0'), " "));
  }
};

// ChoicesText() without "trial N".
inline std::string WithoutTrials(const std::string& choices) {
  std::string text;
  for (const std::string& line : Split(choices, '\n')) {
    const size_t trial = line.find(" trial "), comma = line.find(',', trial);
    text += trial == std::string::npos ? line : line.substr(0, trial) + line.substr(comma);
    text += '\n';
  }
  return text;
}

class FaultFolder : public ChainFolder {
 protected:
  // The outcomes of a task, one per line: index, state, error, and with `times` the median.
  std::vector<std::string> Outcomes(const std::string& task, bool times) const {
    std::vector<std::string> lines;
    const Result<int64_t> size = FileSize(Db(task));
    if (!size.ok() || *size == 0) return lines;  // killed before or while it was created
    const auto store = Must(record::Store::OpenForReading(Db(task)));
    for (const record::Trial& trial : Must(store->Trials())) {
      const Outcome& o = trial.outcome;
      std::string line = fmt::format("{} {} {}", trial.ordinal, o.config.index, TrialErrorName(o.error));
      if (times) line += fmt::format(" {} {}", TrialStateName(o.state), o.median);
      lines.push_back(line);
    }
    return lines;
  }
  std::map<std::string, std::vector<std::string>> AllOutcomes(bool times) const {
    std::map<std::string, std::vector<std::string>> all;
    for (const std::string& task : Tasks("one")) all[task] = Outcomes(task, times);
    return all;
  }

  // Runs the chain of network one undisturbed, saves its results, and removes everything except the extracted files.
  void Undisturbed(bool times) {
    NinjaOk({kGoal});
    times_ = times;
    expected_ = AllOutcomes(times);
    choices_ = ChoicesText(Best("one.cpu"));
    ASSERT_EQ(expected_.size(), 3u);
    for (const auto& [task, outcomes] : expected_) ASSERT_GT(outcomes.size(), 5u) << task;
    RemoveResults();
  }
  void RemoveResults() {
    for (const char* folder : {"records", "stamps", "best"}) Must(RemoveTree(Work(folder)));
    kept_.clear();
  }

  // Starts Ninja, waits a random time of up to `seconds`, strikes, and waits for Ninja to end. Returns whether there
  // was a victim. Does not touch tools that outlive Ninja.
  bool Disturb(const Blow& blow, double seconds, Rng* rng) {
    Subprocess ninja = StartNinja({kGoal});
    const double end = RealClock()->NowSeconds() + kPatience;
    // Half of the faults come after trials were committed, however slow the machine is: a database has grown beyond its
    // initial size.
    if (rng->UniformInt(2) == 0) {
      std::map<std::string, int64_t> created;
      const auto grown = [&] {
        bool any = false;
        const auto names = ListDir(Work("records/cpu"));
        for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
          const Result<int64_t> size = FileSize(Work("records/cpu/" + name));
          if (!name.ends_with(".db") || !size.ok() || *size == 0) continue;
          any |= *size > created.emplace(name, *size).first->second;
        }
        return any;
      };
      while (!grown() && ninja.Running() && RealClock()->NowSeconds() < end) RealClock()->SleepSeconds(0.002);
      seconds /= 8;
    }
    RealClock()->SleepSeconds(seconds * rng->UniformDouble());
    bool struck = false;
    while (!struck && ninja.Running() && RealClock()->NowSeconds() < end) {
      if (blow.victim.empty()) {
        struck = kill(ninja.pid(), blow.signal) == 0;
      } else {
        for (const pid_t pid : Processes(blow.victim)) struck |= kill(pid, blow.signal) == 0;
      }
      if (!struck) RealClock()->SleepSeconds(0.001);
    }
    Must(ninja.Wait(kPatience));
    return struck;
  }

  // As above, in the order of their candidates, without ordinals and pruned trials: a run that lost trials must end
  // with the same.
  std::map<std::string, std::vector<std::string>> Sets(
      const std::map<std::string, std::vector<std::string>>& all) const {
    std::map<std::string, std::vector<std::string>> sets;
    for (const auto& [task, outcomes] : all) {
      // In another order, other trials are slower than twice the best so far.
      for (const std::string& line : outcomes) {
        sets[task].push_back(ReplaceAll(line.substr(line.find(' ') + 1), " pruned ", " ok "));
      }
      std::sort(sets[task].begin(), sets[task].end());
    }
    return sets;
  }
  // From now on hone-tune has simulated times, and the faults of fault_shim.c set by its variables
  // ("HONE_SHIM_CLOCK=3").
  void Shim(uint64_t times_seed, const std::string& variables) {
    InventTimes(times_seed, 0.001);
    ChangeTuner(ShimLine(variables), "");
  }
  // Changes bin/hone-tune to run the lines of shell `before` and to add flags.
  void ChangeTuner(const std::string& before, const std::string& flags) {
    std::string script = ReplaceAll(Read("bin/hone-tune"), "#!/bin/sh\n", "#!/bin/sh\n" + before);
    script = ReplaceAll(script, "/hone-tune' ", "/hone-tune' " + flags);
    WriteProgram("bin/hone-tune", script);
  }
  // Runs the chain from its extraction on, with each of hone-extract, hone-pick-best and hone-confirm in turn under the
  // faults `variables`. It may fail (with `always`, it must), with that tool's message, and must leave no incomplete
  // file. The tuner's times are those of InventTimes(times_seed). Returns the number of failures.
  int StrikeTheOthers(uint64_t times_seed, const std::string& variables, bool always) {
    InventTimes(times_seed);
    for (const char* folder : {"tasks", "nets"}) Must(RemoveTree(Work(folder)));
    int failed = 0;
    for (const std::string tool : {"hone-extract", "hone-pick-best", "hone-confirm"}) {
      const std::string path = "bin/" + tool, whole = Read(path);
      WriteProgram(path, ReplaceAll(whole, "#!/bin/sh\n", "#!/bin/sh\n" + ShimLine(variables)));
      const CommandResult result = Ninja({kGoal});
      WriteProgram(path, whole);
      EXPECT_FALSE(always && result.status.ok()) << tool << " wrote where nothing can be written";
      if (result.status.ok()) continue;
      ++failed;
      ExpectHas(result.out, {tool + ": error: "});
      ExpectHasNot(result.out, {"Aborted"});
      for (const char* name : {"best/one.cpu.json", "best/one.cpu.confirmed.json", "best/one.cpu.choice.json"}) {
        if (Exists(Work(name))) Must(pipeline::ReadBestFile(Work(name)));
      }
    }
    return failed;
  }

  // Expects that the records are a prefix of Undisturbed()'s, and have no fewer trials than last time.
  void ExpectNothingLost() {
    ASSERT_TRUE(WaitForProcesses(kPatience));  // only its tuner may read a live database
    for (const auto& [task, now] : AllOutcomes(times_)) {
      const std::vector<std::string>& expected = expected_.at(task);
      ASSERT_LE(now.size(), expected.size()) << task;
      EXPECT_GE(now.size(), kept_[task]) << task << ": committed trials are gone";
      kept_[task] = now.size();
      halfway_ += !now.empty() && now.size() < expected.size();
      for (size_t i = 0; i < now.size(); ++i) EXPECT_EQ(now[i], expected[i]) << task;
    }
  }
  // Runs the chain to its end and expects Undisturbed()'s results: the same trials and choices, and whole records. With
  // `reordered`: in any order.
  void ExpectTheSameInTheEnd(bool reordered = false) {
    ASSERT_TRUE(WaitForProcesses(kPatience));
    NinjaOk({kGoal});
    if (reordered) {
      EXPECT_EQ(Sets(AllOutcomes(times_)), Sets(expected_));
      EXPECT_EQ(WithoutTrials(ChoicesText(Best("one.cpu"))), WithoutTrials(choices_));
    } else {
      EXPECT_EQ(AllOutcomes(times_), expected_);
      if (times_) {
        EXPECT_EQ(ChoicesText(Best("one.cpu")), choices_);
      }
    }
    ExpectRecordsAreWhole();
    ExpectNoWork(kGoal);
    // Incomplete files were removed, or never had a name. A process killed between its last write and its end left a
    // lock that nobody holds: for Ninja everything is done, and nobody takes the lock over.
    for (const char* folder : {"records/cpu", "stamps", "best", "tasks", "nets"}) {
      const Words names = Must(ListDir(Work(folder)));
      for (const std::string& name : names) {
        if (name.find(".lock") != std::string::npos) {
          const auto holder = FileLock::Holder(JoinPath(Work(folder), name));
          EXPECT_TRUE(holder.ok() && *holder && (*holder)->gone) << name;
        }
        EXPECT_EQ(name.find("tmp"), std::string::npos) << name;
      }
    }
  }

  // A line of shell.
  std::string ShimLine(const std::string& variables) const {
    return fmt::format("export LD_PRELOAD='{}' HONE_SHIM_FOLDER='{}' {}\n", HONE_FAULT_SHIM, Work(""), variables);
  }

  static constexpr const char* kGoal = "best-one-cpu";
  bool times_ = false;
  std::map<std::string, std::vector<std::string>> expected_;
  std::string choices_;
  std::map<std::string, size_t> kept_;
  int halfway_ = 0;  // how often ExpectNothingLost() saw a task that was started but not finished
};

}  // namespace hone
