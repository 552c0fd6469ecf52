// Whose fault is it? Tunes one task while the environment fails in some way: no candidate gets a verdict that it does
// not have on a sound machine, the run ends by itself with a reason, and the same command then ends as if nothing had
// happened. HONE_FAULT_ROUNDS (default 1) rounds of each kind, from HONE_FAULT_SEED (default 1): `make
// environment-rounds`.
#include <sys/resource.h>

#include <cmath>

#include "base/hash.h"
#include "environment_strikes.h"

namespace hone {
namespace {

// A row of the table below: how the environment fails. In its texts, `{}` stands for a number between `from` and `to`,
// drawn anew for each round on a logarithmic scale, and `{seed}` for any number.
struct Kind {
  const char* name;
  double from = 1, to = 1;
  std::string before = {};       // lines of shell before hone-tune
  const char* folder = nullptr;  // of the project, or /dev/shm: is a disk of its own ..
  std::string options = {};      // .. with these options
  // Runs at a random time while hone-tune does. Returns whether it hit something.
  std::function<bool(EnvironmentStrikes*)> strike = {};
  bool as_other_user = false;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Environment : public EnvironmentStrikes, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    EnvironmentStrikes::SetUp();
    const std::string why = !IsSkipped() && GetParam().as_other_user ? WhyNotOther() : "";
    if (!why.empty()) GTEST_SKIP() << why;
  }

  // The text with this round's numbers.
  std::string Fill(const std::string& text) const {
    return ReplaceAll(ReplaceAll(text, "{}", std::to_string(number_)), "{seed}", std::to_string(seed_));
  }
  // Runs the tuner under the kind's conditions. Returns whether they showed.
  bool Disturb(const Kind& kind) {
    Must(RemoveTree(Path("starts")));
    Prepare(Fill(kind.before));
    if (kind.folder != nullptr) {
      disk_ = kind.folder[0] == '/' ? kind.folder : Path(kind.folder);
      MountDisk("mode=1777," + Fill(kind.options), kind.options == "ro" ? MS_RDONLY : 0);
    }
    // A pipe, since limits on files hold for a file in memory as well.
    int err[2];
    EXPECT_EQ(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
    SpawnOptions spawn;
    spawn.argv = Tuner();
    spawn.cwd = Path("");
    spawn.stderr_fd = err[1];
    const double start = RealClock()->NowSeconds();
    tuner_ = Must(Subprocess::Spawn(spawn));
    close(err[1]);
    bool struck = false;
    if (kind.strike) {
      const double delay = expected_->seconds * rng_.UniformDouble();
      (void)tuner_.Wait(delay).ok();
      struck = kind.strike(this);
    }
    const Result<ExitStatus> status = tuner_.Wait(kHang);
    const double seconds = RealClock()->NowSeconds() - start;
    slowest_ = std::max(slowest_, seconds);
    EXPECT_TRUE(status.ok()) << "it hangs";
    tuner_.KillAndWait();
    std::string text(65536, 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, read(err[0], text.data(), text.size()))));
    close(err[0]);
    if (!disk_.empty()) MountDisk("size=64m,nr_inodes=10000,mode=1777", MS_REMOUNT);
    (void)Remove(kShm + "/filler").ok();
    if (!status.ok()) return true;
    story_ += fmt::format("{} in {}; {}", status->ToString(), FormatSeconds(seconds), Trim(text));
    // The loader, and what libraries do before main, need descriptors and memory, too.
    const bool dead = status->signal != 0 || text.find("error while loading shared libraries") != std::string::npos;
    if (dead && !Must(RunCommand({Path(kTune), HONE_TUNE, "--version"}, {})).status.ok()) return true;
    EXPECT_TRUE(status->ok() || status->code == kFailed || status->code == kInterrupted) << status->ToString();
    ExpectHasNot(text, {"Aborted", "terminate called", "what():"});
    size_t reasons = 0;
    for (const std::string& line : Split(text, '\n')) reasons += StartsWith(line, "hone-tune: error: ");
    if (status->code == kInterrupted) ExpectHas(text, {"interrupted"});
    EXPECT_LE(reasons, 1u);
    EXPECT_TRUE(reasons == 1 || status->code != kFailed);
    return struck || !status->ok() || Starts() > expected_->children;
  }

  void Round(const Kind& kind) {
    seed_ = static_cast<int64_t>(rng_.UniformInt(1 << 20));
    number_ = std::lround(kind.from * std::pow(kind.to / kind.from, rng_.UniformDouble()));
    story_ += fmt::format("{}: ", number_);
    showed_ += Disturb(kind) || IsElsewhen();
    const std::vector<std::string> outcomes = Outcomes(kDb);
    ASSERT_LE(outcomes.size(), expected_->outcomes.size());
    for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i], expected_->outcomes[i]);
    recorded_ += outcomes.size();
    story_ += fmt::format("; {} trials", outcomes.size());
    TuneUntroubled();
    EXPECT_EQ(Outcomes(kDb), expected_->outcomes);
    EXPECT_EQ(WithoutTimes(Stamp()), expected_->stamp);
    EXPECT_EQ(Files(), expected_->files);
    EXPECT_EQ(Must(ListDir(kShm)), Words());
    EXPECT_EQ(Must(Must(record::Store::OpenForReading(Path(kDb)))->Verify()), Words());
  }

  // Whether the clock jumped: a session of the records began at another time.
  bool IsElsewhen() const {
    const auto store = record::Store::OpenForReading(Path(kDb));
    if (!store.ok()) return false;
    for (const record::Session& session : Must((*store)->Sessions())) {
      if (std::abs(session.started - RealClock()->WallSeconds()) > 3600) return true;
    }
    return false;
  }

  int64_t number_ = 0, seed_ = 0;
  std::string story_;
  int showed_ = 0;
  size_t recorded_ = 0;
  double slowest_ = 0;
};

// Shell that starts the script again by a command.
std::string Again(const Words& command) {
  return fmt::format("[ \"$AGAIN\" ] || AGAIN=1 exec {} sh \"$0\" - \"$@\"\n", Join(command, " "));
}

// Lines of shell for environment_shim.c.
std::string Limit(const std::string& who, int resource, const std::string& unit = "") {
  return fmt::format("export HONE_WHO={} HONE_LIMIT='{} {{}}{}'", who, resource, unit);
}
std::string Refuse(const std::string& who, const std::string& call) {
  return fmt::format("export HONE_WHO={} HONE_REFUSE={} HONE_ODDS={{}} HONE_SEED={{seed}}", who, call);
}

const std::string kHiddenShm = Again({"unshare", "-m"}) +
                               "mkdir -p dev; for f in null zero full random urandom; do : > dev/$f; "
                               "mount --bind /dev/$f dev/$f; done; mount --rbind dev /dev";

std::vector<Kind> Kinds() {
  using E = EnvironmentStrikes*;
  return {
      {"address_space", 190000, 600000, "ulimit -v {}"},
      {"address_space_of_compilers", 30000, 600000, Limit("compile", RLIMIT_AS, "000")},
      {"address_space_of_measurers", 30000, 600000, Limit("measure", RLIMIT_AS, "000")},
      {"descriptors", 4, 40, "ulimit -n {}"},
      {"descriptors_of_compilers", 4, 20, Limit("compile", RLIMIT_NOFILE)},
      {"descriptors_of_measurers", 4, 20, Limit("measure", RLIMIT_NOFILE)},
      {.name = "processes",
       .from = 1,
       .to = 16,
       .before = Again(kAsOther) + "prlimit --pid $$ --nproc={}",
       .as_other_user = true},
      {"file_size", 1, 300, "ulimit -f {}"},
      {"file_size_of_children", 512, 30000, Limit("children", RLIMIT_FSIZE)},
      {"processor_time_of_compilers", 1e8, 2e9,
       fmt::format("export HONE_WHO=compile HONE_LIMIT='{} 1' HONE_SPIN={{}}", static_cast<int>(RLIMIT_CPU))},
      {"processor_time_of_measurers", 1e8, 2e9,
       fmt::format("export HONE_WHO=measure HONE_LIMIT='{} 1' HONE_SPIN={{}}", static_cast<int>(RLIMIT_CPU))},
      {"stack", 48, 2000, "ulimit -s {}"},
      {.name = "full_dev_shm", .from = 4, .to = 200, .folder = "/dev/shm", .options = "size={}k"},
      {.name = "filled_dev_shm",
       .folder = "/dev/shm",
       .options = "size=1m",
       .strike = [](E e) { return e->FillShm(); }},
      {.name = "inodes_of_dev_shm", .from = 1, .to = 9, .folder = "/dev/shm", .options = "nr_inodes={}"},
      {.name = "missing_dev_shm_and_full_tmpdir",
       .from = 4,
       .to = 200,
       .before = kHiddenShm,
       .folder = "tmp",
       .options = "size={}k"},
      {.name = "read_only_dev_shm_and_lost_tmpdir",
       .folder = "/dev/shm",
       .options = "ro",
       .strike = [](E e) { return e->RemoveTmp(); }},
      {.name = "full_disk_of_records", .from = 4, .to = 400, .folder = "records", .options = "size={}k"},
      {.name = "inodes_of_records", .from = 1, .to = 9, .folder = "records", .options = "nr_inodes={}"},
      {.name = "read_only_records", .folder = "records", .options = "ro"},
      {.name = "compiler_killed", .strike = [](E e) { return e->Kill("compile"); }},
      {.name = "measurer_killed", .strike = [](E e) { return e->Kill("measure"); }},
      {.name = "children_stopped", .strike = [](E e) { return e->Child("") > 0 && e->Pause(e->Children()); }},
      {.name = "all_stopped",
       .strike =
           [](E e) {
             std::vector<pid_t> all = e->Children();
             all.insert(all.begin(), e->tuner());
             return e->Pause(all);
           }},
      {.name = "tuner_interrupted", .strike = [](E e) { return e->SignalTuner(); }},
      {.name = "worker_deleted", .strike = [](E e) { return e->DeleteWorker(); }},
      {.name = "worker_not_executable", .strike = [](E e) { return e->LockWorker(); }},
      {.name = "library_of_worker_missing", .strike = [](E e) { return e->BreakWorker(); }},
      {.name = "private_folder_removed", .strike = [](E e) { return e->RemovePrivateFolder(false); }},
      {.name = "kernels_removed", .strike = [](E e) { return e->RemovePrivateFolder(true); }},
      {.name = "reference_damaged", .strike = [](E e) { return e->DamageReference(); }},
      {.name = "lock_removed", .strike = [](E e) { return e->RemoveLock(); }},
      {.name = "second_tuner", .strike = [](E e) { return e->TuneTheSame(); }},
      {.name = "tuner_in_container", .strike = [](E e) { return e->TuneInContainer(); }},
      {.name = "proc_hidden", .strike = [](E e) { return e->HideProc(); }},
      {.name = "jumping_clock",
       .before = fmt::format("export LD_PRELOAD=\"$LD_PRELOAD {}\" HONE_SHIM_CLOCK={{seed}}", HONE_FAULT_SHIM)},
      {"open_refused_in_compilers", 1, 300, Refuse("compile", "open")},
      {"open_refused_in_measurers", 1, 300, Refuse("measure", "open")},
      {"mmap_refused_in_compilers", 1, 30, Refuse("compile", "mmap")},
      {"mmap_refused_in_measurers", 1, 300, Refuse("measure", "mmap")},
      {"thread_refused", 1, 8, Refuse("all", "thread")},
      {"fork_refused", 1, 10, Refuse("all", "fork")},
      {"send_refused", 1, 30, Refuse("all", "send")},
  };
}

TEST_P(Environment, IsNoFaultOfACandidate) {
  const int rounds = static_cast<int>(FromEnvironment("HONE_FAULT_ROUNDS", 1));
  ASSERT_GT(rounds, 0);
  const Kind& kind = GetParam();
  int done = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    rng_ = Rng(Digest128(fmt::format("{} {} {}", kind.name, FaultSeed(), round)).lo);  // a round can be repeated alone
    story_ = fmt::format("round {}: ", round);
    try {
      Round(kind);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    done += !HasFailure();
    if (HasFailure() || rounds > 1) std::fprintf(stderr, "%s: %s\n", kind.name, story_.c_str());
    TearDown();
    Reset();
  }
  std::printf("%s: %d rounds, %d showed something, %zu right verdicts, %d reruns equal, at most %.1f s\n", kind.name,
              rounds, showed_, recorded_, done, slowest_);
  // A single round may have hit something that nobody needs.
  if (rounds >= 10) {
    EXPECT_GT(showed_, 0) << rounds << " rounds showed nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Environment, testing::ValuesIn(Kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone
