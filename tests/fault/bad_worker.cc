// A hone-worker that compiles candidates and puts bad ones in the place of some. Measures as the real one does.
// Usage: bad_worker compile|measure, with the real worker, the bad kernels and the seed in the environment.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bad_candidates.h"
#include "base/channel.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "session/compile_worker.h"

namespace hone {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status Replace(const Misdeed& misdeed, measure::BuiltKernel* kernel) {
  int output = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < kernel->kernel.args.size(); ++i) {
    if (!kernel->kernel.args[i].written) continue;
    output = static_cast<int>(i);
    bytes = kernel->kernel.args[i].elements * 4;
  }
  HONE_RETURN_IF_ERROR(Rename(kernel->path, kernel->path + ".real"));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(kernel->path + ".args",
                                       fmt::format("{} {} {} {}\n", kernel->kernel.symbol,
                                                   kernel->has_prepare ? kernel->prepare.symbol : "-", output, bytes)));
  HONE_ASSIGN_OR_RETURN(const std::string bad, ReadFile(Environment("HONE_BAD_KERNELS")));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(kernel->path, bad));
  kernel->kernel.symbol = misdeed.symbol;
  if (kernel->has_prepare) kernel->prepare.symbol = "bad_prepare";
  kernel->artifact_digest = Digest128(kernel->artifact_digest + misdeed.symbol).Hex();
  return Status();
}

Result<Json> Answer(const std::string& text, uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(Json message, ParseJson(text, "message"));
  JsonReader reader(message, "message");
  std::string workload_text, target_text, config_text, path;
  HONE_RETURN_IF_ERROR(reader.Read("workload", &workload_text));
  HONE_RETURN_IF_ERROR(reader.Read("target", &target_text));
  HONE_RETURN_IF_ERROR(reader.Read("config", &config_text));
  HONE_RETURN_IF_ERROR(reader.Read("path", &path));
  HONE_ASSIGN_OR_RETURN(Workload workload, Workload::Parse(workload_text));
  HONE_ASSIGN_OR_RETURN(Target target, Target::Parse(target_text));
  HONE_ASSIGN_OR_RETURN(Config config, Config::FromJson(config_text));
  HONE_ASSIGN_OR_RETURN(measure::BuiltKernel kernel, session::BuildKernel(workload, target, config, path));
  if (const Misdeed* misdeed = MisdeedOf(config, seed)) HONE_RETURN_IF_ERROR(Replace(*misdeed, &kernel));
  return Json{{"ok", true}, {"kernel", measure::KernelToJson(kernel)}};
}

int Compile(uint64_t seed) {
  Channel channel(3);
  while (true) {
    auto message = channel.Receive();
    if (!message.ok()) return 0;
    auto answer = Answer(*message, seed);
    const Json json =
        answer.ok() ? *answer : Json{{"ok", false}, {"error", answer.status().message()}, {"seconds", 0.0}};
    if (!channel.Send(DumpJson(json, -1)).ok()) return 1;
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "compile") == 0) {
    return hone::Compile(std::strtoull(hone::Environment("HONE_BAD_SEED").c_str(), nullptr, 10));
  }
  const std::string real = hone::Environment("HONE_REAL_WORKER");
  execv(real.c_str(), argv);
  return 1;
}
