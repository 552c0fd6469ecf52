#include "session/tune_job.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "compile/backend.h"
#include "measure/child_measurer.h"
#include "measure/inputs.h"
#include "measure/machine.h"
#include "measure/reference.h"
#include "op/numerics.h"
#include "pipeline/progress_file.h"
#include "plugin/plugin.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "search/tuner/tuner.h"
#include "semantics/semantics.h"
#include "session/child_builder.h"
#include "session/machine.h"
#include "session/own_sketches.h"
#include "session/progress.h"
#include "session/saved_model.h"
#include "session/stamp.h"
#include "session/tuner_context.h"
#include "target/architecture.h"

namespace hone::session {
namespace {

constexpr int kBatch = 16;  // the same on every machine, as it affects what is measured

// For a tuner that is about to end, because the Ninja that started it was killed.
constexpr double kEndingSeconds = 10;

Result<measure::TaskSetup> SetupWithoutReference(const pipeline::TaskFile& task, const Protocol& protocol) {
  HONE_RETURN_IF_ERROR(CheckRunsHere(task.target));
  measure::TaskSetup setup{.flop = static_cast<double>(task.flop), .threads = task.target.threads};
  if (task.target.kind->has_device()) HONE_RETURN_IF_ERROR(measure::NameDevice(task.target, &setup));
  setup.protocol = protocol;
  return setup;
}

int ProtocolVersion() { return VersionOf("protocol", measure::kProtocolVersion); }

class Job {
 public:
  explicit Job(const TuneJobOptions& options) : options_(options), clock_(RealClock()) {}

  // An error other than kIo means that an input file is at fault.
  Status ReadInputs() {
    HONE_ASSIGN_OR_RETURN(task_, ReadTask(options_.task_path, &task_text_));
    HONE_ASSIGN_OR_RETURN(settings_text_, ReadFile(options_.settings_path));
    HONE_ASSIGN_OR_RETURN(settings_, pipeline::ParseTuneSettings(settings_text_, options_.settings_path));
    HONE_ASSIGN_OR_RETURN(const bool changed, Override(options_, &settings_));
    if (changed) settings_text_ = pipeline::TuneSettingsText(settings_);  // for the stamp and the records
    const std::string place = options_.tuner.empty() ? options_.settings_path + ": /tuner" : "--tuner";
    HONE_RETURN_IF_ERROR(search::CheckTunerName(settings_.tuner).WithContext(place));
    return op::ParseChecked(task_.workload.Text()).status().WithContext(options_.task_path + ": /workload");
  }

  Result<int> Run() {
    HONE_RETURN_IF_ERROR(OpenRecords());
    if (history_->Met(budget_, 0) == StopReason::kNone || !history_->Closed(settings_.finalists)) {
      HONE_RETURN_IF_ERROR(Tune());
    } else {
      result_.reason = history_->Met(budget_, 0);
      LogInfo("{}: {} recorded, budget met ({}); nothing to do", task_.id, Counted(history_->count(), "trial"),
              StopReasonName(result_.reason));
      HONE_RETURN_IF_ERROR(WarnOfUntried());
    }
    if (result_.interrupted) return kInterrupted;
    if (!history_->best()) {
      // The choice skips an alternative and builds the nodes it would have replaced; a task of the network keeps its
      // default.
      const std::string command =
          fmt::format("hone-tune --task {} --settings {} --trial", options_.task_path, options_.settings_path);
      const std::vector<std::string> lines = Split(FailureSummary(history_->outcomes(), command), '\n');
      if (options_.optional) {
        LogWarning(task_.id + ": " + lines[0] + "; its default stands, and alternatives that need it are not chosen");
      } else {
        LogError(task_.id + ": " + lines[0]);
      }
      for (size_t i = 1; i < lines.size(); ++i) LogInfo(lines[i]);
      if (!options_.optional) return kFailed;
    }
    // As recorded, so that a later run without new trials writes the same stamp.
    History recorded(fingerprint_, history_->scope());
    HONE_RETURN_IF_ERROR(recorded.Load(*store_));
    const StampInputs inputs{task_.id, task_text_, settings_text_, TuneAbi(), fingerprint_, budget_, donors_.ids};
    HONE_RETURN_IF_ERROR(WriteStamp(options_.stamp_path, StampText(inputs, recorded, result_.reason)).status());
    return kDone;
  }

 private:
  std::string Beside(const std::string& suffix) const { return BesideRecords(options_.db_path, suffix); }

  // Finds the machine that times, before anything is opened or written, since a device may be missing.
  Status FindMachine() {
    if (options_.fake) {
      fingerprint_ = fmt::format("fake; seed={}; codegen={}; protocol={}", options_.fake_world.seed,
                                 compile::CodegenVersion(), ProtocolVersion());
      return Status();
    }
    HONE_ASSIGN_OR_RETURN(const measure::Machine* machine, measure::FindMachine(task_.target));
    HONE_ASSIGN_OR_RETURN(const compile::Backend* backend, compile::FindBackend(task_.target));
    HONE_ASSIGN_OR_RETURN(machine_info_, measure::DescribeMachine(task_.target));
    HONE_ASSIGN_OR_RETURN(const std::string compiler,
                          backend->CompilerVersion(task_.target.cpu, machine->NewestCode()));
    HONE_ASSIGN_OR_RETURN(const std::string environment, machine->Environment(machine_info_));
    fingerprint_ = Fingerprint(environment, compiler, compile::CodegenVersion(), ProtocolVersion());
    return Status();
  }

  Status OpenRecords() {
    // Check before hours of measuring.
    if (const Status fits = CheckRegular(options_.stamp_path); !fits.ok()) {
      return Status::Invalid(fits.message() + "; --stamp is to be a file");
    }
    HONE_RETURN_IF_ERROR(CheckRegular(options_.db_path));  // before the log is opened beside it
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.stamp_path)));
    HONE_RETURN_IF_ERROR(FindMachine());
    fingerprint_ += TimingText(settings_.measure);
    HONE_ASSIGN_OR_RETURN(donors_, LoadDonors(options_.donor_paths, task_.workload, task_.target, fingerprint_));
    if (!settings_.model.file.empty()) {
      HONE_ASSIGN_OR_RETURN(const pipeline::SavedModel model, ReadModel(settings_.model));
      HONE_RETURN_IF_ERROR(
          AddDonorsOfModel(settings_.model.file, model, task_.workload, task_.target, fingerprint_, &donors_));
    }
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.db_path)));
    const double patience = options_.wait ? -1 : kEndingSeconds;
    HONE_ASSIGN_OR_RETURN(FileLock lock, FileLock::AcquireWithin(options_.db_path + ".lock", patience));
    lock_ = std::make_unique<FileLock>(std::move(lock));
    heartbeat_ = std::make_unique<Heartbeat>(lock_.get());
    RemoveDrafts(Beside("."));
    RemoveDrafts(options_.stamp_path);
    HONE_RETURN_IF_ERROR(OpenLogFile(Beside(".log")));
    if (Exists(options_.stamp_path) && !Exists(options_.db_path)) {
      LogWarning("{} says that this task is tuned, but its records {} are gone; tuning it anew", options_.stamp_path,
                 options_.db_path);
    }
    HONE_ASSIGN_OR_RETURN(const auto own, OwnSketches(settings_.sketches));
    HONE_ASSIGN_OR_RETURN(const auto proposers, propose::AllProposers(task_.workload, task_.target, own));
    const record::Meta meta{task_.id, task_.workload.Text(), task_.target.Text(), propose::VersionsOf(proposers)};
    HONE_ASSIGN_OR_RETURN(store_, record::Store::OpenForWriting(options_.db_path, meta));
    budget_ = {settings_.trials, settings_.seconds, settings_.early_stop, settings_.expected_gain};
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store_->Sessions());
    fingerprint_ = RecordedFingerprint(sessions, fingerprint_);
    const op::Numerics numerics = NumericsOf(settings_);
    history_ = std::make_unique<History>(fingerprint_, ScopeOf(task_.workload, task_.target, numerics));
    HONE_RETURN_IF_ERROR(history_->Load(*store_));
    for (const std::string& refused : donors_.refused) LogWarning(task_.id + ": donor rejected: " + refused);
    if (history_->outside() > 0) {
      LogInfo("{}: {} recorded trials do not count under the numerics `winograd = {}`, `tf32 = {}`", task_.id,
              history_->outside(), settings_.winograd > 0 ? std::to_string(settings_.winograd) : "off", settings_.tf32);
    }
    if (history_->superseded() > 0) {
      LogInfo("{}: {} recorded trials are of other versions of their templates and do not count", task_.id,
              history_->superseded());
    }
    if (history_->foreign() > 0) {
      LogInfo("{}: {} recorded trials are of another machine or version and are not compared with ours", task_.id,
              history_->foreign());
    }
    return Status();
  }

  // `apart`: whether candidates are compiled while others are measured.
  Result<Device> OpenDevice(const propose::Proposers& proposers, const search::TaskSpace& space, bool apart) {
    Device device;
    if (options_.fake) {
      device.builder = std::make_unique<measure::FakeBuilder>(
          options_.fake_world, [&](const Config& config) { return propose::Instantiate(proposers, space, config); });
      device.measurer = std::make_unique<measure::FakeMeasurer>(options_.fake_world);
      return device;
    }
    HONE_ASSIGN_OR_RETURN(const std::string program, WorkerProgram(options_));
    // Leave a core to the measuring child: otherwise the device would wait for it.
    const int jobs = std::max(1, static_cast<int>(UsableCpus().size()) - (apart ? 1 : 0));
    HONE_ASSIGN_OR_RETURN(device.builder,
                          ChildBuilder::Create(program, task_.workload, task_.target, jobs, settings_.sketches));
    const auto add_reference = [this](measure::TaskSetup* setup) {
      return EnsureReference(task_.workload, task_.target, Beside(".reference"), setup).status();
    };
    HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup, SetupWithoutReference(task_, settings_.measure));
    device.measurer = std::make_unique<measure::ChildMeasurer>(program, std::move(setup), add_reference);
    return device;
  }

  record::Session SessionRow() const {
    return {.host = Hostname(),
            .device = options_.fake ? "fake" : machine_info_.name,
            .driver = options_.fake ? KernelRelease() : machine_info_.driver,
            .fingerprint = fingerprint_,
            .tool_version = kVersion,
            .codegen_version = std::to_string(compile::CodegenVersion()),
            .protocol_version = std::to_string(ProtocolVersion()),
            .seed = settings_.seed,
            .settings = settings_text_};
  }

  Status Tune() {
    HONE_ASSIGN_OR_RETURN(const auto proposers, ProposersOf(task_, settings_));
    HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(proposers, NumericsOf(settings_)));
    SessionOptions session{.space = &space};
    auto first = propose::DefaultConfig(proposers);
    if (first.ok()) {
      session.default_config = std::move(*first);
    } else {
      LogWarning("{}: no default schedule: {}", task_.id, first.status().message());
    }
    session.tuner = settings_.TunerName();
    session.context = MakeTunerContext(task_.workload, task_.target, proposers, space);
    session.context.threads = static_cast<int>(UsableCpus().size());
    session.context.like_autotvm = settings_.like == "autotvm";
    session.context.donors = std::move(donors_.donors);
    session.seed = settings_.seed;
    session.budget = budget_;
    session.finalists = settings_.finalists;
    session.batch = kBatch;
    session.session = SessionRow();

    Progress progress(
        {Beside(pipeline::kProgressEnding), task_.id, task_.workload.Text(), static_cast<double>(task_.flop), budget_},
        history_->count(), clock_);
    std::optional<Turns> turns;
    if (!options_.fake) {
      HONE_ASSIGN_OR_RETURN(turns, Turns::Open(task_.target));
    }
    SessionWorld world{.store = store_.get(), .clock = clock_, .turns = turns ? &*turns : nullptr};
    const bool apart = turns && turns->apart();
    world.open_device = [&] { return OpenDevice(proposers, space, apart); };
    world.check_owner = [this] { return heartbeat_->Check(); };
    world.on_progress = [&](const History& history, double peak) -> Status {
      if (heartbeat_->lost()) HONE_RETURN_IF_ERROR(heartbeat_->Check());
      return progress.Update(history, peak);
    };
    const std::string of = budget_.trials < pipeline::kMostTrials ? fmt::format(" of {}", budget_.trials) : "";
    LogInfo("{}: {}: {} point{}, {}{} trials recorded", task_.id, task_.workload.Text(), space.size(),
            space.size() == 1 ? "" : "s", history_->count(), of);
    auto result = RunSession(session, world, history_.get());
    const char* state = !result.ok() ? "failed" : result->interrupted ? "interrupted" : "done";
    const Status shown = progress.Finish(*history_, result.ok() ? result->peak_flops : 0, state);
    if (!result.ok()) return result.status();
    HONE_RETURN_IF_ERROR(shown);
    result_ = *result;
    Report(progress);
    return Status();
  }

  // A budget that earlier trials have spent leaves nothing for a sketch that is new.
  Status WarnOfUntried() const {
    HONE_ASSIGN_OR_RETURN(const auto proposers, ProposersOf(task_, settings_));
    HONE_ASSIGN_OR_RETURN(const auto own, OwnSketches(settings_.sketches));
    for (const sketch::Sketch& sketch : own) {
      const auto offered = [&](const propose::Proposer& p) { return p.name() == sketch.name; };
      const auto tried = [&](const Outcome& outcome) { return outcome.config.template_name == sketch.name; };
      if (std::ranges::any_of(proposers, offered) && std::ranges::none_of(history_->outcomes(), tried)) {
        LogWarning("{}: sketch `{}` has not been tried: raise `trials`", task_.id, sketch.name);
      }
    }
    return Status();
  }

  void Report(const Progress& progress) {
    const Closing closing{history_->count(), result_.reason, budget_.early_stop, 0, 1, budget_.expected_gain};
    const std::string how = result_.interrupted ? "interrupted" : closing.ReasonText();
    LogInfo("{}: {} in {} ({:.1f} a second, device busy {:.0f} %), {}; {}; {}", task_.id,
            Counted(result_.new_trials, "new trial"), FormatSeconds(result_.seconds),
            result_.seconds > 0 ? static_cast<double>(result_.new_trials) / result_.seconds : 0.0,
            100 * result_.measuring_share, how, CountText(history_->outcomes()),
            progress.Line(*history_, result_.peak_flops, /*ended=*/true));
  }

  const TuneJobOptions& options_;
  Clock* clock_;
  std::string task_text_, settings_text_, fingerprint_;
  runtime::DeviceInfo machine_info_;  // unless times are simulated
  pipeline::TaskFile task_;
  pipeline::TuneSettings settings_;
  Budget budget_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<record::Store> store_;
  std::unique_ptr<History> history_;
  DonorRecords donors_;
  SessionResult result_;
};

}  // namespace

Result<pipeline::TaskFile> ReadTask(const std::string& path, std::string* text) {
  HONE_ASSIGN_OR_RETURN(*text, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(pipeline::TaskFile task, pipeline::ParseTaskFile(*text, path));
  if (!task.plugin.empty()) {
    HONE_RETURN_IF_ERROR(plugin::LoadNamed(task.plugin, task.plugin_digest).WithContext(path));
  }
  return task;
}

Result<std::string> WorkerProgram(const TuneJobOptions& options) {
  if (!options.worker_program.empty()) return options.worker_program;
  return measure::DefaultWorkerProgram();
}

std::string BesideRecords(const std::string& db_path, const std::string& suffix) {
  const std::string stem = EndsWith(db_path, ".db") ? db_path.substr(0, db_path.size() - 3) : db_path;
  return stem + suffix;
}

std::string TuneAbi() { return fmt::format("codegen {}\nmeasure {}", compile::CodegenVersion(), ProtocolVersion()); }

Result<bool> Override(const TuneJobOptions& options, pipeline::TuneSettings* settings) {
  const auto put = [](const std::string& from, std::string* to) {
    if (!from.empty()) *to = from;
    return !from.empty();
  };
  const bool any =
      put(options.like, &settings->like) | put(options.mode, &settings->mode) | put(options.tuner, &settings->tuner);
  if (!options.model.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.model));
    settings->model = {options.model, Digest128(text).Hex()};
  }
  for (const std::string& file : options.sketches) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    settings->sketches.push_back({file, std::move(text)});
  }
  HONE_RETURN_IF_ERROR(OwnSketches(settings->sketches).status());
  const std::string problem = pipeline::CheckValues(*settings);  // caused by a flag: the file was checked before
  if (!problem.empty()) return Status::Invalid("--" + problem);
  return any || !options.sketches.empty() || !options.model.empty();
}

op::Numerics NumericsOf(const pipeline::TuneSettings& settings) {
  return {static_cast<int>(settings.winograd), settings.tf32};
}

Scope ScopeOf(const Workload& workload, const Target& target, const op::Numerics& numerics) {
  Scope scope{.matter = op::WhichNumericsMatter(workload, target)};
  if (!scope.matter.winograd && !scope.matter.tf32) return scope;
  scope.numerics = numerics;
  scope.allowed = [=](const Outcome& outcome) {
    return !op::Forbidden(workload, target, numerics, outcome).has_value();
  };
  return scope;
}

Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup) {
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  setup->operands = op->Operands(workload, target);
  setup->products = semantics::ProductsOfData(workload);
  setup->reference_path = path;
  setup->reference_key = measure::ReferenceKey(workload.Text(), setup->operands);
  if (measure::ReadReference(path, setup->reference_key, setup->operands.back()).ok()) return false;
  std::vector<TensorData> values;
  std::vector<void*> buffers;
  for (const Operand& operand : setup->operands) values.push_back(measure::MakeInput(operand));
  for (TensorData& v : values) buffers.push_back(v.bytes.data());
  op->Reference(workload, target, buffers);
  if (Interrupted()) return Status::Interrupted("interrupted while computing the reference");
  HONE_RETURN_IF_ERROR(measure::WriteReference(path, setup->reference_key, values.back()));
  return true;
}

Result<measure::TaskSetup> MeasureSetup(const pipeline::TaskFile& task, const std::string& reference_path,
                                        const Protocol& protocol) {
  HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup, SetupWithoutReference(task, protocol));
  HONE_RETURN_IF_ERROR(EnsureReference(task.workload, task.target, reference_path, &setup).status());
  return setup;
}

int RunTuneJob(const TuneJobOptions& options) {
  Job job(options);
  const Status read = job.ReadInputs();
  if (!read.ok()) {
    LogError(read.message());
    return read.kind() == StatusKind::kIo ? kFailed : kMisused;
  }
  return ExitCodeOf(job.Run());
}

}  // namespace hone::session
