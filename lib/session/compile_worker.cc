#include "session/compile_worker.h"

#include <signal.h>

#include "base/channel.h"
#include "base/clock.h"
#include "base/fields.h"
#include "compile/backend.h"
#include "measure/messages.h"
#include "measure/worker.h"
#include "propose/propose.h"
#include "session/own_sketches.h"

namespace hone::session {
namespace {

// Everything that candidates share is made once a process.
struct CompileTask : CompileSetup {
  propose::Proposers proposers;
  search::TaskSpace space;
  const compile::Backend* backend = nullptr;
  compile::PrepareCache prepare_cache;
};

Result<CompileTask> ReadCompileTask(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const CompileSetup setup, ParseFields<CompileSetup>(text, "message"));
  HONE_ASSIGN_OR_RETURN(const auto own, OwnSketches(setup.sketches));
  HONE_ASSIGN_OR_RETURN(const auto proposers, propose::AllProposers(setup.workload, setup.target, own));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(proposers));
  HONE_ASSIGN_OR_RETURN(const compile::Backend* backend, compile::FindBackend(setup.target));
  return CompileTask{setup, proposers, space, backend, {}};
}

// Lowers, generates code and links one candidate into a shared object. In this process.
Result<measure::BuiltKernel> BuildKernel(CompileTask* task, const CompileRequest& request) {
  const double start = RealClock()->NowSeconds();
  compile::CompileOptions options{.newest_cuda = task->newest_cuda, .prepare_cache = &task->prepare_cache};
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(task->proposers, task->space, request.config));
  HONE_ASSIGN_OR_RETURN(compile::CompiledKernel compiled,
                        compile::CompileKernel(task->workload, task->target, candidate, options));
  measure::BuiltKernel kernel;
  kernel.config = request.config;
  kernel.path = request.path;
  kernel.artifact_digest = compile::ArtifactDigest(compiled);
  static_cast<KernelInterface&>(kernel) = compiled;
  kernel.steps = candidate.Text();
  HONE_ASSIGN_OR_RETURN(kernel.format, task->backend->Write(compiled, request.path));
  kernel.compile_seconds = RealClock()->NowSeconds() - start;
  return kernel;
}

measure::BuildResult Answer(Result<CompileTask>* task, const std::string& text, const AfterBuild& after) {
  const double start = RealClock()->NowSeconds();
  measure::BuildResult result;
  const auto build = [&]() -> Status {
    HONE_RETURN_IF_ERROR(task->status());
    HONE_ASSIGN_OR_RETURN(const CompileRequest request, ParseFields<CompileRequest>(text, "message"));
    HONE_ASSIGN_OR_RETURN(result.kernel, BuildKernel(&**task, request));
    return after ? after(request.config, &result.kernel) : Status();
  };
  const Status built = build();
  result.ok = built.ok();
  if (result.ok) return result;
  // Every machine would see these failures. Others, such as a full disk, say nothing about a candidate.
  const bool for_all = built.kind() == StatusKind::kInvalid || built.kind() == StatusKind::kUnsupported;
  result.error = for_all ? TrialError::kCompile : TrialError::kDevice;
  result.error_text = built.message();
  result.compile_seconds = RealClock()->NowSeconds() - start;
  return result;
}

}  // namespace

void ListFields(Fields* f, CompileSetup* setup) {
  HONE_VALUES(f, setup->workload, setup->target, setup->newest_cuda, setup->sketches);
}

void ListFields(Fields* f, CompileRequest* request) {
  f->As("config", &request->config, ConfigJson, ConfigFromJson);
  f->Value("path", &request->path);
}

int RunCompileWorker(int fd, const AfterBuild& after) {
  measure::SayStarted();
  measure::EndWithoutMemory();
  signal(SIGXFSZ, SIG_IGN);  // makes a file size limit an error of the write
  // The linker maps the file that it writes: on a full disk, touching a page raises SIGBUS.
  signal(SIGBUS, [](int) { measure::EndForTheMachine("no room for the linked kernel"); });
  Channel channel(fd);
  auto first = channel.Receive();
  if (!first.ok()) return measure::EndOfChannel(first.status());
  Result<CompileTask> task = ReadCompileTask(*first);
  while (true) {
    auto message = channel.Receive();
    if (!message.ok()) return measure::EndOfChannel(message.status());
    const Status sent = channel.Send(FieldsText(Answer(&task, *message, after), -1));
    if (!sent.ok()) return measure::EndOfChannel(sent);
  }
}

}  // namespace hone::session
