// Power cuts: after every call that changes a file, a disk that lost or reordered what was not synced. No reported
// trial is lost, every record file is whole, no stamp or other output says more than what is there, and the same
// command then ends with the results of an undisturbed run. HONE_EACH=N tries N disks a call.
#include <sys/syscall.h>

#include <ranges>

#include "base/rng.h"
#include "disk_model.h"
#include "small_work.h"

namespace hone {
namespace {

class PowerCut : public SmallWork {
 protected:
  static std::string Names(const Files& files) {
    const auto names = std::views::keys(files);
    return Join(Words(names.begin(), names.end()), " ");
  }
  static int64_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

  // From the present state, as EachFailure::Try.
  void Cut(const Job& job) {
    const int64_t disks = Each(1, 20);
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
      if (call.number != SYS_rename && call.number != SYS_renameat && call.number != SYS_renameat2) return;
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
    EXPECT_EQ(model.unknown(), "") << job.name << ": the model ignores this call";
    const Files modelled = model.Whole();
    EXPECT_TRUE(std::ranges::equal(std::views::keys(modelled), std::views::keys(after_bytes)))
        << job.name << "\nin the model: " << Names(modelled) << "\non the disk: " << Names(after_bytes);
    for (const auto& [path, bytes] : modelled) {
      const auto real = after_bytes.find(path);
      EXPECT_TRUE(real != after_bytes.end() && real->second == bytes) << job.name << ": " << path;
    }
    int bad = 0, reruns = 0;
    known_ = 0;
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
    const bool records = std::ranges::any_of(after, [](const auto& file) { return file.first.ends_with(".db"); });
    EXPECT_EQ(known_ > 0, records) << job.name << ": no trial was reported before a cut";
    Restore(job.aside ? before : after_bytes);
  }

  std::string Judge(const Files& reported, const Files& first, const Files& after) {
    std::string wrong;
    const Files files = Bytes(), now = Essences(files);  // reading rolls back what a commit left
    wrong += HalfWritten(now, first, after, IsDraft);
    for (const auto& [name, essence] : now) {
      if (!name.ends_with(".done") || first.contains(name)) continue;
      for (const auto& [db, records] : after) {
        if (db.ends_with(".db") && !first.contains(db) && (!now.contains(db) || now.at(db) != records))
          wrong += name + " without its records; ";
      }
    }
    // A damaged file is kept once it is replaced.
    for (const auto& [name, bytes] : after) {
      const std::string db = name.substr(0, name.rfind(".damaged"));
      if (!name.ends_with(".damaged") || !files.contains(db) || files.at(db) == bytes) continue;
      if (!now.contains(name) || now.at(name) != bytes) wrong += name + " is lost; ";
    }
    // Records at the last report.
    for (const auto& [name, bytes] : reported) {
      const std::string path = JoinPath(Root(), "reported.db");
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      const int64_t known = Lines(Records("reported.db", bytes));
      Must(Remove(path));
      known_ = std::max(known_, known);
      const int64_t found = now.contains(name) ? Lines(now.at(name)) : 0;
      if (after.contains(name) && found < known && Lines(after.at(name)) >= known)
        wrong += fmt::format("{}: {} trials, {} were reported; ", name, found, known);
    }
    return wrong;
  }

  int64_t known_ = 0;  // the most reported trials before a cut
};

TEST_F(PowerCut, LosesNothingThatWasReported) {
  if (const std::string why = WhyNoWatching(); !why.empty()) GTEST_SKIP() << why;
  const Words plan = Tool("hone-plan", {"--pipelines", Path("pipelines"), "--work", "."});
  Cut({"plan", plan});
  ReadCommands();
  Cut({"extract", Command({"hone-extract", "tiny"})});
  Quietly(plan);
  ReadCommands();
  const Words tune = Command({"hone-tune", "conv2d-", "settings/tiny."});
  times_ = true;
  Cut({"tune simulated", tune + Words{"--fake-measure", "7"}});
  times_ = false;
  const std::string db = Option(tune, "--db");
  Cut({"merge", Tool("hone-records", {"merge", "records/cpu", "--out", "merged"}), false, true});
  DamageEnd(db);
  Cut({"salvage", Tool("hone-records", {"salvage", db}), false, true});
}

}  // namespace
}  // namespace hone
