// Whose fault is it? Tunes one task while the environment fails in some way: no candidate gets a verdict that it does
// not have on a sound machine, the run ends by itself with a reason, and the same command then ends as if nothing had
// happened. HONE_FAULT_ROUNDS (default 1) rounds of each kind, from HONE_FAULT_SEED (default 1): `make
// environment-rounds`.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>

#include "base/hash.h"
#include "rounds.h"
#include "tune_folder.h"

namespace hone {
namespace {

class Environment;

// A row of the table below: how the environment fails. In its texts, `{}` stands for a number between `from` and `to`,
// drawn anew for each round on a logarithmic scale, and `{seed}` for any number.
struct Kind {
  const char* name;
  double from = 1, to = 1;
  std::string before = {};       // lines of shell before hone-tune
  const char* folder = nullptr;  // of the project, or /dev/shm: is a disk of its own ..
  std::string options = {};      // .. with these options
  // Runs at a random time while hone-tune does. Returns whether it hit something.
  std::function<bool(Environment*)> strike = {};
  bool as_other_user = false;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const std::string kChildren[] = {"compile", "measure"};
// A command line begins with this to run as a user without other processes.
const Words kAsOther = {"setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"};

class Environment : public TuneFolder, public testing::WithParamInterface<Kind> {
 public:
  // The descendants of the tuner that run `hone-worker WORD`; all without a word.
  std::vector<pid_t> Children(const std::string& word = "") const {
    std::vector<pid_t> found, next = {tuner_.pid()};
    while (!next.empty()) {
      const std::string pid = std::to_string(next.back());
      next.pop_back();
      const auto children = ReadFile("/proc/" + pid + "/task/" + pid + "/children");
      for (const std::string& text : SplitWords(children.ok() ? *children : "")) {
        next.push_back(static_cast<pid_t>(Must(ParseInt(text))));
        const auto command = ReadFile("/proc/" + text + "/cmdline");
        if (command.ok() && command->find(std::string(1, '\0') + word) != std::string::npos)
          found.push_back(next.back());
      }
    }
    return found;
  }
  // One of them, as soon as there is one; 0 if the tuner ends before.
  pid_t Child(const std::string& word) {
    while (tuner_.Running()) {
      const std::vector<pid_t> children = Children(word);
      if (!children.empty()) return children[rng_.UniformInt(children.size())];
      RealClock()->SleepSeconds(0.0005);
    }
    return 0;
  }
  // Ends a child by a signal that no code of its own raises.
  bool Kill(const std::string& word) {
    constexpr int kSignals[] = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGXCPU, SIGUSR1, SIGALRM, SIGPIPE};
    const pid_t child = Child(word);
    return child > 0 && kill(child, kSignals[rng_.UniformInt(std::size(kSignals))]) == 0;
  }
  // Stops processes for more than a second.
  bool Pause(const std::vector<pid_t>& processes) {
    bool any = false;
    for (const pid_t pid : processes) any |= kill(pid, SIGSTOP) == 0;
    if (any) RealClock()->SleepSeconds(1.05 + 0.3 * rng_.UniformDouble());
    for (const pid_t pid : processes) kill(pid, SIGCONT);
    return any;
  }
  pid_t tuner() const { return tuner_.pid(); }
  bool SignalTuner() {
    constexpr int kSignals[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGXCPU};
    return kill(tuner_.pid(), kSignals[rng_.UniformInt(std::size(kSignals))]) == 0;
  }
  Words PrivateFolders() const { return Must(ListDir(kShm)); }
  bool RemovePrivateFolder(bool only_kernels) {
    bool any = false;
    while (!any && tuner_.Running()) {
      for (const std::string& folder : PrivateFolders()) {
        const std::string path = JoinPath(kShm, folder);
        if (!only_kernels) any |= RemoveTree(path).ok();
        const auto names = only_kernels ? ListDir(path) : Words();
        for (const std::string& name : names.ok() ? *names : Words()) any |= Remove(JoinPath(path, name)).ok();
      }
    }
    return any;
  }
  // Leaves no room in /dev/shm until the round is over.
  bool FillShm() {
    const int fd = open((kShm + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    while (write(fd, page.data(), page.size()) > 0) {
    }
    close(fd);
    return fd >= 0 && tuner_.Running();
  }
  bool DamageReference() {
    const std::string path = Path("records/t.reference");
    while (!Exists(path) && tuner_.Running()) RealClock()->SleepSeconds(0.0005);
    Result<std::string> bytes = ReadFile(path);
    if (!bytes.ok() || bytes->empty() || rng_.UniformInt(3) == 0) {
      (void)Remove(path).ok();
    } else {
      const size_t at = rng_.UniformInt(bytes->size());
      rng_.UniformInt(2) == 0 ? bytes->resize(at) : (void)((*bytes)[at] ^= 1);
      Must(WriteFileAtomic(path, *bytes));
    }
    return Kill("measure");  // the next child reads it again
  }
  bool DeleteWorker() {
    const bool running = tuner_.Running() && Remove(Path(kWorker)).ok();
    return running && Kill(kChildren[rng_.UniformInt(2)]);
  }
  bool LockWorker() {
    const bool running = tuner_.Running();
    Write(kWorker, "");
    return running && Kill(kChildren[rng_.UniformInt(2)]);
  }
  // As when a library of the worker is replaced by another version: the loader ends the program.
  bool BreakWorker() {
    const bool running = tuner_.Running();
    WriteProgram(kWorker,
                 "#!/bin/sh\necho 'hone-worker: error while loading shared libraries: libx.so' >&2\nexit 127\n");
    return running && Kill(kChildren[rng_.UniformInt(2)]);
  }
  bool RemoveTmp() {
    const Result<Words> names = ListDir(Path("tmp"));
    return RemoveTree(Path("tmp")).ok() && names.ok() && !names->empty();
  }
  bool HideProc() {
    if (mount("tmpfs", "/proc", "tmpfs", 0, "") != 0) return false;
    const bool running = tuner_.Running();
    (void)tuner_.Wait(kHang).ok();
    EXPECT_EQ(umount2("/proc", MNT_DETACH), 0);
    return running;
  }
  // Another tuner in a container with the same /dev/shm, where process ids mean others.
  bool TuneInContainer() {
    const Words container = {"unshare", "--pid", "--fork", "--mount-proc"};
    Words command = Tuner();
    std::replace(command.begin(), command.end(), std::string(kDb), std::string("records/other.db"));
    std::replace(command.begin(), command.end(), std::string(kStamp), std::string("stamps/other.done"));
    Subprocess other = Start(container + command);
    bool both = false;
    while (other.Running()) {
      both |= tuner_.Running() && PrivateFolders().size() > 1;
      RealClock()->SleepSeconds(0.001);
    }
    EXPECT_TRUE(Must(other.Wait(kHang)).ok());
    EXPECT_EQ(Outcomes("records/other.db"), expected_->outcomes);
    for (const std::string& name : Must(ListDir(Path("records")))) {
      if (StartsWith(name, "other.")) Delete("records/" + name);
    }
    Delete("stamps/other.done");
    return both;
  }
  bool TuneTheSame() {
    const bool running = tuner_.Running();
    const CommandResult second = Run(Tuner());
    if (!second.status.ok()) ExpectHas(second.err, {"held by process"});  // else the first one has ended
    return running;
  }
  bool RemoveLock() {
    while (!Has("records/t.db.lock") && tuner_.Running()) RealClock()->SleepSeconds(0.0005);
    return Remove(Path("records/t.db.lock")).ok() && tuner_.Running();
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

 protected:
  static inline const std::string kShm = "/dev/shm", kWorker = "bin/hone-worker", kTune = "bin/hone-tune";
  static constexpr double kHang = 120;  // seconds

  // What a sound machine records.
  struct Expected {
    std::vector<std::string> outcomes;  // a line each: ordinal, index, error
    Json stamp;
    Words files;
    double seconds = 0;  // that it takes
    size_t children = 0;
  };

  // The process gets file systems of its own, once: /dev/shm is the test's.
  static void SetUpTestSuite() {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (user != 0 && unshare(CLONE_NEWUSER) == 0) {
      const auto put = [](const char* path, const std::string& text) {
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        (void)!write(fd, text.data(), text.size());
        close(fd);
      };
      put("/proc/self/setgroups", "deny");
      put("/proc/self/uid_map", fmt::format("0 {} 1", user));
      put("/proc/self/gid_map", fmt::format("0 {} 1", group));
    }
    own_disks_ = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                 mount("tmpfs", kShm.c_str(), "tmpfs", 0, "mode=1777") == 0;
    real_root_ = user == 0;
  }

  void SetUp() override {
    if (!own_disks_) GTEST_SKIP() << "no file systems of its own: neither root nor user namespaces";
    if (GetParam().as_other_user && !CanBeOther()) GTEST_SKIP() << "cannot run as another user";
    TuneFolder::SetUp();
    WriteSettings(6, R"(, "measure": {"candidate_seconds": 0.01, "timeout_seconds": 60, "finalists": 2})");
    if (expected_) return;
    const double start = RealClock()->NowSeconds();
    TuneUntroubled();
    expected_ = {Outcomes(kDb), WithoutTimes(Stamp()), Files(), RealClock()->NowSeconds() - start, Starts()};
    ASSERT_EQ(expected_->outcomes.size(), 6u);
    Reset();
  }
  void TearDown() override {
    if (!disk_.empty()) {
      EXPECT_EQ(umount2(disk_.c_str(), MNT_DETACH), 0);
    }
    disk_.clear();
  }

  bool CanBeOther() const {
    return real_root_ && Must(RunCommand(kAsOther + Words{"test", "-x", HONE_TUNE}, {})).status.ok();
  }

  // The tuner runs these lines first. Children leave a mark when they start.
  void Prepare(const std::string& before) {
    for (const char* folder : {"records", "stamps", "tmp", "starts"}) {
      Must(MakeDirs(Path(folder)));
      chmod(Path(folder).c_str(), 0777);
    }
    chmod(dir_->path().c_str(), 0755);
    WriteProgram(kTune,
                 fmt::format("#!/bin/sh\nset -e\nshift\nexport HONE_STARTS='{}' TMPDIR='{}' LD_PRELOAD='{}'\n{}\n"
                             "exec '{}' \"$@\"\n",
                             Path("starts"), Path("tmp"), HONE_ENVIRONMENT_SHIM, before, HONE_TUNE));
    (void)Remove(Path(kWorker)).ok();
    ASSERT_EQ(symlink(HONE_REAL_WORKER, Path(kWorker).c_str()), 0);
  }
  // Its script drops the first argument, the real tuner.
  Words Tuner() const { return Words{Path(kTune)} + Command({"--worker", Path(kWorker)}); }
  size_t Starts() const {
    const Result<Words> names = ListDir(Path("starts"));
    return names.ok() ? names->size() : 0;
  }

  void TuneUntroubled() {
    Prepare("");
    ExpectOk(Run(Tuner()));
  }

  // The text with this round's numbers.
  std::string Fill(const std::string& text) const {
    return ReplaceAll(ReplaceAll(text, "{}", std::to_string(number_)), "{seed}", std::to_string(seed_));
  }

  void MountDisk(const std::string& options, unsigned long flags = 0) {
    ASSERT_EQ(mount("tmpfs", disk_.c_str(), "tmpfs", flags, options.c_str()), 0) << disk_ << " " << options;
  }

  std::vector<std::string> Outcomes(const std::string& db) const {
    std::vector<std::string> lines;
    const Result<int64_t> size = FileSize(Path(db));
    if (!size.ok() || *size == 0) return lines;  // ended before or while it was created
    const auto store = record::Store::OpenForReading(Path(db));
    if (!store.ok()) return lines;
    for (const record::Trial& trial : Must((*store)->AllTrials())) {
      const Outcome& o = trial.outcome;
      lines.push_back(fmt::format("{} {} {}{}", trial.ordinal, o.config.index, TrialErrorName(o.error),
                                  o.error_text.empty() ? "" : ": " + o.error_text));
    }
    return lines;
  }
  static Json WithoutTimes(Json stamp) {
    for (const char* key : {"best", "search"}) stamp.erase(key);
    return stamp;
  }
  Words Files() const {
    Words all;
    for (const char* folder : {"records", "stamps", "tmp"}) {
      for (const std::string& name : Must(ListDir(Path(folder)))) {
        if (!EndsWith(name, ".reference")) all.push_back(JoinPath(folder, name));  // made when needed
      }
    }
    std::sort(all.begin(), all.end());
    return all;
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
    // The loader needs descriptors and memory before any code of Hone runs.
    const bool loaded = text.find("error while loading shared libraries") == std::string::npos;
    EXPECT_TRUE(status->signal == 0 &&
                (!loaded || status->ok() || status->code == kFailed || status->code == kInterrupted))
        << status->ToString();
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

  static inline bool own_disks_ = false, real_root_ = false;
  static inline std::optional<Expected> expected_;
  Rng rng_{1};
  Subprocess tuner_;
  std::string disk_;  // where one is mounted for this round
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
  using E = Environment*;
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
