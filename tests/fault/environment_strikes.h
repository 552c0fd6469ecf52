// What can happen to a tuner while it runs. Each function waits until it can strike and returns whether it hit
// something.
#pragma once

#include "environment_folder.h"

namespace hone {

inline const std::string kChildren[] = {"compile", "measure"};

class EnvironmentStrikes : public EnvironmentFolder {
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
  // Waits for `there` while the tuner runs. Returns whether it came.
  bool WhileItRuns(const std::function<bool()>& there) {
    const double end = RealClock()->NowSeconds() + kHang;
    while (!there()) {
      if (!tuner_.Running() || RealClock()->NowSeconds() > end) return false;
      RealClock()->SleepSeconds(0.0005);
    }
    return true;
  }
  // One of them, as soon as there is one; 0 if the tuner ends before.
  pid_t Child(const std::string& word) {
    std::vector<pid_t> children;
    const bool any = WhileItRuns([&] { return !(children = Children(word)).empty(); });
    return any ? children[rng_.UniformInt(children.size())] : 0;
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
    return WhileItRuns([&] {
      bool any = false;
      for (const std::string& folder : PrivateFolders()) {
        const std::string path = JoinPath(kShm, folder);
        if (!only_kernels) any |= RemoveTree(path).ok();
        const auto names = only_kernels ? ListDir(path) : Words();
        for (const std::string& name : names.ok() ? *names : Words()) any |= Remove(JoinPath(path, name)).ok();
      }
      return any;
    });
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
    WhileItRuns([&] { return Exists(path); });
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
    const Words container = {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"};
    Words command = Tuner();
    std::replace(command.begin(), command.end(), std::string(kDb), std::string("records/other.db"));
    std::replace(command.begin(), command.end(), std::string(kStamp), std::string("stamps/other.done"));
    Subprocess other = Start(container + command);
    bool both = false;
    const double end = RealClock()->NowSeconds() + kHang;
    while (other.Running() && RealClock()->NowSeconds() < end) {
      both |= tuner_.Running() && PrivateFolders().size() > 1;
      RealClock()->SleepSeconds(0.001);
    }
    EXPECT_TRUE(Must(other.Wait(0)).ok());
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
    WhileItRuns([&] { return Has("records/t.db.lock"); });
    return Remove(Path("records/t.db.lock")).ok() && tuner_.Running();
  }

 protected:
  Subprocess tuner_;
  Rng rng_{1};
};

}  // namespace hone
