#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/cpu.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "base/text.h"
#include "compile/compile.h"
#include "measure/child_measurer.h"
#include "measure/machine.h"
#include "op/numerics.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "propose/propose.h"
#include "record/foreign_formats.h"
#include "record/foreign_store.h"
#include "record/store.h"
#include "search/tuner/tuner.h"
#include "session/ansor_sketch.h"
#include "session/child_builder.h"
#include "session/machine.h"
#include "session/own_sketches.h"
#include "session/tune_job.h"
#include "session/tuner_context.h"

namespace hone::session {
namespace {

struct Inputs {
  pipeline::TaskFile task;
  pipeline::TuneSettings settings;  // the defaults without a settings file
};

Result<Inputs> ReadInputs(const TuneJobOptions& options) {
  Inputs inputs;
  std::string text;
  HONE_ASSIGN_OR_RETURN(inputs.task, ReadTask(options.task_path, &text));
  HONE_RETURN_IF_ERROR(op::ParseChecked(inputs.task.workload.Text()).status());
  if (!options.settings_path.empty()) {
    HONE_ASSIGN_OR_RETURN(inputs.settings, pipeline::ReadTuneSettings(options.settings_path));
    const Status tuner = search::CheckTunerName(inputs.settings.tuner);
    HONE_RETURN_IF_ERROR(tuner.WithContext(options.settings_path + ": /tuner"));
  }
  HONE_RETURN_IF_ERROR(Override(options, &inputs.settings).status());
  return inputs;
}

// The default and the tuner's first batch. A learning tuner asks for only a few at a time: the rest are drawn.
std::vector<Config> FirstConfigs(const Inputs& inputs, const propose::Proposers& proposers,
                                 const search::TaskSpace& space, search::Tuner* tuner, int64_t count) {
  constexpr uint64_t kCountLimit = 4096;
  constexpr int kMostMisses = 1000;
  std::vector<Config> configs;
  search::IndexSet known;
  const auto full = [&] { return static_cast<int64_t>(configs.size()) >= count; };
  const auto add = [&](PointIndex index) {
    const bool added = !full() && known.insert(index).second;
    if (added) configs.push_back(space.At(index));
    return added;
  };
  const Result<Config> first = propose::DefaultConfig(proposers);
  if (first.ok() && known.insert(first->index).second) configs.push_back(*first);
  for (const PointIndex index : tuner->NextBatch(static_cast<int>(count))) add(index);
  Rng rng(inputs.settings.seed);
  if (std::optional<std::vector<PointIndex>> legal = space.LegalIndices(kCountLimit)) {
    rng.Shuffle(&*legal);
    for (const PointIndex index : *legal) add(index);
    return configs;
  }
  for (int misses = 0; !full() && misses < kMostMisses;) {
    const std::optional<PointIndex> index = space.SampleLegal(rng);
    if (!index || !add(*index)) ++misses;
  }
  return configs;
}

Result<compile::CompiledKernel> CompileTrial(const pipeline::TaskFile& task, const Outcome& outcome) {
  compile::CompileOptions options{.keep_text = true, .newest_cuda = measure::NewestCode(task.target)};
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::CandidateOf(task.workload, task.target, outcome));
  return compile::CompileKernel(task.workload, task.target, candidate, options);
}

Result<record::Trial> ReadTrial(const std::string& db_path, int64_t ordinal) {
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(db_path));
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store->AllTrials());
  const auto found = std::ranges::find(trials, ordinal, &record::Trial::ordinal);
  if (found != trials.end()) return *found;
  return Status::NotFound("{}: no trial {}; it has {}, counted from 0", db_path, ordinal, trials.size());
}

// `samples` are those behind the median; empty if another trial of the same artifact was timed.
std::string VerdictText(const Outcome& outcome, const std::vector<double>& samples, double flop) {
  std::string text = TrialStateName(outcome.state);
  if (outcome.state == TrialState::kFailed) {
    return text + fmt::format(", {}: {}", TrialErrorName(outcome.error), outcome.error_text);
  }
  text += ", " + FormatSeconds(outcome.median);
  if (!samples.empty()) {
    const Interval interval = MedianInterval(samples, 0.95);
    text += fmt::format(" ({} to {}, {} samples)", FormatSeconds(interval.low), FormatSeconds(interval.high),
                        samples.size());
  }
  if (flop > 0 && outcome.median > 0) text += ", " + FormatSi(flop / outcome.median, "FLOP/s");
  return text;
}

// Of record `number` of a log of Ansor.
Result<int> WriteForeignSketch(const pipeline::TaskFile& task, const std::string& db, int64_t number) {
  HONE_ASSIGN_OR_RETURN(const auto store, record::ForeignStore::OpenForReading(db));
  std::optional<record::ForeignRecord> found;
  HONE_RETURN_IF_ERROR(store->ForEach("", [&](int64_t n, const record::ForeignRecord& r) {
    if (n == number) found = r;
    return !found;
  }));
  if (!found) return Status::NotFound("{}: no record {}", db, number);
  const std::string place = fmt::format("{}: record {}", db, number);
  if (found->format != "ansor") {
    return Status::Unsupported("{} is of the format {}; only Ansor's records have schedules", place, found->format);
  }
  const auto steps = StepsOfAnsor(record::AnsorSteps(*found), task.workload, task.target);
  HONE_RETURN_IF_ERROR(steps.status().WithContext(place));
  sketch::Sketch written{.name = fmt::format("ansor.record{}", number)};
  for (const Step& step : *steps) written.lines.push_back({.step = StepText(step)});
  PrintOut(sketch::SketchText(written));
  return static_cast<int>(kDone);
}

}  // namespace

Result<int> CompileOnly(const TuneJobOptions& options, int64_t count) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options));
  const pipeline::TaskFile& task = inputs.task;
  HONE_ASSIGN_OR_RETURN(const auto proposers, ProposersOf(task, inputs.settings));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(proposers, NumericsOf(inputs.settings)));
  HONE_ASSIGN_OR_RETURN(auto tuner, search::MakeTuner(inputs.settings.TunerName(), space, inputs.settings.seed,
                                                      MakeTunerContext(task.workload, task.target, proposers, space)));
  HONE_ASSIGN_OR_RETURN(const std::string program, WorkerProgram(options));
  const int jobs = static_cast<int>(UsableCpus().size());
  HONE_ASSIGN_OR_RETURN(auto builder,
                        ChildBuilder::Create(program, task.workload, task.target, jobs, inputs.settings.sketches));
  const std::vector<Config> configs = FirstConfigs(inputs, proposers, space, tuner.get(), count);
  HONE_ASSIGN_OR_RETURN(MachineLock machine, OpenMachine());
  HONE_RETURN_IF_ERROR(TakeMachine(&machine, Use::kShared));  // the host's, whatever the target: no device is needed
  HONE_ASSIGN_OR_RETURN(const auto built, builder->Build(configs));
  machine.Unlock();
  int64_t ok = 0;
  double seconds = 0;
  for (const measure::BuildResult& result : built) {
    ok += result.ok;
    seconds += result.compile_seconds;
    PrintOut("{} {} {} {}\n", result.kernel.config.IndexText(), FormatSeconds(result.compile_seconds),
             result.ok ? "ok" : TrialErrorName(result.error),
             result.ok ? result.kernel.config.Text() : result.error_text);
  }
  std::printf("%lld of %zu compiled, %s each; nothing is kept\n", static_cast<long long>(ok), built.size(),
              FormatSeconds(built.empty() ? 0 : seconds / static_cast<double>(built.size())).c_str());
  return static_cast<int>(ok > 0 ? kDone : kFailed);
}

Result<int> ListSketches(const TuneJobOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options));
  const pipeline::TaskFile& task = inputs.task;
  HONE_ASSIGN_OR_RETURN(const auto proposers, ProposersOf(task, inputs.settings));
  std::vector<std::string> sketches, templates;
  for (const propose::Proposer& p : proposers) {
    if (p.sketch() != nullptr) {
      if (op::Forbidden(NumericsOf(inputs.settings), p.sketch()->algorithm)) continue;
      sketches.push_back(sketch::SketchText(*p.sketch()));
    } else {
      templates.push_back(p.name());
    }
  }
  PrintOut(sketches.empty() ? "no sketch; templates: " + Join(templates, ", ") + "\n" : Join(sketches, "\n"));
  return static_cast<int>(kDone);
}

Result<int> WriteSketch(const TuneJobOptions& options, int64_t ordinal) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options));
  if (record::IsForeignFile(options.db_path)) return WriteForeignSketch(inputs.task, options.db_path, ordinal);
  HONE_ASSIGN_OR_RETURN(const record::Trial trial, ReadTrial(options.db_path, ordinal));
  const std::string place = fmt::format("{}: trial {}", options.db_path, ordinal);
  if (trial.outcome.steps.empty()) return Status::Invalid("{} has no steps: nothing was generated", place);
  HONE_ASSIGN_OR_RETURN(const Candidate candidate,
                        propose::CandidateOf(inputs.task.workload, inputs.task.target, trial.outcome));
  const Config& config = trial.outcome.config;
  const std::string name = fmt::format("{}.trial{}", config.template_name, ordinal);
  sketch::Sketch written{.algorithm = candidate.algorithm};
  for (const Step& step : candidate.steps) written.lines.push_back({.step = StepText(step)});
  HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, ProposersOf(inputs.task, inputs.settings));
  for (const propose::Proposer& p : proposers) {
    if (p.name() != config.template_name || p.sketch() == nullptr) continue;
    const auto now = sketch::StepsOf(*p.sketch(), config);
    const bool same = now.ok() && *now == candidate.steps && p.sketch()->algorithm == candidate.algorithm;
    if (same) written = sketch::Decided(*p.sketch(), config);
  }
  written.name = name;
  PrintOut(sketch::SketchText(written));
  return static_cast<int>(kDone);
}

Result<int> Explain(const TuneJobOptions& options, int64_t ordinal, const std::vector<std::string>& show) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options));
  HONE_ASSIGN_OR_RETURN(const record::Trial trial, ReadTrial(options.db_path, ordinal));
  const Outcome& outcome = trial.outcome;
  std::string text = fmt::format("trial {}: {}\nproposed by {}, index {}\n{}\n\nsteps:\n{}", ordinal,
                                 VerdictText(outcome, trial.LastRound(), static_cast<double>(inputs.task.flop)),
                                 outcome.proposer, outcome.config.IndexText(), outcome.config.Text(),
                                 outcome.steps.empty() ? "none: nothing was generated\n" : outcome.steps);
  if (outcome.error != TrialError::kInvalid) {
    const Result<compile::CompiledKernel> compiled = CompileTrial(inputs.task, outcome);
    if (!compiled.ok()) {
      text += "\ncompiling it fails: " + compiled.status().message() + "\n";
    } else {
      text += fmt::format("\nlowered in {}, compiled in {}; ", FormatSeconds(compiled->lower_seconds),
                          FormatSeconds(compiled->codegen_seconds));
      text += compiled->llvm_ir.empty()
                  ? fmt::format("{} of {} bytes\n", compiled->format, compiled->object.size())
                  : fmt::format("LLVM IR {} bytes, assembly {} bytes, object {} bytes\n", compiled->llvm_ir.size(),
                                compiled->assembly.size(), compiled->object.size());
      for (const codegen::KernelResources& r : compiled->resources) {
        text +=
            fmt::format("kernel {}: {} registers, {} bytes of shared memory declared, {} bytes of stack, {} spilled\n",
                        r.symbol, r.registers, r.shared_bytes, r.stack_bytes, r.spill_bytes);
      }
      for (const std::string& what : show) {
        const std::string& part = what == "llvm"       ? compiled->llvm_ir
                                  : what == "assembly" ? compiled->assembly
                                  : what == "source"   ? compiled->source
                                                       : compiled->program;
        text += fmt::format("\n{}:\n{}\n", what, part);
      }
    }
  }
  PrintOut(text);
  return static_cast<int>(kDone);
}

Result<int> TryOne(const TuneJobOptions& options, uint64_t index) {
  HONE_ASSIGN_OR_RETURN(const Inputs inputs, ReadInputs(options));
  const pipeline::TaskFile& task = inputs.task;
  HONE_ASSIGN_OR_RETURN(const auto proposers, ProposersOf(task, inputs.settings));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(proposers));
  if (index >= space.size()) {
    return Status::Invalid("--trial {}: the space has {} points, counted from 0{}", index, space.size(),
                           options.settings_path.empty() ? "; with --settings it has the job's own sketches" : "");
  }
  const Config config = space.At(index);
  PrintOut(config.Text() + "\n");
  if (const auto rejection = space.Reject(index)) {
    PrintOut("invalid: " + *rejection + "\n");
    return static_cast<int>(kFailed);
  }
  HONE_ASSIGN_OR_RETURN(const std::string program, WorkerProgram(options));
  HONE_ASSIGN_OR_RETURN(Turns turns, Turns::Open(task.target));
  HONE_RETURN_IF_ERROR(TakeTurn(&turns, Use::kShared));
  HONE_ASSIGN_OR_RETURN(auto builder,
                        ChildBuilder::Create(program, task.workload, task.target, 1, inputs.settings.sketches));
  HONE_ASSIGN_OR_RETURN(const auto built, builder->Build({config}));
  if (!built[0].ok) {
    PrintOut("failed, {}: {}\n", TrialErrorName(built[0].error), built[0].error_text);
    return static_cast<int>(kFailed);
  }
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  const bool recorded = !options.db_path.empty();
  const std::string reference = recorded ? BesideRecords(options.db_path, ".reference") : dir.Join("reference");
  HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup, MeasureSetup(task, reference, inputs.settings.measure));
  HONE_RETURN_IF_ERROR(TakeTurn(&turns, Use::kExclusive));
  measure::ChildMeasurer measurer(program, setup);
  HONE_ASSIGN_OR_RETURN(const Outcome outcome, measurer.Measure(built[0].kernel, 0));
  std::printf("compiled in %s\n%s\n%s", FormatSeconds(built[0].compile_seconds).c_str(),
              VerdictText(outcome, outcome.samples, static_cast<double>(task.flop)).c_str(), outcome.steps.c_str());
  return static_cast<int>(outcome.state == TrialState::kFailed ? kFailed : kDone);
}

}  // namespace hone::session
