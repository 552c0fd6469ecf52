// Power cuts: after every call that changes a file, a disk that lost or reordered what was not synced. No reported
// trial is lost, every record file is whole, no stamp or other output says more than what is there, and the same
// command then ends with the results of an undisturbed run. HONE_EACH=N tries N disks a call.
#include <sys/syscall.h>

#include "base/rng.h"
#include "disk_model.h"
#include "small_work.h"

namespace hone {
namespace {

class PowerCut : public SmallWork {
 protected:
  // Drafts of a killed process.
  static bool IsDraft(const std::string& name) {
    return IsLeftover(name) || name.ends_with(".merging") || name.ends_with(".salvage") || name.ends_with(".salvaged");
  }
  static int64_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

  // From the present state, as EachFailure::Try.
  void Cut(const Job& job) {
    const char* each = std::getenv("HONE_EACH");
    const std::string count = each == nullptr ? "1" : std::string(each) == "all" ? "20" : each;
    const int64_t disks = Must(ParseInt(count));
    const Files before = Bytes();
    const Files first = Essences(before);
    DiskModel model(Root(), before);
    struct Disk {
      std::string after;  // the call
      Files files;
      Files reported;
    };
    std::vector<Disk> states;
    Rng rng(7);
    Files reported;  // record files as they were when their progress or stamp was written
    const auto see = [&](const SeenCall& call) {
      const Files whole = model.Whole();
      if (!model.See(call)) return;
      for (int64_t i = 0; i < disks; ++i) {
        states.push_back({DescribeCall(call), model.AfterPowerCut(&rng), reported});
      }
      // What a program writes elsewhere after a commit, it writes in the belief that the commit lasts.
      if (call.number != SYS_rename) return;
      for (const auto& [path, bytes] : whole) {
        if (path.ends_with(".db")) reported[path] = bytes;
      }
    };
    WatchOptions options{.argv = job.argv, .env = Environment(), .cwd = Root()};
    options.see = see;
    const WatchedRun run = Must(RunWatched(options));
    ASSERT_TRUE(run.status.ok() && !run.hung) << run.out;
    const Files after_bytes = Bytes();
    const Files after = Essences(after_bytes);
    ASSERT_FALSE(states.empty()) << job.name << ": no call was seen";
    // The model is right about the disk without a power cut.
    for (const auto& [path, bytes] : model.Whole()) {
      const auto real = after_bytes.find(path);
      EXPECT_TRUE(real != after_bytes.end() && real->second == bytes) << path;
    }
    int bad = 0, reruns = 0;
    size_t i = 0;
    for (const Disk& disk : states) {
      Restore(disk.files);
      for (const auto& [path, text] : disk.files) {  // two names of one file, as hone-records salvage makes
        const auto other = disk.files.find(path.substr(0, path.rfind(".damaged")));
        if (!path.ends_with(".damaged") || other == disk.files.end() || other->second != text) continue;
        Must(Remove(JoinPath(Root(), path)));
        Must(ShareFile(JoinPath(Root(), other->first), JoinPath(Root(), path)));
      }
      std::string wrong = Judge(disk.reported, first, after);
      // One in some disks goes on to the end.
      const bool done = Essences(Bytes()) == after;
      if (wrong.empty() && ++i % 16 == 0 && !done) {
        ++reruns;
        const WatchedRun again = RunJob(job, {});
        if (!again.status.ok()) wrong += "the rerun " + again.status.ToString() + ": " + again.out;
        const Files now = Essences(Bytes());
        for (const auto& [name, essence] : after) {
          if (!now.contains(name) || now.at(name) != essence) wrong += "after the rerun " + name + " differs; ";
        }
      }
      if (wrong.empty()) continue;
      if (++bad <= 5) ADD_FAILURE() << job.name << ", power cut after " << disk.after << ": " << wrong;
    }
    std::printf("%-16s power cuts %6zu, reruns %4d, wrong %4d\n", job.name.c_str(), states.size(), reruns, bad);
    std::fflush(stdout);
    Restore(job.aside ? before : after_bytes);
  }

  std::string Judge(const Files& reported, const Files& first, const Files& after) {
    std::string wrong;
    const Files now = Essences(Bytes());  // reading rolls back what a commit left
    for (const auto& [name, essence] : now) {
      if (name.ends_with(".db")) {
        if (after.contains(name) && !after.at(name).starts_with(essence) &&
            !(first.contains(name) && first.at(name) == essence))
          wrong += name + ": " + essence.substr(0, 300) + "; ";
      } else if (!IsDraft(name) && !(first.contains(name) && first.at(name) == essence) &&
                 !(after.contains(name) && after.at(name) == essence)) {
        wrong += name + " is half-written; ";
      }
      if (name.ends_with(".done") && !first.contains(name)) {
        for (const auto& [db, records] : after) {
          if (db.ends_with(".db") && !first.contains(db) && (!now.contains(db) || now.at(db) != records))
            wrong += name + " without its records; ";
        }
      }
    }
    for (const auto& [name, essence] : first) {
      if (!now.contains(name) && after.contains(name)) wrong += name + " is gone; ";
    }
    // Records at the last report.
    for (const auto& [name, bytes] : reported) {
      const std::string path = JoinPath(Root(), "reported.db");
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      const int64_t known = Lines(Records("reported.db", bytes));
      Must(Remove(path));
      const int64_t found = now.contains(name) ? Lines(now.at(name)) : 0;
      if (after.contains(name) && found < known && Lines(after.at(name)) >= known)
        wrong += fmt::format("{}: {} trials, {} were reported; ", name, found, known);
    }
    return wrong;
  }
};

TEST_F(PowerCut, LosesNothingThatWasReported) {
  if (const std::string why = WhyNoWatching(); !why.empty()) GTEST_SKIP() << why;
  const Words plan = Tool("hone-plan", {"--pipelines", Path("pipelines"), "--work", "."});
  Cut({"plan", plan});
  ReadCommands();
  Cut({"extract", Command({"hone-extract", "tiny"})});
  Quietly(plan);
  ReadCommands();
  const Words tune = Command({"hone-tune", "conv2d-bc"});
  times_ = true;
  Cut({"tune simulated", tune + Words{"--fake-measure", "7"}});
  times_ = false;
  const std::string db = Option(tune, "--db");
  Cut({"merge", Tool("hone-records", {"merge", "records/cpu", "--out", "merged"}), false, true});
  Files bytes = Bytes();
  std::string& damaged = bytes.at(db);
  for (size_t i = damaged.size() - 4096; i < damaged.size(); ++i) damaged[i] = 'x';
  Restore(bytes);
  Cut({"salvage", Tool("hone-records", {"salvage", db}), false, true});
}

}  // namespace
}  // namespace hone
