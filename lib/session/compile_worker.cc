#include "session/compile_worker.h"

#include <signal.h>

#include "base/channel.h"
#include "base/clock.h"
#include "base/fields.h"
#include "compile/backend.h"
#include "measure/worker.h"

namespace hone::session {
namespace {

Result<Json> Answer(const Result<CompileSetup>& setup, const std::string& text, const AfterBuild& after) {
  HONE_RETURN_IF_ERROR(setup.status());
  HONE_ASSIGN_OR_RETURN(Json message, ParseJson(text, "message"));
  JsonReader reader(message, "message");
  std::string config_text, path;
  HONE_RETURN_IF_ERROR(reader.Read("config", &config_text));
  HONE_RETURN_IF_ERROR(reader.Read("path", &path));
  HONE_ASSIGN_OR_RETURN(Config config, Config::FromJson(config_text));
  HONE_ASSIGN_OR_RETURN(measure::BuiltKernel kernel, BuildKernel(*setup, config, path));
  if (after) HONE_RETURN_IF_ERROR(after(config, &kernel));
  return Json{{"ok", true}, {"kernel", FieldsJson(kernel)}};
}

// Whether every machine would see this failure. Others, such as a full disk, say nothing about a candidate.
bool OfTheCandidate(const Status& status) {
  return status.kind() == StatusKind::kInvalid || status.kind() == StatusKind::kUnsupported;
}

}  // namespace

Json CompileSetup::ToJson() const {
  return {{"workload", workload.Text()}, {"target", target.Text()}, {"newest_cuda", newest_cuda}};
}

Result<CompileSetup> CompileSetup::FromJson(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(Json message, ParseJson(text, "message"));
  JsonReader reader(message, "message");
  CompileSetup setup;
  std::string workload_text, target_text;
  HONE_RETURN_IF_ERROR(reader.Read("workload", &workload_text));
  HONE_RETURN_IF_ERROR(reader.Read("target", &target_text));
  HONE_RETURN_IF_ERROR(reader.Read("newest_cuda", &setup.newest_cuda));
  HONE_ASSIGN_OR_RETURN(setup.workload, Workload::Parse(workload_text));
  HONE_ASSIGN_OR_RETURN(setup.target, Target::Parse(target_text));
  return setup;
}

Result<measure::BuiltKernel> BuildKernel(const CompileSetup& setup, const Config& config, const std::string& path) {
  const double start = RealClock()->NowSeconds();
  compile::CompileOptions options;
  options.newest_cuda = setup.newest_cuda;
  HONE_ASSIGN_OR_RETURN(const Candidate candidate, op::Instantiate(setup.workload, setup.target, config));
  HONE_ASSIGN_OR_RETURN(compile::CompiledKernel compiled,
                        compile::CompileKernel(setup.workload, setup.target, candidate, options));
  measure::BuiltKernel kernel;
  kernel.config = config;
  kernel.path = path;
  kernel.artifact_digest = compile::ArtifactDigest(compiled);
  static_cast<KernelInterface&>(kernel) = compiled;
  kernel.steps = candidate.Text();
  HONE_ASSIGN_OR_RETURN(const compile::Backend* backend, compile::FindBackend(setup.target));
  HONE_ASSIGN_OR_RETURN(kernel.format, backend->Write(compiled, path));
  kernel.compile_seconds = RealClock()->NowSeconds() - start;
  return kernel;
}

int RunCompileWorker(int fd, const AfterBuild& after) {
  measure::EndWithoutMemory();
  signal(SIGXFSZ, SIG_IGN);  // makes a file size limit an error of the write
  // The linker maps the file that it writes: on a full disk, touching a page raises SIGBUS.
  signal(SIGBUS, [](int) { measure::EndForTheMachine("no room for the linked kernel"); });
  Channel channel(fd);
  auto first = channel.Receive();
  if (!first.ok()) return first.status().kind() == StatusKind::kCrashed ? 0 : 1;
  const Result<CompileSetup> setup = CompileSetup::FromJson(*first);
  while (true) {
    auto message = channel.Receive();
    if (!message.ok()) return message.status().kind() == StatusKind::kCrashed ? 0 : 1;
    const double start = RealClock()->NowSeconds();
    auto answer = Answer(setup, *message, after);
    const Json json = answer.ok() ? *answer
                                  : Json{{"ok", false},
                                         {"error", answer.status().message()},
                                         {"verdict", OfTheCandidate(answer.status())},
                                         {"seconds", RealClock()->NowSeconds() - start}};
    if (!channel.Send(DumpJson(json, -1)).ok()) return 1;
  }
}

}  // namespace hone::session
