// Every tool over a small job, with one system call failing: the n-th of its kind, for all n with HONE_EACH=all, else a
// few. Afterwards no file is half-written and no stamp says too much, and the same command without the failure ends
// with the results of an undisturbed run.
#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "nightly/accepted.h"
#include "small_work.h"

namespace hone {
namespace {

// Calls whose failure once did harm, by a part of their description: the first of them, or the first `most`.
struct Row {
  const char* job;
  CallKind kind;
  const char* call;
  int most = 1;
};
constexpr Row kRows[] = {
    {"plan", CallKind::kFork, "in hone-plan"},              // a tool that could not be asked for its versions had none
    {"plan again", CallKind::kWrite, "write(/memfd:"},      // a tool that could not write its versions succeeded
    {"plan", CallKind::kThread, "in hone-plan"},            // SIGABRT
    {"extract", CallKind::kOpen, "openat(/proc/cpuinfo)"},  // a target of another machine
    {"tune", CallKind::kThread, "in hone-tune"},            // SIGABRT
    {"tune", CallKind::kMmap, "in hone-worker"},            // a child that could not be loaded: its candidate's fault
    {"tune", CallKind::kFtruncate, ".so.tmp"},              // a kernel that could not be linked: the same
    {"verify", CallKind::kWrite, "write(/memfd:"},          // printed nothing and succeeded
    {"tune simulated", CallKind::kFsync, ".db-journal)", 12},  // trials were stored twice
    {"salvage", CallKind::kRename, "rename(", 4},              // the record file was gone
    {"import", CallKind::kFtruncate, ".db-journal)", 2},       // no reader could open its database
};

class EachFailure : public SmallWork {
 protected:
  // The differences of two states, in words.
  static std::string Difference(const Files& now, const Files& wanted, bool leftovers) {
    std::string text;
    for (const auto& [name, essence] : wanted) {
      const auto at = now.find(name);
      if (at == now.end()) {
        text += name + " is missing; ";
      } else if (at->second != essence) {
        text += name + " differs: " + at->second.substr(0, 300) + " | not: " + essence.substr(0, 300) + "; ";
      }
    }
    for (const auto& [name, essence] : now) {
      if (!wanted.contains(name) && (leftovers || !IsLeftover(name))) text += name + " should not be there; ";
    }
    return text;
  }

  // A run that failed: each file is as before or as after.
  static std::string Halves(const Files& now, const Files& before, const Files& after, bool leftovers) {
    std::string text;
    for (const auto& [name, essence] : now) {
      const auto old = before.find(name), done = after.find(name);
      const bool same =
          (old != before.end() && old->second == essence) || (done != after.end() && done->second == essence);
      const bool grows = name.ends_with(".db") || name.ends_with(".jsonl");
      const bool part = grows && done != after.end() && done->second.starts_with(essence);
      if (same || part || (!leftovers && IsLeftover(name))) continue;
      text += name + " is neither as before nor as after: " + essence.substr(0, 300) + "; ";
    }
    for (const auto& [name, essence] : before) {
      if (!now.contains(name) && after.contains(name)) text += name + " is gone; ";
    }
    return text;
  }

  // All that is wrong after a run with a failure.
  std::string Judge(const Job& job, CallKind kind, const WatchedRun& run, const Files& before, const Files& after,
                    const Files& bytes_before, const std::string& printed) {
    std::string wrong;
    if (run.hung) wrong += "hung; ";
    // Before main, the loader of glibc 2.36 reads what it did not get, in hone-records and hone-report.
    const bool in_loader = run.by_loader && run.status.signal == SIGSEGV && run.out.empty();
    if (in_loader && Bytes() == bytes_before) return "";
    if (run.status.signal != 0 || run.status.code >= 128) wrong += run.status.ToString() + "; ";
    for (const char* word : {"terminate called", "internal error"}) {
      if (run.out.find(word) != std::string::npos) wrong += std::string(word) + "; ";
    }
    const bool tidy = kind != CallKind::kLink;  // a file that cannot be removed stays
    const Files bytes = Bytes();
    const Files now = Essences(bytes);
    if (run.status.ok()) {
      wrong += Difference(now, after, tidy);
      if (job.prints && run.out != printed) wrong += "printed something else; ";
    } else {
      wrong += Halves(now, before, after, tidy);
      if (run.out.empty() && kind != CallKind::kWrite) wrong += "no message; ";
      const bool stamped = std::ranges::any_of(
          now, [&](const auto& file) { return file.first.ends_with(".done") && !before.contains(file.first); });
      for (const auto& [name, essence] : now) {
        if (stamped && name.ends_with(".db") && after.contains(name) && essence != after.at(name)) {
          wrong += "a stamp without its records; ";
        }
      }
    }
    if (const size_t said = run.out.find(" are recorded"); StartsWith(job.name, "tune") && said != std::string::npos) {
      const std::string before_it = run.out.substr(0, said);
      int64_t stored = 0;
      for (const auto& [name, essence] : now) {
        if (name.ends_with(".db") && !before.contains(name)) stored += std::count(essence.begin(), essence.end(), '\n');
      }
      if (Must(ParseInt(before_it.substr(before_it.rfind(' ') + 1))) > stored) wrong += "a reported trial is lost; ";
    }
    // A run that changed nothing leaves nothing to repeat.
    if (bytes == bytes_before && !run.status.ok()) return wrong;
    if (run.status.ok() && wrong.empty()) return wrong;
    const WatchedRun again = RunJob(job, {});
    ++reruns_;
    if (!again.status.ok() || again.hung) wrong += "the rerun " + again.status.ToString() + ": " + again.out + "; ";
    const std::string different = Difference(Essences(Bytes()), after, tidy);
    if (!different.empty()) wrong += "after the rerun: " + different;
    return wrong;
  }

  // The numbers to try of a kind with so many calls.
  static std::vector<int> Numbers(const Job& job, CallKind kind, const WatchedRun& whole) {
    const std::vector<std::string>& calls = whole.calls[static_cast<size_t>(kind)];
    const int count = static_cast<int>(calls.size());
    const char* each = std::getenv("HONE_EACH");
    std::vector<int> numbers;
    const auto k = static_cast<uint64_t>(kind);
    int few = each == nullptr ? 1 : std::string(each) == "all" ? count : static_cast<int>(Must(ParseInt(each)));
    if (each == nullptr) {
      if (job.slow && k % 8 != 0) few = 0;
      for (const Row& row : kRows) {
        if (row.job != job.name || row.kind != kind) continue;
        int found = 0;
        for (int i = 0; i < count && found < row.most; ++i) {
          if (calls[static_cast<size_t>(i)].find(row.call) == std::string::npos) continue;
          numbers.push_back(i + 1);
          ++found;
        }
        EXPECT_GT(found, 0) << job.name << " makes no call " << row.call << "\n" << Join(calls, "\n");
      }
    }
    const char* seed = std::getenv("HONE_FAULT_SEED");
    Rng rng(Mix64(Digest128(job.name).lo ^ Mix64(k)) ^ static_cast<uint64_t>(seed ? Must(ParseInt(seed)) : 1));
    for (int i = 0; i < few && i < count; ++i) {
      numbers.push_back(few >= count ? i + 1 : 1 + static_cast<int>(rng.UniformInt(static_cast<uint64_t>(count))));
    }
    return numbers;
  }

  // Likewise for a sample of its allocations: there are too many to try all.
  void TryAllocations(const Job& job, const Files& before, const Files& after, const Files& bytes_before,
                      const std::string& printed) {
    Restore(bytes_before);
    ASSERT_TRUE(RunJob(job, {}, 0).status.ok());
    const int64_t count = Allocations();
    ASSERT_GT(count, 0) << job.name << ": no allocation was seen";
    const int64_t runs = std::getenv("HONE_EACH") == nullptr ? 1 : 400;
    int64_t failed = 0, bad = 0;
    Rng rng(Digest128(job.name).lo);
    for (int64_t i = 0; i < runs; ++i) {
      const int64_t n = 1 + (i * count + static_cast<int64_t>(rng.UniformInt(static_cast<uint64_t>(count)))) / runs;
      Restore(bytes_before);
      const WatchedRun run = RunJob(job, {}, n);
      const std::string wrong = Judge(job, CallKind::kMmap, run, before, after, bytes_before, printed);
      failed += !run.status.ok();
      bad += !wrong.empty();
      if (!wrong.empty()) {
        ADD_FAILURE() << job.name << ", allocation " << n << " of " << count << ", " << run.status.ToString() << ": "
                      << wrong << "\n"
                      << run.out.substr(0, 600);
      }
    }
    std::printf("%-16s %-10s calls %5ld, runs %5ld, failed %5ld, wrong %4ld\n", job.name.c_str(), "malloc", count, runs,
                failed, bad);
    std::fflush(stdout);
  }

  // From the present state: an undisturbed run, then one for each failure. Ends in the undisturbed state, or where it
  // began if the job is `aside`.
  void Try(const Job& job) {
    const char* only = std::getenv("HONE_EACH_JOB");
    const Files bytes_before = Bytes();
    const Files before = Essences(bytes_before);
    const WatchedRun whole = RunJob(job, {});
    ASSERT_TRUE(whole.status.ok() && !whole.hung) << job.name << ": " << whole.out;
    const Files bytes_after = Bytes();
    const Files after = Essences(bytes_after);
    if (only != nullptr && ("," + std::string(only) + ",").find("," + job.name + ",") == std::string::npos)
      return Restore(job.aside ? bytes_before : bytes_after);
    for (int k = 0; k < kCallKinds; ++k) {
      const auto kind = static_cast<CallKind>(k);
      const char* which = std::getenv("HONE_EACH_KIND");
      if (which != nullptr && std::string(which).find(CallKindName(kind)) == std::string::npos) continue;
      const int count = whole.counts[static_cast<size_t>(k)];
      int ran = 0, failed = 0, reached = 0, bad = 0;
      const double start = RealClock()->NowSeconds();
      reruns_ = 0;
      for (const int n : Numbers(job, kind, whole)) {
        Restore(bytes_before);
        const WatchedRun run = RunJob(job, {kind, n});
        const std::string wrong = Judge(job, kind, run, before, after, bytes_before, whole.out);
        ++ran;
        failed += !run.status.ok();
        reached += !run.failed.empty();
        bad += !wrong.empty();
        if (!wrong.empty()) {
          ADD_FAILURE() << job.name << ", " << CallKindName(kind) << " " << n << " of " << count << ", " << run.failed
                        << ", " << run.status.ToString() << ": " << wrong << "\n"
                        << run.out.substr(0, 600);
        }
      }
      if (ran > 0) {
        std::printf("%-16s %-10s calls %5d, runs %5d, reached %5d, failed %5d, reruns %5d, wrong %4d, %6.1f s\n",
                    job.name.c_str(), CallKindName(kind), count, ran, reached, failed, reruns_, bad,
                    RealClock()->NowSeconds() - start);
        std::fflush(stdout);
      }
    }
    if (job.allocates && std::getenv("HONE_EACH_KIND") == nullptr)
      TryAllocations(job, before, after, bytes_before, whole.out);
    Restore(job.aside ? bytes_before : bytes_after);
  }

  int reruns_ = 0;
};

TEST_F(EachFailure, LeavesWhatARerunCompletes) {
  if (const std::string why = WhyNoWatching(); !why.empty()) GTEST_SKIP() << why;
  const Words plan = Tool("hone-plan", {"--pipelines", Path("pipelines"), "--work", "."});
  Try({"plan", plan});
  ReadCommands();
  Try({"extract", Command({"hone-extract", "tiny"})});
  Quietly(Command({"hone-extract", "total"}));
  Try({"plan again", plan});
  ReadCommands();
  Try({"allocate", Command({"hone-allocate"}), false, true});
  Words tune = Command({"hone-tune", "conv2d-bc"});
  times_ = true;
  Try({"tune simulated", tune + Words{"--fake-measure", "7"}, false, true, true});
  times_ = false;
  Try({.name = "tune", .argv = tune, .slow = true});
  const std::string db = Option(tune, "--db");
  for (Words& words : commands_) {
    const bool other =
        words.front().ends_with("hone-tune") && Option(words, "--settings") == Option(tune, "--settings");
    if (other && words != tune) Quietly(words);
  }
  Try({.name = "pick-best", .argv = Command({"hone-pick-best", "tiny"}), .allocates = true});
  Try({.name = "confirm", .argv = Command({"hone-confirm", "tiny"}), .slow = true});
  Try({"build", Command({"hone-build", "tiny", "choice.json"})});
  Quietly(Command({"hone-build", "tiny", "--untuned"}));
  Try({.name = "bench", .argv = Command({"hone-bench", "tiny"}), .slow = true});
  Try({.name = "report", .argv = Command({"hone-report", "tiny"}), .allocates = true});
  Try({"accept", Tool("hone-report", {"accept", "--reason", "the beginning", "tiny.cpu"})});
  const auto accepted = nightly::ReadAcceptances(JoinPath(Root(), "accepted"), "tiny.cpu");
  Write("times", Must(accepted).back().digest + " 0.01\n");  // real times take half a minute
  Try({"nightly",
       Tool("hone-bench", {"nightly", "--job", "tiny.cpu", "--lib", "out/tiny.cpu", "--fake-times", Path("times")})});
  Try({"verdict", Tool("hone-report", {"nightly", "--close", "--out", "report/nightly"}), true});
  const auto records = [&](const std::string& name, const Words& words, bool prints = false) {
    Try({name, Tool("hone-records", Words{name} + words), prints, true, true});
  };
  records("list", {"records/cpu"}, true);
  records("show", {db}, true);
  records("explain", {"best/tiny.cpu.confirmed.json"});  // prints what it can without records, too
  records("verify", {"records/cpu"}, true);
  records("status", {"."});
  records("export", {"records/cpu", "--out", "all.jsonl"});
  records("merge", {"records/cpu", "--out", "merged"});
  Write("a.log", ForeignLine(1, "0.002") + ForeignLine(2, "0.001"));
  Write("b.log", ForeignLine(1, "0.003"));
  Quietly(Tool("hone-records", {"import", Path("b.log"), "--db", "foreign/b.db"}));
  Try({"import", Tool("hone-records", {"import", Path("a.log"), "--db", "foreign/a.db"}), true});
  Try({"import again", Tool("hone-records", {"import", Path("a.log"), "--db", "foreign/b.db"}), true, true});
  records("compare", {"foreign/a.db", "foreign/b.db"}, true);
  Try({"list foreign", Tool("hone-records", {"list", "foreign"}), true, true});
  Try({"show foreign", Tool("hone-records", {"show", "foreign/a.db", "--trial", "2"}), true, true});
  Try({"export foreign", Tool("hone-records", {"export", "foreign", "--format", "autotvm", "--out", "out.log"}), false,
       true});
  Try({"verify foreign", Tool("hone-records", {"verify", "foreign"}), true, true});
  Try({"replay", Tool("hone-replay", {"--tuner", "random", "--seeds", "2", "--trials", "8", Replay()}), false, true});
  Try({.name = "doctor", .argv = Tool("hone-doctor", {}), .aside = true, .slow = true});
  const Words task = {"--task", Option(tune, "--task"), "--settings", Option(tune, "--settings")};
  Try({"list space", Tool("hone-tune", task + Words{"--list-space"}), true, true});
  Try({.name = "compile only", .argv = Tool("hone-tune", task + Words{"--compile-only"}), .aside = true, .slow = true});
  const std::string point =
      Must(Must(record::Store::OpenForReading(JoinPath(Root(), db)))->Trials())[0].outcome.config.IndexText();
  Try({.name = "one trial", .argv = Tool("hone-tune", task + Words{"--trial", point}), .aside = true, .slow = true});
  Try({"explain trial", Tool("hone-tune", task + Words{"--db", db, "--explain", "0"}), false, true});
  for (size_t i = 0; i < tune.size(); ++i) {
    if (tune[i] == "--db") tune[i + 1] = "failed/t.db";
    if (tune[i] == "--stamp") tune[i + 1] = "failed/t.done";
  }
  Quietly(tune + Words{"--fake-measure", "5,0,0.5", "--optional"});
  records("forget", {"failed/t.db", "--error", "crash"});
  Files bytes = Bytes();
  std::string& damaged = bytes.at(db);
  for (size_t i = damaged.size() - 4096; i < damaged.size(); ++i) damaged[i] = 'x';
  Restore(bytes);
  records("salvage", {db});
}

}  // namespace
}  // namespace hone
