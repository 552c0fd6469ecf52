// Seeded rounds of faults: whatever is killed, full, unwritable, damaged or bad, at any time, no committed trial is
// lost or repeated, every record file is whole, the same command completes the work, and the result is that of an
// undisturbed run. HONE_FAULT_ROUNDS and HONE_FAULT_SEED: tests/fault/CMakeLists.txt.
#include "rounds.h"

#include "bad_candidates.h"

namespace hone {
namespace {

constexpr uint64_t kTimes = 11;  // seed of simulated times
std::vector<Blow> Blows() {
  return {{"", SIGKILL},     {kTuner, SIGKILL}, {"", SIGINT},     {"", SIGTERM},
          {kTuner, SIGTERM}, {kTuner, SIGINT},  {kTuner, SIGHUP}, {"", SIGHUP}};
}

// A folder with the results of an undisturbed run, and rounds in it. Created for its first round.
class Arena : public FaultFolder {
 public:
  Arena() { SetUp(); }
  ~Arena() override { TearDown(); }
  void TestBody() override {}
  virtual void Prepare() = 0;
  virtual void Round(Rng* rng) = 0;
  std::string story;
  int showed = 0;  // rounds that had an effect

 protected:
  void Tell(const std::string& what) { story += what + "; "; }

  // Whether some task is not done; otherwise nothing needs writing.
  bool Open() const {
    bool open = false;
    for (const std::string& task : Tasks("one")) open |= !Exists(Stamp(task));
    return open;
  }
};

// Simulated times: everything is compared, including times.
class InventedArena : public Arena {
 public:
  void Prepare() override {
    InventTimes(kTimes);
    WritePipeline("one", 40);
    ExpectOk(Plan());
    Undisturbed(true);
  }

 protected:
  void Strike(Rng* rng) {
    const std::vector<Blow> blows = Blows();
    const Blow& blow = blows[rng->UniformInt(blows.size())];
    Tell(blow.Text());
    Disturb(blow, 0.5, rng);
  }
  void End() {
    InventTimes(kTimes);
    ExpectTheSameInTheEnd();
    RemoveResults();
    showed += std::exchange(halfway_, 0) > 0;
  }
};

class Kills : public InventedArena {
  void Round(Rng* rng) override {
    InventTimes(kTimes, 0.003);
    for (int i = static_cast<int>(rng->UniformInt(3)); i >= 0; --i) {
      Strike(rng);
      // Sometimes the next Ninja starts while an orphan of the last one still works.
      if (rng->UniformInt(2) == 0) ExpectNothingLost();
    }
    End();
  }
};

class JumpingClock : public InventedArena {
  void Round(Rng* rng) override {
    const std::string clock = fmt::format("HONE_SHIM_CLOCK={}", rng->UniformInt(1 << 20));
    Tell(clock);
    Shim(kTimes, clock);
    Strike(rng);
    ExpectNothingLost();
    NinjaOk({kGoal});  // with the same clock
    End();
  }
};

class FullDisk : public InventedArena {
  void Round(Rng* rng) override {
    // From no space to enough for everything: a run writes some hundred kilobytes.
    const int room = static_cast<int>(300 * std::pow(3000.0, rng->UniformDouble()));
    Tell(fmt::format("room for {} bytes", room));
    Shim(kTimes, fmt::format("HONE_SHIM_ROOM={}", room));
    const CommandResult full = Ninja({kGoal});
    if (!full.status.ok()) {
      ExpectHas(full.out, {"hone-tune: error: "});
      ExpectHasNot(full.out, {"Aborted"});
      EXPECT_FALSE(Has("work/best/one.cpu.json"));
      ++showed;
    }
    ExpectNothingLost();
    const int less = static_cast<int>(rng->UniformInt(6000));  // usually less than one of them writes
    Tell(fmt::format("then {} for the others", less));
    Tell(fmt::format("{} failed", StrikeTheOthers(kTimes, fmt::format("HONE_SHIM_ROOM={}", less), /*always=*/false)));
    ExpectNothingLost();
    End();
  }
};

class ReadOnlyFolder : public InventedArena {
  void Round(Rng* rng) override {
    InventTimes(kTimes, 0.003);
    if (rng->UniformInt(2) == 0) Strike(rng);
    ExpectNothingLost();
    if (!Open()) RemoveResults();  // the fault came too late
    Tell("read-only");
    Shim(kTimes, "HONE_SHIM_RO=1");
    const std::map<std::string, std::string> before = Databases();
    ExpectFails(Ninja({kGoal}), {"hone-tune: error: "});
    ++showed;
    EXPECT_EQ(Databases(), before) << "nothing can have been written";
    StrikeTheOthers(kTimes, "HONE_SHIM_RO=1", /*always=*/true);
    ExpectNothingLost();
    End();
  }

  std::map<std::string, std::string> Databases() const {
    std::map<std::string, std::string> bytes;
    for (const std::string& task : Tasks("one")) {
      if (Exists(Db(task))) bytes[task] = *ReadFile(Db(task));
    }
    return bytes;
  }
};

// A page of a database is overwritten, or the last ones are missing: whole trials are saved, lost ones are measured
// again.
class DamagedPages : public Arena {
 public:
  void Prepare() override {
    InventTimes(kTimes);
    WritePipeline("one", 40, "random");  // its proposals do not depend on results
    ExpectOk(Plan());
    Undisturbed(true);
  }

  void Round(Rng* rng) override {
    NinjaOk({kGoal});
    const std::vector<std::string> tasks = Tasks("one");
    const std::string task = tasks[rng->UniformInt(tasks.size())];
    std::string bytes = *ReadFile(Db(task));
    constexpr size_t kPage = 4096;
    const size_t pages = bytes.size() / kPage, page = 1 + rng->UniformInt(pages - 1);
    const int how = static_cast<int>(rng->UniformInt(3));
    Tell(fmt::format("page {} of {} of {} {}", page, pages, task, how == 0 ? "noise" : how == 1 ? "zero" : "cut off"));
    if (how == 2) {
      bytes.resize(page * kPage);
    } else {
      for (size_t i = page * kPage; i < (page + 1) * kPage; ++i)
        bytes[i] = how == 0 ? static_cast<char>(rng->Next()) : 0;
    }
    Must(WriteFileAtomic(Db(task), bytes));
    Must(Remove(Stamp(task)));
    if (!Records("verify", task).status.ok()) {
      ++showed;
      const CommandResult saved = Records("salvage", task);
      if (saved.status.ok()) {
        ExpectOk(Records("verify", task));
        const auto now = Sets(AllOutcomes(true)), all = Sets(expected_);
        EXPECT_TRUE(std::includes(all.at(task).begin(), all.at(task).end(), now.at(task).begin(), now.at(task).end()));
        Tell(std::string(Trim(saved.out.substr(saved.out.rfind('/') + 1))));
      } else {
        // Only if the lost page says what the file is about.
        ExpectHas(saved.err, {"nothing can be saved"});
        Must(Remove(Db(task)));
      }
    }
    ExpectTheSameInTheEnd(/*reordered=*/true);
    RemoveResults();
  }

  CommandResult Records(const std::string& command, const std::string& task) {
    return Tool("hone-records", {command, Db(task)});
  }
};

// The real tools, including the children that compile and measure. Times differ between runs, so candidates and
// verdicts are compared: no trial is lost, repeated or blamed for a kill.
class RealTools : public Arena {
 public:
  void Prepare() override {
    WritePipeline("two", 6, "random");  // shares tasks; the larger budget counts
    WritePipeline("one", 6, "random");  // a learning tuner's proposals would depend on the times
    ExpectOk(Plan());
    Undisturbed(false);
  }

  void Round(Rng* rng) override {
    const std::vector<Blow> blows = {{kCompiler, SIGKILL}, {kMeasurer, SIGKILL}, {kTuner, SIGKILL},
                                     {"", SIGKILL},        {"", SIGTERM},        {kTuner, SIGINT}};
    // In each round, one kill of a child, which the tuner survives, and one of a process above it.
    for (const Blow& blow : {blows[rng->UniformInt(2)], blows[2 + rng->UniformInt(4)]}) {
      Tell(blow.Text());
      showed += Disturb(blow, 0.7, rng);
      ExpectNothingLost();
    }
    ExpectTheSameInTheEnd();
    RemoveResults();
    Starve(rng);
    ExpectTheSameInTheEnd();
    RemoveResults();
  }

 private:
  // Too little memory, or space for kernels, for all children or for some: no candidate is to blame. If no namespace
  // can be created, the tuner fails at once instead.
  void Starve(Rng* rng) {
    std::string want = fmt::format("ulimit -v {}\n", 1024 * (180 + rng->UniformInt(140)));
    if (rng->UniformInt(2) == 0) {
      want = fmt::format(
          "[ \"$HONE_FULL\" ] || HONE_FULL=1 exec unshare -rm sh -c 'mount -t tmpfs -o size={}k tmpfs "
          "/dev/shm && exec \"$0\" \"$@\"' \"$0\" \"$@\"\n",
          4 * (1 + rng->UniformInt(12)));
    }
    Tell(std::string(Trim(want)));
    const std::string whole = Read("bin/hone-tune");
    ChangeTuner(want, "");
    Tell(Ninja({kGoal}).status.ok() ? "it ended" : "it failed");
    WriteProgram("bin/hone-tune", whole);
    ExpectNothingLost();
  }
};

// Candidates that misbehave, among good ones: each is recorded correctly, and the rest is tuned as usual.
class BadCandidates : public Arena {
 public:
  void Prepare() override {
    WritePipeline("one", 12, "random");
    Write("pipelines/one.toml",
          ReplaceAll(Read("pipelines/one.toml"), "timeout_seconds = 120", "timeout_seconds = 3\nprune_factor = 0"));
    ExpectOk(Plan());
  }

  void Round(Rng* rng) override {
    const uint64_t seed = rng->UniformInt(1 << 20);
    Tell(fmt::format("bad candidates of seed {}", seed));
    RealTimes();
    ChangeTuner(fmt::format("export HONE_REAL_WORKER='{}' HONE_BAD_KERNELS='{}' HONE_BAD_SEED={}\n", HONE_REAL_WORKER,
                            HONE_BAD_KERNELS, seed),
                fmt::format("--worker '{}' ", HONE_BAD_WORKER));
    if (rng->UniformInt(2) == 0) {
      const Blow blow{kTuner, SIGKILL};
      Tell(blow.Text());
      Disturb(blow, 2, rng);
      ASSERT_TRUE(WaitForProcesses(kPatience));
    }
    NinjaOk({kGoal});
    for (const std::string& task : Tasks("one")) {
      const auto store = Must(record::Store::OpenForReading(Db(task)));
      for (const record::Trial& trial : Must(store->Trials())) {
        const Misdeed* misdeed = MisdeedOf(trial.outcome.config, seed);
        const TrialError wanted = misdeed == nullptr ? TrialError::kNone : misdeed->error;
        EXPECT_EQ(trial.outcome.error, wanted)
            << task << " trial " << trial.ordinal << " " << (misdeed == nullptr ? "good" : misdeed->symbol) << ": "
            << trial.outcome.error_text;
        showed += misdeed != nullptr;
      }
    }
    ExpectRecordsAreWhole();
    ExpectNoWork(kGoal);
    RemoveResults();
  }
};

// Every twenty rounds have the same kinds, in an order given by the seed.
enum Kind { kKills, kClock, kFull, kReadOnly, kDamage, kReal, kBad, kKinds };
constexpr Kind kTwenty[] = {kKills, kKills, kKills, kKills,    kKills,    kKills,  kKills,  kKills, kClock, kClock,
                            kFull,  kFull,  kFull,  kReadOnly, kReadOnly, kDamage, kDamage, kReal,  kReal,  kBad};
constexpr const char* kNames[] = {"kills", "clock", "full disk", "read-only", "damage", "real", "bad candidates"};

std::unique_ptr<Arena> MakeArena(Kind kind) {
  switch (kind) {
    case kKills:
      return std::make_unique<Kills>();
    case kClock:
      return std::make_unique<JumpingClock>();
    case kFull:
      return std::make_unique<FullDisk>();
    case kReadOnly:
      return std::make_unique<ReadOnlyFolder>();
    case kDamage:
      return std::make_unique<DamagedPages>();
    case kReal:
      return std::make_unique<RealTools>();
    default:
      return std::make_unique<BadCandidates>();
  }
}

TEST(FaultRoundsTest, NothingIsLostAndTheEndIsTheSame) {
  Rng rng(FaultSeed());
  std::vector<Kind> plan;
  while (static_cast<int>(plan.size()) < FaultRounds()) {
    std::vector<Kind> twenty(std::begin(kTwenty), std::end(kTwenty));
    for (size_t i = twenty.size(); i > 1; --i) std::swap(twenty[i - 1], twenty[rng.UniformInt(i)]);
    plan.insert(plan.end(), twenty.begin(), twenty.end());
  }
  plan.resize(static_cast<size_t>(FaultRounds()));
  std::map<Kind, std::unique_ptr<Arena>> arenas;
  std::map<Kind, int> rounds;
  for (size_t round = 0; round < plan.size() && !testing::Test::HasFailure(); ++round) {
    const Kind kind = plan[round];
    std::unique_ptr<Arena>& arena = arenas[kind];
    if (!arena) {
      arena = MakeArena(kind);
      arena->Prepare();
      if (testing::Test::HasFatalFailure()) break;
    }
    // A separate seed, so that a round can be repeated independently of earlier ones.
    Rng own(Mix64(FaultSeed() ^ Mix64(round)));
    arena->story = fmt::format("round {}, {}: ", round, kNames[kind]);
    try {
      arena->Round(&own);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();  // here, so that the context is printed
    }
    ++rounds[kind];
    if (testing::Test::HasFailure() || FaultRounds() > 20) std::fprintf(stderr, "%s\n", arena->story.c_str());
  }
  std::map<Kind, int> counts, showed;
  for (const auto& [kind, count] : rounds) {
    std::printf("%s: %d rounds, %d showed something\n", kNames[kind], count, arenas.at(kind)->showed);
    // A jump of the clock shows whether a kill stops a run halfway: the two count as one kind.
    const Kind sum = kind == kClock ? kKills : kind;
    counts[sum] += count;
    showed[sum] += arenas.at(kind)->showed;
  }
  // A single round may have hit something that nobody reads.
  for (const auto& [kind, count] : counts) {
    if (count >= 2) {
      EXPECT_GT(showed.at(kind), 0) << kNames[kind] << ": " << count << " rounds showed nothing";
    }
  }
}

}  // namespace
}  // namespace hone
