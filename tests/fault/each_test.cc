// Every tool over a small job, with one system call failing: the n-th of its kind, for all n with HONE_EACH=all, else a
// few. HONE_EACH_JOB="tune,plan again" and HONE_EACH_KIND="open,malloc" choose jobs and kinds. Afterwards no file is
// half-written and no stamp says too much, and the same command without the failure ends with the results of an
// undisturbed run.
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
    {"confirm", CallKind::kMmap, "libc.so", 10},            // the same, for the process that runs the networks
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

  static std::string WithoutWarnings(const std::string& out) {
    Words lines = Split(out, '\n');
    std::erase_if(lines, [](const std::string& line) { return line.find(": warning: ") != std::string::npos; });
    return Join(lines, "\n");
  }

  struct Tally {
    int64_t runs = 0, reached = 0, failed = 0, reruns = 0, wrong = 0;
  };
  // Around an undisturbed run.
  struct Whole {
    Files bytes_before, before, after;
    std::string printed;
  };

  // All that is wrong after a run with a failure.
  std::string Judge(const Job& job, CallKind kind, const WatchedRun& run, const Whole& whole, Tally* tally) {
    const auto& [bytes_before, before, after, printed] = whole;
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
      // Only for candidates that crash.
      if (run.out.find("building the best alone") != std::string::npos) wrong += "gave up the alternatives; ";
      if (job.prints && WithoutWarnings(run.out) != WithoutWarnings(printed)) wrong += "printed something else; ";
    } else {
      // Lack of memory ends a tool on the spot, as a kill does.
      const bool at_once = run.out.find("(bad_alloc)") != std::string::npos;
      const auto ignored = at_once ? IsDraft : tidy ? [](const std::string&) { return false; } : IsLeftover;
      wrong += HalfWritten(now, before, after, ignored);
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
    ++tally->reruns;
    if (!again.status.ok() || again.hung) wrong += "the rerun " + again.status.ToString() + ": " + again.out + "; ";
    const std::string different = Difference(Essences(Bytes()), after, tidy);
    if (!different.empty()) wrong += "after the rerun: " + different;
    return wrong;
  }

  // The numbers to try of a kind with so many calls.
  static std::vector<int> Numbers(const Job& job, CallKind kind, const WatchedRun& whole) {
    const std::vector<std::string>& calls = whole.calls[static_cast<size_t>(kind)];
    const int count = static_cast<int>(calls.size());
    const bool sampled = std::getenv("HONE_EACH") == nullptr;
    std::vector<int> numbers;
    const auto k = static_cast<uint64_t>(kind);
    const int few = sampled && job.slow && k % 8 != 0 ? 0 : static_cast<int>(Each(1, count));
    for (const Row& row : kRows) {
      if (!sampled || row.job != job.name || row.kind != kind) continue;
      int found = 0;
      for (int i = 0; i < count && found < row.most; ++i) {
        if (calls[static_cast<size_t>(i)].find(row.call) == std::string::npos) continue;
        numbers.push_back(i + 1);
        ++found;
      }
      EXPECT_GT(found, 0) << job.name << " makes no call " << row.call << "\n" << Join(calls, "\n");
    }
    const char* seed = std::getenv("HONE_FAULT_SEED");
    Rng rng(Mix64(Digest128(job.name).lo ^ Mix64(k)) ^ static_cast<uint64_t>(seed ? Must(ParseInt(seed)) : 1));
    for (int i = 0; i < few && i < count; ++i) {
      numbers.push_back(few >= count ? i + 1 : 1 + static_cast<int>(rng.UniformInt(static_cast<uint64_t>(count))));
    }
    return numbers;
  }

  // Numbers of allocations to try: a sample of all, one in each of so many equal parts.
  static std::vector<int64_t> AllocationNumbers(const Job& job, int64_t count) {
    Rng rng(Digest128(job.name).lo);
    const int64_t few = Each(1, 400);
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < few; ++i) {
      numbers.push_back(1 + (i * count + static_cast<int64_t>(rng.UniformInt(static_cast<uint64_t>(count)))) / few);
    }
    return numbers;
  }

  // One run for each number, with that call failing; `kind` is kMmap for allocations, which fail as it does.
  template <typename Numbers>
  void TryNumbers(const Job& job, CallKind kind, bool allocations, const Numbers& numbers, int64_t count,
                  const Whole& whole) {
    const char* name = allocations ? kAllocations : CallKindName(kind);
    const double start = RealClock()->NowSeconds();
    Tally tally;
    for (const auto n : numbers) {
      Restore(whole.bytes_before);
      const WatchedRun run = allocations ? RunJob(job, {}, n) : RunJob(job, FailingCall{kind, static_cast<int>(n)});
      ++tally.runs;
      tally.reached += allocations ? Read("allocations") == "refused" : !run.failed.empty();
      tally.failed += !run.status.ok();
      const std::string wrong = Judge(job, kind, run, whole, &tally);
      if (wrong.empty()) continue;
      ++tally.wrong;
      ADD_FAILURE() << job.name << ", " << name << " " << n << " of " << count << ", " << run.failed << ", "
                    << run.status.ToString() << ": " << wrong << "\n"
                    << run.out.substr(0, 600);
    }
    if (tally.runs == 0) return;
    std::printf("%-16s %-10s calls %5ld, runs %5ld, reached %5ld, failed %5ld, reruns %5ld, wrong %4ld, %6.1f s\n",
                job.name.c_str(), name, count, tally.runs, tally.reached, tally.failed, tally.reruns, tally.wrong,
                RealClock()->NowSeconds() - start);
    std::fflush(stdout);
    runs_ += tally.runs;
    reached_ += tally.reached;
  }

  // Whether a comma-separated list in the environment has the name. Without the list, all are chosen.
  static bool Chosen(const char* variable, const std::string& name) {
    const char* list = std::getenv(variable);
    return list == nullptr || std::ranges::count(Split(list, ','), name) > 0;
  }
  static void ExpectKnown(const char* variable, const Words& known) {
    const char* list = std::getenv(variable);
    for (const std::string& name : Split(list == nullptr ? "" : list, ',')) {
      EXPECT_TRUE(list == nullptr || std::ranges::count(known, name) > 0)
          << variable << ": no `" << name << "`; known: " << Join(known, ",");
    }
  }

  // From the present state: an undisturbed run, then one for each failure. Ends in the undisturbed state, or where it
  // began if the job is `aside`.
  void Try(const Job& job) {
    jobs_.push_back(job.name);
    const Files bytes_before = Bytes();
    const Files before = Essences(bytes_before);
    const WatchedRun run = RunJob(job, {});
    ASSERT_TRUE(run.status.ok() && !run.hung) << job.name << ": " << run.out;
    const Files bytes_after = Bytes();
    if (Chosen("HONE_EACH_JOB", job.name)) {
      const Whole whole{bytes_before, before, Essences(bytes_after), run.out};
      for (int k = 0; k < kCallKinds; ++k) {
        const auto kind = static_cast<CallKind>(k);
        if (!Chosen("HONE_EACH_KIND", CallKindName(kind))) continue;
        TryNumbers(job, kind, false, Numbers(job, kind, run), run.counts[static_cast<size_t>(k)], whole);
      }
      if (job.allocates && Chosen("HONE_EACH_KIND", kAllocations)) {
        Restore(bytes_before);
        ASSERT_TRUE(RunJob(job, {}, 0).status.ok());
        const int64_t count = Must(ParseInt(Read("allocations")));
        ASSERT_GT(count, 0) << job.name << ": no allocation was seen";
        TryNumbers(job, CallKind::kMmap, true, AllocationNumbers(job, count), count, whole);
      }
    }
    Restore(job.aside ? bytes_before : bytes_after);
  }

  static constexpr const char* kAllocations = "malloc";
  Words jobs_;
  int64_t runs_ = 0, reached_ = 0;
};

TEST_F(EachFailure, LeavesWhatARerunCompletes) {
  if (const std::string why = WhyNoWatching(); !why.empty()) GTEST_SKIP() << why;
  Words kinds = {kAllocations};
  for (int k = 0; k < kCallKinds; ++k) kinds.emplace_back(CallKindName(static_cast<CallKind>(k)));
  ExpectKnown("HONE_EACH_KIND", kinds);
  const Words plan = Tool("hone-plan", {"--pipelines", Path("pipelines"), "--work", "."});
  Try({"plan", plan});
  ReadCommands();
  Try({"extract", Command({"hone-extract", "tiny"})});
  Quietly(Command({"hone-extract", "total"}));
  Try({.name = "quantise",
       .argv = Tool("hone-quantise", {"--network", "conv2d(f32[1,4,6,6], f32[8,4,3,3], pad=1,1,1,1) + bias", "--target",
                                      "targets/cpu.json", "--samples", "2", "--method", "kl", "--graph",
                                      "quantised/q.graph.json", "--parameters", "quantised/q.params", "--report",
                                      "quantised/q.report.json", "--onnx", "quantised/q.onnx"}),
       .aside = true,
       .slow = true});  // its allocations do not fail: those of LLVM end the program
  Try({"plan again", plan});
  ReadCommands();
  Try({"allocate", Command({"hone-allocate"}), false, true});
  Words tune = Command({"hone-tune", "conv2d-", "settings/tiny."});
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
  Try({"accept", Tool("hone-report", {"accept", "--reason", "the beginning", "tiny.cpu"}), true});
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
  Try({.name = "compile only", .argv = Tool("hone-tune", task + Words{"--compile-only"}), .aside = true, .slow = true});
  const std::string point =
      Must(Must(record::Store::OpenForReading(JoinPath(Root(), db)))->Trials())[0].outcome.config.IndexText();
  Try({.name = "one trial", .argv = Tool("hone-tune", task + Words{"--trial", point}), .aside = true, .slow = true});
  Try({"list sketches", Tool("hone-tune", {"--task", Option(tune, "--task"), "--list-sketches"}), true, true, true});
  Try({"explain trial", Tool("hone-tune", task + Words{"--db", db, "--explain", "0"}), false, true});
  for (size_t i = 0; i < tune.size(); ++i) {
    if (tune[i] == "--db") tune[i + 1] = "failed/t.db";
    if (tune[i] == "--stamp") tune[i + 1] = "failed/t.done";
  }
  Quietly(tune + Words{"--fake-measure", "5,0,0.5", "--optional"});
  records("forget", {"failed/t.db", "--error", "crash"});
  DamageEnd(db);
  records("salvage", {db});
  ExpectKnown("HONE_EACH_JOB", jobs_);
  EXPECT_GT(runs_, 0) << "no chosen job makes a call of a chosen kind";
  EXPECT_GE(2 * reached_, runs_) << "most of the calls that were to fail were not made";
}

}  // namespace
}  // namespace hone
