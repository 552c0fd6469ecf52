#include "command/build/build.h"

#include <optional>

#include "base/clock.h"
#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/load_graph.h"
#include "command/common/tool.h"
#include "compile/compile.h"
#include "graph/graph.h"
#include "library/build.h"
#include "library/runtime/net_runtime.h"
#include "measure/machine.h"
#include "op/numerics.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "plugin/plugin.h"
#include "propose/versions.h"
#include "session/machine.h"

namespace hone::command {

// hone-pick-best skips configurations beyond the limits, but another or an older file may contain some.
static Status CheckNumerics(const pipeline::BestFile& best, const std::string& path, const Target& target,
                            const op::Numerics& numerics) {
  for (const pipeline::BestEntry& entry : best.tasks) {
    if (!entry.config) continue;
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(entry.workload));
    const auto why = entry.candidate ? op::Forbidden(numerics, entry.candidate->algorithm)
                                     : op::Forbidden(workload, target, numerics, *entry.config);
    if (why) return Status::Invalid("{}: {}: {}; run hone-pick-best again", path, entry.id, *why);
  }
  return Status();
}

static Status Build(const BuildOptions& options) {
  const double start = RealClock()->NowSeconds();
  HONE_RETURN_IF_ERROR(CheckFolder(options.out).WithContext("--out"));  // not after minutes of waiting for the machine
  library::BuildInput input;
  HONE_ASSIGN_OR_RETURN(input.target, ReadTargetFile(options.target));
  HONE_ASSIGN_OR_RETURN(input.graph, graph::ReadGraph(options.graph, plugin::LoadNamed));
  HONE_RETURN_IF_ERROR(CheckMemory(input.graph).WithContext(options.graph));
  std::optional<pipeline::BestFile> best;
  if (!options.untuned) {
    HONE_ASSIGN_OR_RETURN(best, pipeline::ReadBestFile(options.best));
    input.best = &*best;
    HONE_ASSIGN_OR_RETURN(const int winograd, pipeline::ParseWinograd(options.winograd));
    HONE_RETURN_IF_ERROR(CheckNumerics(*best, options.best, input.target, {winograd, options.tf32}));
  }
  HONE_ASSIGN_OR_RETURN(const auto parameters, LoadParameterFile(options.parameter_file, options.inputs));
  if (parameters) input.file = &*parameters;
  const std::string file = BaseName(options.graph);
  input.name = options.name.empty() ? file.substr(0, file.find('.')) : options.name;
  if (!IsPlainName(input.name)) return Status::Invalid("--name: `" + input.name + "` is not made of [A-Za-z0-9_.-]");
  input.newest_cuda = measure::NewestCode(input.target);
  input.threads = options.jobs > 0 ? options.jobs : static_cast<int>(UsableCpus().size());
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  HONE_RETURN_IF_ERROR(session::TakeMachine(&machine, session::Use::kShared));
  const Result<library::BuiltLibrary> result = library::BuildLibrary(std::move(input));
  if (!result.ok()) return result.status().WithContext(options.graph);
  const library::BuiltLibrary& built = *result;
  machine.Unlock();
  HONE_RETURN_IF_ERROR(StoppedBeforeWriting());
  HONE_RETURN_IF_ERROR(library::WriteLibrary(built, options.out));
  if (built.missing > 0)
    LogWarning("{} of the tasks have no records; their default schedules were built", built.missing);
  if (built.unasked > 0) {
    LogInfo(
        "{} with a residual: whether a sum may overwrite it was not asked, as the code does not run on this "
        "machine; sums get memory of their own",
        Counted(built.unasked, "kernel"));
  }
  if (built.changed > 0) {
    LogWarning(
        "{} of the kernels differ from the code that was measured: another version of Hone or LLVM made that; "
        "tune again",
        built.changed);
  }
  LogInfo("{}/lib{}.so: {}, {:.1f} MB of parameters, {:.1f} MB of workspace, in {}", options.out, built.name,
          Counted(static_cast<int64_t>(built.kernels.size()), "kernel"), static_cast<double>(built.params_bytes) * 1e-6,
          static_cast<double>(built.workspace_bytes) * 1e-6, FormatSeconds(RealClock()->NowSeconds() - start));
  return Status();
}

std::string BuildAbi() {
  return fmt::format("build 8\nlibrary {}\ncodegen {}\nspace {}", HONE_NET_ABI_VERSION, compile::CodegenVersion(),
                     propose::SpaceVersionText());
}

int RunBuild(const BuildOptions& options) {
  return ExitCodeOf(options.best.empty() == !options.untuned
                        ? Status::Invalid("exactly one of --best and --untuned is needed")
                        : Build(options));
}

}  // namespace hone::command
