// The compiling child: `hone-worker compile`. Messages are JSON objects. The first one names the task and has no
// answer; a mistake in it fails every candidate:
//   {"workload": TEXT, "target": TEXT, "newest_cuda": N (compile::CompileOptions)}
// Each later one is a candidate:
//   {"config": JSON TEXT, "path": FILE}
//     -> {"ok": true, "kernel": measure::BuiltKernel}  the shared object is at FILE
//      | {"ok": false, "error": TEXT, "verdict": B, "seconds": S}  B: whether the candidate is at fault, not the
//      machine
#pragma once

#include <functional>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"
#include "measure/kernel.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::session {

// Data shared by all candidates of a compiling child.
struct CompileSetup {
  Workload workload;
  Target target;
  int newest_cuda = 0;

  Json ToJson() const;
  static Result<CompileSetup> FromJson(const std::string& text);
};

// Lowers, generates code and links one candidate into a shared object at `path`, in this process.
Result<measure::BuiltKernel> BuildKernel(const CompileSetup& setup, const Config& config, const std::string& path);

// Called with each kernel after it is built; may be null.
using AfterBuild = std::function<Status(const Config& config, measure::BuiltKernel* kernel)>;

// Answers messages on the socket `fd` until the parent closes it. Returns the exit code.
int RunCompileWorker(int fd, const AfterBuild& after = nullptr);

}  // namespace hone::session
