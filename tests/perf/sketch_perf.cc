// How fast sketches draw and score candidates, and whether what they draw compiles and is right: for the tasks of task
// lists (hone-extract --tasks), a row for each sketch.
//
//   sketch_perf [--draws N] [--compile N] LIST.json ..
//
// --draws: legal candidates that each task draws and scores, with processor time. --compile: how many of them are
// compiled and compared with the reference.
#include <ctime>
#include <map>
#include <set>

#include "base/rng.h"
#include "perf/flags.h"
#include "pipeline/task_list.h"
#include "propose/propose.h"
#include "unit/op/kernel_case.h"

namespace hone {
namespace {

double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

struct Row {
  int64_t tasks = 0, drawn = 0, scored = 0, compiled = 0, refused = 0, wrong = 0;
  double draw_seconds = 0, score_seconds = 0;

  void Add(const Row& row) {
    tasks += row.tasks, drawn += row.drawn, scored += row.scored;
    compiled += row.compiled, refused += row.refused, wrong += row.wrong;
    draw_seconds += row.draw_seconds, score_seconds += row.score_seconds;
  }
};

struct Settings {
  int64_t draws = 0, compile = 0;
};

// The error that a right kernel stays below: sums of thousands of products differ by their order.
constexpr double kTolerance = 1e-3;

Status Compile(const Workload& workload, const Target& target, const propose::Proposer& proposer,
               const search::Space& space, const std::vector<PointIndex>& points, runtime::ThreadPool* pool, Row* row) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(testing::OperandData data, testing::MakeOperandData(workload, target, 7));
  op->Reference(workload, target, data.Pointers());
  const std::vector<float> reference = data.values.back();
  std::fill(data.values.back().begin(), data.values.back().end(), NAN);
  for (const PointIndex index : points) {
    const Config config = space.At(index);
    const Result<Candidate> candidate = proposer.Instantiate(space, config);
    Result<testing::KernelCase> kernel = candidate.ok()
                                             ? testing::KernelCase::Create(workload, target, *candidate, pool)
                                             : Result<testing::KernelCase>(candidate.status());
    ++row->compiled;
    if (!kernel.ok()) {
      ++row->refused;
      fmt::print("refused: {} {}: {}\n", workload.Text(), config.Text(), kernel.status().message());
      continue;
    }
    HONE_RETURN_IF_ERROR(kernel->Load(data));
    kernel->Run();
    const double error = testing::Compare(reference, kernel->output()).worst;
    if (error <= kTolerance && kernel->Intact()) continue;
    ++row->wrong;
    fmt::print("wrong: {} {}: error {:.1e}\n", workload.Text(), config.Text(), error);
  }
  return Status::Ok();
}

Status RunTask(const Workload& workload, const Target& target, const Settings& settings, runtime::ThreadPool* pool,
               std::map<std::string, Row>* rows) {
  HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, propose::AllProposers(workload, target));
  for (const propose::Proposer& proposer : proposers) {
    if (proposer.sketch() == nullptr) continue;
    HONE_ASSIGN_OR_RETURN(const search::Space space, proposer.MakeSpace());
    Row& row = (*rows)[proposer.name()];
    ++row.tasks;
    Rng rng(1);
    std::vector<PointIndex> points;
    double start = ThreadSeconds();
    for (int64_t i = 0; i < settings.draws; ++i) {
      if (const auto index = space.SampleLegal(rng)) points.push_back(*index);
    }
    row.draw_seconds += ThreadSeconds() - start;
    row.drawn += static_cast<int64_t>(points.size());
    const op::PointCost cost = propose::EstimatesOf(workload, target);
    if (!points.empty()) cost(space.At(points[0]));  // binds it to the workload
    start = ThreadSeconds();
    for (const PointIndex index : points) row.scored += !cost(space.At(index)).empty();
    row.score_seconds += ThreadSeconds() - start;
    points.resize(std::min(points.size(), static_cast<size_t>(settings.compile)));
    HONE_RETURN_IF_ERROR(Compile(workload, target, proposer, space, points, pool, &row));
  }
  return Status::Ok();
}

void Print(const std::string& name, const Row& row) {
  fmt::print("| {} | {} | {:.0f} | {:.0f} | {} | {} | {} |\n", name, row.tasks,
             static_cast<double>(row.drawn) / std::max(row.draw_seconds, 1e-9),
             static_cast<double>(row.scored) / std::max(row.score_seconds, 1e-9), row.compiled, row.refused, row.wrong);
}

Status Run(const Settings& settings, const std::vector<std::string>& lists) {
  std::map<std::string, Row> rows;
  std::set<std::string> seen;
  std::vector<runtime::ThreadPool> pool;  // one
  for (const std::string& path : lists) {
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(path));
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(list.target));
    if (pool.empty()) {
      HONE_ASSIGN_OR_RETURN(runtime::ThreadPool made, runtime::ThreadPool::Create(target.threads, true));
      pool.push_back(std::move(made));
    }
    for (const pipeline::TaskEntry& task : list.tasks) {
      if (!seen.insert(task.workload).second) continue;
      HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(task.workload));
      HONE_RETURN_IF_ERROR(RunTask(workload, target, settings, &pool[0], &rows).WithContext(task.workload));
    }
  }
  fmt::print("| sketch | tasks | draws a second | scores a second | compiled | refused | wrong |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
  Row sum;
  for (const auto& [name, row] : rows) Print(name, row), sum.Add(row);
  Print("all", sum);
  return sum.refused + sum.wrong == 0 ? Status::Ok() : Status::Invalid("some candidates were refused or wrong");
}

int Main(int argc, char** argv) {
  perf::Flags flags("sketch_perf [--draws N] [--compile N] LIST.json ..", argc, argv);
  Settings settings;
  settings.draws = flags.Number("--draws", 20000);
  settings.compile = flags.Number("--compile", 8, 0);
  const std::vector<std::string> lists = flags.Words();
  if (lists.empty()) flags.Misused("no task list");
  return ExitCodeOf(Run(settings, lists));
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) { return hone::Main(argc, argv); }
