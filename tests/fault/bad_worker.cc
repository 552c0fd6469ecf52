// A hone-worker that compiles candidates and replaces some by bad ones. Measures like the real one. Usage: bad_worker
// compile|measure, with the real worker, the bad kernels and the seed in the environment.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bad_candidates.h"
#include "base/file.h"
#include "base/hash.h"
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

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "compile") == 0) {
    const uint64_t seed = std::strtoull(hone::Environment("HONE_BAD_SEED").c_str(), nullptr, 10);
    return hone::session::RunCompileWorker(3, [&](const hone::Config& config, hone::measure::BuiltKernel* kernel) {
      const hone::Misdeed* misdeed = hone::MisdeedOf(config, seed);
      return misdeed ? hone::Replace(*misdeed, kernel) : hone::Status();
    });
  }
  const std::string real = hone::Environment("HONE_REAL_WORKER");
  execv(real.c_str(), argv);
  return 1;
}
