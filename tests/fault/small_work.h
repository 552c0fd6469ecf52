// A work folder of one small network, the commands of its manifest, and what counts of their results.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "failing_call.h"
#include "pipeline/best_file.h"
#include "record/foreign_store.h"
#include "record/store.h"
#include "test_folder.h"

namespace hone {

using Files = std::map<std::string, std::string>;

struct Job {
  std::string name;
  Words argv;
  bool prints = false;     // its output is its result
  bool aside = false;      // the next job does not need its results
  bool allocates = false;  // its allocations fail as well
  bool slow = false;       // half a second: a sample has fewer failures
};

// The words of a command of the manifest: quotes hold spaces.
inline Words WordsOf(const std::string& line) {
  Words words;
  bool quoted = false, open = false;
  for (const char c : line) {
    if (c == '\'') {
      quoted = !quoted;
      if (quoted && !open) words.emplace_back();
      open = true;
    } else if (c == ' ' && !quoted) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += c;
    }
  }
  return words;
}

inline bool IsScratch(const std::string& name) {
  return name.ends_with("-journal") || name.ends_with(".log") || name.ends_with(".reference") ||
         name.ends_with(".progress.json");
}
// Files that end with the process that made them.
inline bool IsLeftover(const std::string& name) {
  return name.ends_with(".tmp") || name.ends_with(".claim") || name.ends_with(".lock");
}

class SmallWork : public TestFolder {
 protected:
  std::string Root() const { return Path("work"); }

  void SetUp() override {
    Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\n");
    const auto pipeline = [&](const std::string& name, const std::string& trials) {
      Write("pipelines/" + name + ".toml",
            fmt::format("network = \"conv2d(f32[1,4,6,6], f32[8,4,3,3], pad=1,1,1,1) + bias\"\ntargets = [\"cpu\"]\n"
                        "[tune]\ntuner = \"random\"\n{}\n[measure]\ncandidate_seconds = 0.01\nfinalists = 2\n"
                        "[bench]\nprocesses = 2\niterations = 3\nwarmup = 1\n",
                        trials));
    };
    pipeline("tiny", "trials = 3");
    pipeline("total", "trials_total = 8");
    std::filesystem::create_directories(Root());
  }

  // The files of the work folder.
  Files Bytes() const {
    Files files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Root())) {
      if (entry.is_regular_file()) files[entry.path().lexically_relative(Root())] = Must(ReadFile(entry.path()));
    }
    return files;
  }

  // What counts of a file, to be compared with an undisturbed run's.
  std::string Essence(const std::string& name, const std::string& bytes) const {
    if (name.ends_with(".db")) return Records(name, bytes);
    if (name.ends_with(".jsonl")) return HistoryLines(name, bytes);
    if (name.ends_with("nightly/index.html") || name.ends_with("nightly/junit.xml")) {
      return Trim(bytes).ends_with(name.ends_with(".html") ? "</html>" : "</testsuites>") ? "a page" : "half-written";
    }
    if (!name.ends_with(".json") && !name.ends_with(".done")) return bytes;
    auto json = ParseJson(bytes, name);
    if (!json.ok()) return "half-written: " + json.status().message();
    if (name.ends_with(".done")) {
      for (const char* key : {"search", "best"}) json->erase(key);
    } else if (name.ends_with("night.json")) {
      for (const char* key : {"night", "opened"}) json->erase(key);
    } else if (name.ends_with(".choice.json")) {
      return ChoiceOf(name);
    } else if (name.starts_with("bench/") || name.starts_with("report/") || name.ends_with(".confirmed.json")) {
      return name.starts_with("best/")
                 ? std::to_string(Must(pipeline::ReadBestFile(JoinPath(Root(), name))).tasks.size())
                 : Join(Keys(*json), " ");
    }
    return DumpJson(*json);
  }
  // Measured times choose among the tasks of the best file. In a network of a microsecond, both choices occur.
  std::string ChoiceOf(const std::string& name) const {
    const auto read = [&](const std::string& file) { return Must(pipeline::ReadBestFile(JoinPath(Root(), file))); };
    const std::string suffix = ".choice.json";
    const auto choice = read(name), all = read(name.substr(0, name.size() - suffix.size()) + ".json");
    const bool known =
        std::ranges::all_of(choice.tasks, [&](const auto& task) { return all.Find(task.id) != nullptr; });
    return choice.tasks.empty() ? "no tasks" : known ? "tasks of the best file" : "other tasks";
  }
  // The whole lines of a history of nights, acceptances or samples, without times, dates and names of users. The next
  // writer cuts off a torn one.
  static std::string HistoryLines(const std::string& name, const std::string& bytes) {
    std::string text;
    const Words lines = Split(bytes, '\n');
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      auto json = ParseJson(lines[i], name);
      if (!json.ok()) return text + "no line: " + json.status().message();
      for (const char* key : {"recorded", "by", "night", "samples", "ratio", "low", "high", "p", "why"})
        json->erase(key);
      for (const char* key : {"library", "reference", "canary"}) {
        if (json->contains(key)) json->at(key).erase("processes");
      }
      text += DumpJson(*json, -1) + "\n";
    }
    return text;
  }
  static Words Keys(const Json& json) {
    Words keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
  }

  // A line for each trial, or each record of another tuner.
  std::string Records(const std::string& name, const std::string& bytes) const {
    if (bytes.empty()) return "";
    if (name.starts_with("foreign/")) return ForeignRecords(name);
    auto store = record::Store::OpenForReading(JoinPath(Root(), name));
    // A tuner that did not come as far as its first commit.
    if (!store.ok() && store.status().message().find("an empty record file") != std::string::npos) return "";
    if (!store.ok()) return store.status().message();
    const auto trials = (*store)->Trials();
    if (!trials.ok()) return trials.status().message();
    std::string text;
    const auto sessions = (*store)->Sessions();
    if (!sessions.ok()) return sessions.status().message();
    for (const record::Trial& trial : *trials) {
      const Outcome& o = trial.outcome;
      std::string fingerprint;
      for (const record::Session& session : *sessions) {
        if (session.id == trial.session) fingerprint = session.fingerprint;
      }
      text += fmt::format("{} {} {} {} {} {}\n", trial.ordinal, o.config.index, TrialErrorName(o.error),
                          times_ ? fmt::format("{}", o.median) : "", fingerprint, ReplaceAll(o.error_text, "\n", " "));
    }
    return text;
  }

  std::string ForeignRecords(const std::string& name) const {
    const auto store = record::ForeignStore::OpenForReading(JoinPath(Root(), name));
    if (!store.ok() && store.status().message().find("an empty file of foreign records") != std::string::npos)
      return "";
    if (!store.ok()) return store.status().message();
    std::string text;
    const Status read = (*store)->ForEach("", [&](int64_t number, const record::ForeignRecord& r) {
      text += fmt::format("{} {} {} {} {}\n", number, r.task, r.seconds, r.error, r.text);
      return true;
    });
    return text + read.message();
  }

  Files Essences(const Files& bytes) const {
    Files files;
    for (const auto& [name, text] : bytes) {
      if (IsScratch(name)) continue;
      if (name.ends_with(".lock")) {  // the next one takes over the lock of a process that is gone
        const auto holder = FileLock::Holder(JoinPath(Root(), name));
        if (holder.ok() && *holder && (*holder)->gone) continue;
      }
      // Samples are in a file that is named after its night.
      const bool samples = name.find("/samples/") != std::string::npos;
      files[samples ? JoinPath(DirName(name), "NIGHT.jsonl") : name] += Essence(name, text);
    }
    return files;
  }

  // A file that a later run replaces or removes.
  static bool IsDraft(const std::string& name) {
    return IsLeftover(name) || name.ends_with(".merging") || name.ends_with(".salvage") || name.ends_with(".salvaged");
  }

  // After a run that failed: the files that are neither as before nor as after a whole run, and those that are gone.
  // Records and histories may have some of their lines.
  static std::string HalfWritten(const Files& now, const Files& before, const Files& after,
                                 bool (*ignored)(const std::string& name)) {
    const auto is = [](const Files& files, const std::string& name, const std::string& essence) {
      return files.contains(name) && files.at(name) == essence;
    };
    std::string text;
    for (const auto& [name, essence] : now) {
      const bool grows = name.ends_with(".db") || name.ends_with(".jsonl");
      const bool part = grows && after.contains(name) && after.at(name).starts_with(essence);
      if (part || ignored(name) || is(before, name, essence) || is(after, name, essence)) continue;
      text += name + " is neither as before nor as after: " + essence.substr(0, 300) + "; ";
    }
    for (const auto& [name, essence] : before) {
      if (!now.contains(name) && after.contains(name)) text += name + " is gone; ";
    }
    return text;
  }

  // The number in HONE_EACH: `all` if that is its value, `few` without it.
  static int64_t Each(int64_t few, int64_t all) {
    const char* each = std::getenv("HONE_EACH");
    if (each == nullptr) return few;
    return std::string(each) == "all" ? all : Must(ParseInt(each));
  }

  // A part of the last page: it may be the only one that has trials.
  void DamageEnd(const std::string& name) const {
    Files bytes = Bytes();
    std::string& file = bytes.at(name);
    std::fill(file.end() - 300, file.end(), 'x');
    Restore(bytes);
    const auto store = record::Store::OpenForReading(JoinPath(Root(), name));
    const auto findings = store.ok() ? (*store)->Verify() : store.status();
    EXPECT_TRUE(!findings.ok() || !findings->empty()) << name << " is still sound";
  }

  void Restore(const Files& files) const {
    const Files now = Bytes();
    for (const auto& [name, bytes] : now) {
      if (!files.contains(name)) Must(Remove(JoinPath(Root(), name)));
    }
    // The folders that a run made, for the next one to make again.
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Root())) {
      if (entry.is_directory()) folders.push_back(entry.path());
    }
    std::error_code not_empty;
    for (auto it = folders.rbegin(); it != folders.rend(); ++it) std::filesystem::remove(*it, not_empty);
    for (const auto& [name, bytes] : files) {
      const auto at = now.find(name);
      if (at != now.end() && at->second == bytes) continue;
      const std::string path = JoinPath(Root(), name);
      std::filesystem::create_directories(DirName(path));
      Must(Remove(path));  // it may be another name of a file that is as it should be
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    }
  }

  // Without OpenCL: PoCL ends the process if it gets no thread.
  static std::vector<std::pair<std::string, std::string>> Environment() {
    return {{"HONE_LAUNCHER", ""}, {"OCL_ICD_VENDORS", "/nowhere"}};
  }
  // With `allocation`, the n-th allocation fails; with 0, all are counted. The shim reports in "allocations".
  WatchedRun RunJob(const Job& job, FailingCall failing, std::optional<int64_t> allocation = {}) const {
    auto environment = Environment();
    if (allocation) {
      environment.insert(environment.end(), {{"LD_PRELOAD", HONE_ALLOC_SHIM},
                                             {"HONE_ALLOC_FAIL", std::to_string(*allocation)},
                                             {"HONE_ALLOC_REPORT", Path("allocations")}});
    }
    const WatchOptions options{.argv = job.argv, .env = environment, .cwd = Root(), .describe = failing.n == 0};
    return Must(RunWatched(options, failing));
  }

  Words Tool(const std::string& name, const Words& more) const {
    return Words{std::string(HONE_BIN) + "/" + name} + more;
  }
  // The command of the manifest that has these words.
  Words Command(const Words& parts) const {
    for (const Words& words : commands_) {
      if (std::ranges::all_of(parts, [&](const std::string& part) {
            return std::ranges::any_of(words,
                                       [&](const std::string& word) { return word.find(part) != std::string::npos; });
          })) {
        return words;
      }
    }
    ADD_FAILURE() << "no command has " << Join(parts, " ");
    return {};
  }
  void ReadCommands() {
    commands_.clear();
    for (const std::string& line : Split(NinjaOk({"-t", "commands", "tune-tiny-cpu", "tune-total-cpu"}), '\n')) {
      if (line.empty()) continue;
      commands_.push_back(WordsOf(ReplaceAll(ReplaceAll(line, "exec ", ""), "$HONE_LAUNCHER ", "")));
    }
  }

  static std::string Option(const Words& words, const std::string& name) {
    const auto at = std::find(words.begin(), words.end(), name);
    return at == words.end() ? "" : at[1];
  }
  void Quietly(const Words& words) const {
    const WatchedRun run = RunJob({"", words}, {});
    ASSERT_TRUE(run.status.ok()) << Join(words, " ") << "\n" << run.out;
  }
  // A line of AutoTVM's log.
  static std::string ForeignLine(int index, const std::string& seconds) {
    return fmt::format(
               R"({{"input": ["cuda -model=x", "some.template", [["TENSOR", [1, 4], "float32"]], {{}}], )"
               R"("config": {{"index": {}, "code_hash": null, "entity": []}}, "result": [[{}], 0, 1.5, 1.6e9], )"
               R"("version": 0.2}})",
               index, seconds) +
           "\n";
  }
  static std::string Replay() { return AbsolutePath("tests/replay/spaces/conv1x1_144x28.replay"); }

  bool times_ = false;  // simulated times are compared as well
  std::vector<Words> commands_;
};

}  // namespace hone
