// Implements MachineLock of base/lock.h.
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/lock_owner.h"
#include "base/log.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {

// Read-only is enough for flock, and, unlike O_CREAT, allowed for other users' files in a sticky folder.
static Result<Fd> OpenShared(const std::string& path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Result<Fd> old = OpenFile(path, O_RDONLY | O_NOFOLLOW);
    if (old.ok() || old.status().kind() != StatusKind::kNotFound) return old;
    Fd fd(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444));
    if (!fd.open() && errno == EEXIST) continue;
    if (!fd.open()) return ErrnoStatus(errno, path + ": cannot create the machine's lock");
    (void)!::fchmod(fd.get(), 0444);  // regardless of the umask
    return fd;
  }
  return Status::Io(path + ": cannot open the machine's lock");
}

namespace {

constexpr char kNameStart[] = "hone-";
constexpr double kMomentSeconds = 1;  // before the holders are looked at
constexpr double kSilentSeconds = 4;  // before they are logged
constexpr double kLogSeconds = 60;

struct LockHolding {
  std::string who;    // for people
  bool idle = false;  // the process does not tune
};

std::string UserName(uid_t user) {
  char text[4096];
  struct passwd entry, *found = nullptr;
  const bool known = ::getpwuid_r(user, &entry, text, sizeof text, &found) == 0 && found != nullptr;
  return known ? entry.pw_name : std::to_string(user);
}

std::string NameOf(const std::string& pid) {
  const Result<std::string> name = ReadFile("/proc/" + pid + "/comm");
  return name.ok() ? std::string(Trim(*name)) : "";
}

// Others know a program of Hone by its name; tests and benchmarks have other ones.
void TakeName() {
  const std::string name = NameOf("self");
  if (StartsWith(name, kNameStart)) return;
  const Fd fd(::open("/proc/self/comm", O_WRONLY | O_CLOEXEC));
  (void)WriteAll(fd, kNameStart + name);
}

LockHolding HoldingOf(const std::string& pid) {
  LockHolding holding{"process " + pid};
  const std::string name = NameOf(pid), folder = "/proc/" + pid;
  struct stat info;
  if (name.empty() || ::stat(folder.c_str(), &info) != 0) {
    // A child of it has the lock. Processes of other users may be hidden: they may tune.
    holding.idle = ::kill(static_cast<pid_t>(std::atoi(pid.c_str())), 0) != 0 && errno == ESRCH;
    if (holding.idle) holding.who += " (ended)";
    return holding;
  }
  holding.who += " (" + Printable(name) + ", user " + Printable(UserName(info.st_uid)) + ")";
  const Result<std::string> status = ReadFile(folder + "/status");
  const bool stopped = status.ok() && status->find("\nState:\tT") != std::string::npos;
  holding.idle = stopped || !StartsWith(name, kNameStart);
  return holding;
}

// /proc/locks has a line for each lock: "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF", with "->" after the number
// for waiting processes. Device numbers are hexadecimal, inodes decimal.
std::vector<LockHolding> HoldingsOf(const Fd& fd) {
  struct stat info;
  Result<std::string> locks = ReadFile("/proc/locks");
  if (!fd.open() || ::fstat(fd.get(), &info) != 0 || !locks.ok()) return {};
  std::set<std::string> pids;
  for (const std::string& line : Split(*locks, '\n')) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() < 6 || words[1] != "FLOCK") continue;
    const std::vector<std::string> file = Split(words[5], ':');
    if (file.size() != 3 || file[2] != std::to_string(info.st_ino) ||
        std::strtoul(file[0].c_str(), nullptr, 16) != major(info.st_dev) ||
        std::strtoul(file[1].c_str(), nullptr, 16) != minor(info.st_dev)) {
      continue;
    }
    pids.insert(words[4]);
  }
  std::vector<LockHolding> holdings;
  for (const std::string& pid : pids) holdings.push_back(HoldingOf(pid));
  return holdings;
}

std::string NamesOf(const std::vector<LockHolding>& holdings) {
  std::vector<std::string> names;
  for (const LockHolding& holding : holdings) names.push_back(holding.who);
  if (names.size() > 3) names.resize(3), names.push_back("others");
  return Join(names, ", ");
}

}  // namespace

std::string MachineLock::DefaultPath(const std::string& device) {
  struct stat info;
  // Decide by a fact that all users see alike: whether everybody may write to the folder.
  bool usable = ::stat("/run/lock", &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & S_IWOTH) != 0;
  return JoinPath(usable ? "/run/lock" : "/tmp", "hone-" + device + ".lock");
}

Result<MachineLock> MachineLock::Open(const std::string& path) {
  TakeName();
  HONE_ASSIGN_OR_RETURN(Fd fd, OpenShared(path));
  HONE_ASSIGN_OR_RETURN(Fd gate, OpenShared(path + ".gate"));
  return MachineLock(path, std::move(fd), std::move(gate));
}

// Called while others hold `fd`. True if none of them tunes.
bool MachineLock::PassesOver(const Fd& fd) {
  const double now = RealClock()->NowSeconds();
  if (waiting_since_ < 0) {
    waiting_since_ = now;
    next_look_ = now + (passed_over_.empty() ? kMomentSeconds : 0);
  }
  if (now < next_look_) return false;
  const std::vector<LockHolding> holdings = HoldingsOf(fd);
  const std::string who = NamesOf(holdings);
  if (!holdings.empty() && std::all_of(holdings.begin(), holdings.end(), [](const auto& h) { return h.idle; })) {
    if (who != passed_over_) {
      LogWarning(path_ + ": held by " + who + ", but no process is tuning; going on without this lock");
    }
    passed_over_ = who;
    return true;
  }
  next_look_ = now + kMomentSeconds;
  if (now - waiting_since_ >= kSilentSeconds && now >= next_log_) {
    LogInfo("waiting for this machine: " + path_ + " is held by " + (who.empty() ? "an unknown process" : who));
    next_log_ = now + kLogSeconds;
  }
  return false;
}

Status MachineLock::Lock(int operation, double timeout_seconds) {
  Unlock();
  Deadline deadline(timeout_seconds);
  for (;;) {
    // Processes pass the gate one at a time. One that wants exclusive use waits inside it, so no new shared user
    // passes.
    HONE_RETURN_IF_ERROR(Flock(path_, gate_, LOCK_EX, deadline, [this] { return PassesOver(gate_); }).status());
    const Result<bool> locked = Flock(path_, fd_, operation, deadline, [this] { return PassesOver(fd_); });
    // Where the lock cannot be had, the gate takes its place until Unlock.
    if (!locked.ok() || *locked) ::flock(gate_.get(), LOCK_UN);
    if (!locked.ok()) return locked.status();
    waiting_since_ = -1;
    if (StillNames(path_, fd_)) return Status();
    // A cleaner removed the files in the meantime: our lock would exclude nobody.
    HONE_ASSIGN_OR_RETURN(*this, Open(path_));
  }
}

Status MachineLock::LockShared(double timeout_seconds) { return Lock(LOCK_SH, timeout_seconds); }

Status MachineLock::LockExclusive(double timeout_seconds) { return Lock(LOCK_EX, timeout_seconds); }

void MachineLock::Unlock() {
  if (fd_.open()) ::flock(fd_.get(), LOCK_UN);
  if (gate_.open()) ::flock(gate_.get(), LOCK_UN);
}

std::string MachineLock::Holders() const {
  const std::string holders = NamesOf(HoldingsOf(fd_));
  return holders.empty() ? NamesOf(HoldingsOf(gate_)) : holders;
}

}  // namespace hone
