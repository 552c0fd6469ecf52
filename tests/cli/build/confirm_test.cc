// hone-confirm on a tiny network with given finalists: what it writes, what it keeps, what it rejects.
#include <signal.h>

#include "base/lock.h"
#include "base/rng.h"
#include "base/text.h"
#include "build_folder.h"
#include "op/operator.h"
#include "propose/propose.h"
#include "target/target.h"

namespace hone {
namespace {

class ConfirmTest : public BuildFolder {
 protected:
  void SetUp() override {
    BuildFolder::SetUp();
    ExpectOk(Extract("tiny.json", {"--alone"}));
    const pipeline::TaskList list = List();
    best_ = {list.network, list.target, {}, std::nullopt};
    const Target target = *Target::Parse(list.target);
    for (const pipeline::TaskEntry& task : list.tasks) {
      pipeline::BestEntry entry{{}, task.id, task.workload, pipeline::BestSource::kTuned};
      entry.fingerprint = "machine";
      entry.from = task.id;
      const Workload workload = *op::ParseChecked(task.workload);
      entry.finalists = {{{1e-3, 0, "host", "then", "digest"}, *propose::DefaultConfig(workload, target)}};
      const search::TaskSpace space = *propose::MakeTaskSpace(workload, target);
      for (uint64_t seed = 1; entry.finalists.size() < 2 && seed <= 50; ++seed) {
        Rng rng(seed);
        const Config config = space.At(*space.SampleLegal(rng));
        if (config == entry.finalists[0].config) continue;
        entry.finalists.push_back({{2e-3, 1, "host", "then", "digest"}, config});
      }
      entry.Choose(entry.finalists[0]);
      best_.tasks.push_back(std::move(entry));
    }
    WriteBest();
  }

  void WriteBest() { Write("best/tiny.cpu.json", pipeline::BestFileText(best_)); }

  Words Command() const {
    return SplitWords(HONE_CONFIRM
                      " --graph nets/tiny.graph.json --target targets/cpu.json --best best/tiny.cpu.json "
                      "--out best/tiny.cpu.confirmed.json --choice best/tiny.cpu.choice.json --seconds 0.1");
  }
  CommandResult Confirm() { return Run(Command()); }

  pipeline::BestFile Confirmed() { return Must(pipeline::ReadBestFile(Path("best/tiny.cpu.confirmed.json"))); }

  void ExpectNothingWritten() const {
    EXPECT_FALSE(Has("best/tiny.cpu.confirmed.json"));
    EXPECT_FALSE(Has("best/tiny.cpu.choice.json"));
  }

  pipeline::BestFile best_;
};

TEST_F(ConfirmTest, EveryFinalistIsTimedAndTheChoiceCanBeBuilt) {
  const CommandResult result = Confirm();
  ExpectOk(result);
  EXPECT_EQ(result.out, "");
  ExpectHas(result.err, {"tasks with another finalist that is faster in the network: "});
  const pipeline::BestFile best = Confirmed();
  ASSERT_TRUE(best.in_network);
  EXPECT_GT(best.in_network->alone_seconds, 0);
  EXPECT_EQ(best.in_network->kept, best.in_network->confirmed_seconds < best.in_network->alone_seconds);
  ASSERT_EQ(best.tasks.size(), 3u);
  for (const pipeline::BestEntry& task : best.tasks) {
    for (const pipeline::Finalist& f : task.finalists) EXPECT_GT(f.in_network, 0);
    if (task.finalists.size() < 2) continue;  // a task so small that it has only one legal configuration
    // The choice is the fastest in the network, by 1 %, or the best alone.
    const bool second = task.config == task.finalists[1].config;
    EXPECT_EQ(second, best.in_network->kept && task.finalists[1].in_network < 0.99 * task.finalists[0].in_network);
    EXPECT_EQ(task.median, second ? 2e-3 : 1e-3);
  }
  EXPECT_EQ(Read("best/tiny.cpu.choice.json"), pipeline::ChoiceText(best));
  ExpectOk(Build({"--best", "best/tiny.cpu.choice.json"}));
}

// An answered question is not asked again: new figures, or another order of finalists, change only the figures.
TEST_F(ConfirmTest, TheSameFinalistsAreNotTimedAgain) {
  ExpectOk(Confirm());
  const std::string first = Read("best/tiny.cpu.confirmed.json"), choice = Read("best/tiny.cpu.choice.json");
  ExpectOk(Confirm());
  EXPECT_EQ(Read("best/tiny.cpu.confirmed.json"), first);
  const pipeline::BestFile before = Confirmed();
  for (pipeline::BestEntry& task : best_.tasks) {
    if (task.finalists.size() < 2) continue;
    std::swap(task.finalists[0], task.finalists[1]);
    task.finalists[0].median = 9e-4;
    task.Choose(task.finalists[0]);
  }
  WriteBest();
  ExpectHasNot(ExpectOk(Confirm()).err, {"in the network;"});
  EXPECT_EQ(Read("best/tiny.cpu.choice.json"), choice);
  const pipeline::BestFile after = Confirmed();
  for (size_t i = 0; i < after.tasks.size(); ++i) {
    EXPECT_EQ(after.tasks[i].config, before.tasks[i].config);
    if (after.tasks[i].finalists.size() < 2) continue;
    EXPECT_EQ(after.tasks[i].finalists[0].in_network, before.tasks[i].finalists[1].in_network);
    EXPECT_EQ(after.tasks[i].finalists[0].median, 9e-4);
  }
  EXPECT_EQ(after.in_network->recorded, before.in_network->recorded);
}

TEST_F(ConfirmTest, WithoutFinalistsThereIsNothingToAsk) {
  for (pipeline::BestEntry& task : best_.tasks) task.finalists.resize(1);
  WriteBest();
  ExpectOk(Confirm());
  EXPECT_FALSE(Confirmed().in_network);
  EXPECT_EQ(Read("best/tiny.cpu.choice.json"), pipeline::ChoiceText(best_));
}

TEST_F(ConfirmTest, MistakesAreRefusedAndNothingIsWritten) {
  best_.tasks[1].finalists.back().config.values[0].name = "no_such_knob";
  WriteBest();
  ExpectRefused(Confirm(), 2, {best_.tasks[1].id});
  best_.target = "cpu -of=another -kind";
  WriteBest();
  ExpectRefused(Confirm(), 2, {"hone-pick-best"});
  Write("best/tiny.cpu.json", "{\"version\": 9}");
  ExpectRefused(Confirm(), 2, {"newer"});
  ExpectNothingWritten();
}

TEST_F(ConfirmTest, StoppedItLeavesNothing) {
  Must(MakeDirs(Path("tmp")));
  const Words command = Words{"env", "TMPDIR=" + Path("tmp")} + Command();
  const auto folders = [&] { return Must(ListDir(Path("tmp"))); };
  MachineLock lock = Must(MachineLock::Open(MachineLock::DefaultPath("cpu")));
  Must(lock.LockExclusive());  // makes it wait for its turn
  for (const int signal : {SIGKILL, SIGTERM}) {
    const Words left = folders();
    Subprocess process = Start(command);
    EXPECT_TRUE(WaitFor(60, [&] { return !process.Running() || (folders() != left && !folders().empty()); }));
    EXPECT_EQ(process.Wait(0.2).status().kind(), StatusKind::kTimeout);
    EXPECT_EQ(folders().size(), 1u) << "what a killed one left is gone";
    process.Kill(signal);
    EXPECT_EQ(Must(process.Wait(60)).ToString(), signal == SIGKILL ? "killed by SIGKILL" : "exited 75");
    ExpectNothingWritten();
  }
  EXPECT_EQ(folders(), Words{});
}

}  // namespace
}  // namespace hone
