// A folder in which one task is tuned by the real tools, with file systems of its own, so that a test can spoil the
// environment and compare with a sound machine.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/os_error.h"
#include "rounds.h"
#include "tune_folder.h"

namespace hone {

// A command line begins with this to run as a user without other processes.
inline const Words kAsOther = {"setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"};

class EnvironmentFolder : public TuneFolder {
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
    const bool own_disks = unshare(CLONE_NEWNS) == 0 &&
                           mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           mount("tmpfs", kShm.c_str(), "tmpfs", 0, "mode=1777") == 0;
    if (!own_disks) {
      why_no_disks_ = fmt::format("user {} gets no file system of its own at {}: {}", user, kShm, ErrnoText(errno));
    }
    real_root_ = user == 0;
  }

  void SetUp() override {
    if (!why_no_disks_.empty()) GTEST_SKIP() << why_no_disks_;
    TuneFolder::SetUp();
    WriteSettings(6, R"(, "measure": {"candidate_seconds": 0.01, "timeout_seconds": 60, "finalists": 2})");
    if (expected_) return;
    const double start = RealClock()->NowSeconds();
    TuneUntroubled();
    expected_ = {Outcomes(kDb), WithoutTimes(Stamp()), Files(), RealClock()->NowSeconds() - start, Starts()};
    ASSERT_EQ(expected_->outcomes.size(), 6u);
    for (const std::string& line : expected_->outcomes) ASSERT_EQ(Split(line, ':').size(), 1u) << line;  // no failure
    ASSERT_GT(expected_->children, 0u);
    Reset();
  }
  void TearDown() override {
    if (!disk_.empty()) {
      EXPECT_EQ(umount2(disk_.c_str(), MNT_DETACH), 0);
    }
    disk_.clear();
  }

  // Why the tuner cannot run as another user; empty if it can.
  std::string WhyNotOther() const {
    if (!real_root_) return "only root can start a program as another user";
    const Words command = kAsOther + Words{"test", "-x", HONE_TUNE};
    const CommandResult tried = Must(RunCommand(command, {}));
    return tried.status.ok() ? "" : fmt::format("{}: {} {}", Join(command, " "), tried.status.ToString(), tried.err);
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

  void MountDisk(const std::string& options, unsigned long flags = 0) {
    ASSERT_EQ(mount("tmpfs", disk_.c_str(), "tmpfs", flags, options.c_str()), 0) << disk_ << " " << options;
  }

  std::vector<std::string> Outcomes(const std::string& db) const {
    std::vector<std::string> lines;
    const Result<int64_t> size = FileSize(Path(db));
    if (!size.ok() || *size == 0) return lines;  // ended before or while it was created
    const auto store = record::Store::OpenForReading(Path(db));
    if (!store.ok()) {
      const std::string& why = store.status().message();  // an outcome that no sound machine has
      return why.find("an empty record file") == std::string::npos ? Words{why} : lines;
    }
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

  static inline std::string why_no_disks_;
  static inline bool real_root_ = false;
  static inline std::optional<Expected> expected_;
  std::string disk_;  // where one is mounted for this round
};

}  // namespace hone
