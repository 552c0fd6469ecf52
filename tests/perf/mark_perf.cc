// How many trials are slower than they should be although nothing marks them as disturbed: candidates of a few tasks
// are measured in turns alone and beside two busy neighbours, one on each of two cores.
//
//   mark_perf [--candidates=12] [--tasks=3] [--turns=3] [--seed=1]
//
// The true time of a trial is the smaller of the quiet ones just before and after it. Where these two differ by more
// than 1.5 %, the machine itself changed, and the trial does not count. Goal: at most 2 % of the trials without a mark
// are more than 3 % slow beside busy loops. Exits with 1 otherwise. Nothing else may run.
#include "base/cpu.h"
#include "fake/neighbour.h"
#include "measure/child_measurer.h"
#include "op/operator.h"
#include "perf/flags.h"
#include "pipeline/task_list.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "session/child_builder.h"
#include "session/tune_job.h"
#include "target/target.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

// Layers that stay in a core's own caches, so that the machine's other guests disturb them little.
constexpr const char* kWorkloads[] = {
    "conv2d(f32[1,256,14,14], f32[256,256,1,1]) + bias + relu",
    "conv2d(f32[1,64,14,14], f32[64,64,3,3], pad=1,1,1,1) + bias + relu",
    "conv2d(f32[1,128,28,28], f32[128,128,1,1]) + bias + relu",
};
constexpr double kSame = 1.015, kSlow = 1.03, kWanted = 0.02;
// A session beside neighbours may repeat runs for as long as it measures. Here it rests meanwhile, so it gets no more
// for a candidate than what measuring one takes.
constexpr double kPatience = 0.1;

struct Count {
  int64_t trials = 0, marked = 0, slow = 0, uncounted = 0;  // slow: without a mark
  double worst = 1;

  void Add(const Outcome& before, const Outcome& outcome, const Outcome& after) {
    const double low = std::min(before.median, after.median), high = std::max(before.median, after.median);
    if (low <= 0 || outcome.median <= 0 || high > kSame * low) {
      ++uncounted;
      return;
    }
    ++trials;
    if (outcome.disturbed > 0 || Unsteady(outcome.samples)) {
      ++marked;
      return;
    }
    slow += outcome.median > kSlow * low;
    worst = std::max(worst, outcome.median / low);
  }
  double share() const { return trials == marked ? 1 : double(slow) / double(trials - marked); }
  void Print(const char* name) const {
    fmt::print(
        "{}: {} trials ({} more do not count), {} marked, {} of the others ({:.1f} %) more than 3 % slow, worst "
        "{:.3f}\n",
        name, trials, uncounted, marked, slow, 100 * share(), worst);
  }
};

struct Counts {
  Count quiet, loop, memory;
};

class Bench {
 public:
  Bench(const TempDir& dir, int candidates, int turns, Rng* rng, Counts* counts)
      : dir_(dir), candidates_(candidates), turns_(turns), rng_(*rng), counts_(*counts) {}

  Status Run(const char* text) {
    HONE_ASSIGN_OR_RETURN(const Target target, HostTarget());
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
    const pipeline::TaskFile task{TaskId(workload, target.Text()), workload, target,
                                  static_cast<int64_t>(semantics::Flop(workload))};
    HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(workload, target));
    std::vector<Config> configs;
    for (int i = 0; i < candidates_; ++i) {
      if (const auto index = space.SampleLegal(rng_)) configs.push_back(space.At(*index));
    }
    HONE_ASSIGN_OR_RETURN(const std::string program, measure::DefaultWorkerProgram());
    HONE_ASSIGN_OR_RETURN(auto builder, session::ChildBuilder::Create(program, workload, target, 2));
    HONE_ASSIGN_OR_RETURN(const auto built, builder->Build(configs));
    Protocol protocol;
    protocol.prune_factor = 0;
    HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup,
                          session::MeasureSetup(task, dir_.Join(task.id + ".reference"), protocol));
    measure::ChildMeasurer quiet(program, setup);
    setup.protocol.patience_seconds = kPatience;
    measure::ChildMeasurer beside(program, setup);
    for (const measure::BuildResult& result : built) {
      if (result.ok) HONE_RETURN_IF_ERROR(Measure(result.kernel, &quiet, &beside));
    }
    return Status();
  }

 private:
  Status Measure(const measure::BuiltKernel& kernel, measure::Measurer* quiet, measure::Measurer* beside) {
    HONE_RETURN_IF_ERROR(beside->Measure(kernel, 0).status());  // both children are set up before there is any load
    HONE_ASSIGN_OR_RETURN(Outcome before, quiet->Measure(kernel, 0));
    const auto turn = [&](measure::Measurer* measurer, Count* count) -> Status {
      HONE_ASSIGN_OR_RETURN(const Outcome outcome, measurer->Measure(kernel, 0));
      neighbours_.clear();
      HONE_ASSIGN_OR_RETURN(Outcome after, quiet->Measure(kernel, 0));
      count->Add(before, outcome, after);
      before = std::move(after);
      return Status();
    };
    for (int i = 0; i < turns_; ++i) {
      HONE_RETURN_IF_ERROR(turn(quiet, &counts_.quiet));
      for (const bool memory : {false, true}) {
        for (const int cpu : {UsableCpus().front(), UsableCpus().back()}) {
          neighbours_.push_back(std::make_unique<fake::Neighbour>(cpu, fake::Neighbour::Habits{.memory = memory}));
        }
        RealClock()->SleepSeconds(0.05);
        HONE_RETURN_IF_ERROR(turn(beside, memory ? &counts_.memory : &counts_.loop));
      }
    }
    return Status();
  }

  const TempDir& dir_;
  const int candidates_, turns_;
  Rng& rng_;
  Counts& counts_;
  std::vector<std::unique_ptr<fake::Neighbour>> neighbours_;
};

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("mark_perf [--candidates=12] [--tasks=3] [--turns=3] [--seed=1]", argc, argv);
  const int candidates = static_cast<int>(flags.Number("--candidates", 12));
  const int64_t tasks = std::min<int64_t>(flags.Number("--tasks", 3), std::size(kWorkloads));
  const int turns = static_cast<int>(flags.Number("--turns", 3));
  Rng rng(static_cast<uint64_t>(flags.Number("--seed", 1)));
  flags.Words();
  auto dir = TempDir::Create("hone-mark");
  if (!dir.ok()) return ExitCodeOf(dir.status());
  Counts counts;
  Bench bench(*dir, candidates, turns, &rng, &counts);
  for (int64_t i = 0; i < tasks; ++i) {
    const Status status = bench.Run(kWorkloads[i]);
    if (!status.ok()) return ExitCodeOf(status);
  }
  counts.quiet.Print("alone");
  counts.loop.Print("beside two busy loops");
  counts.memory.Print("beside two that write memory");
  return counts.loop.share() <= kWanted ? 0 : 1;
}
