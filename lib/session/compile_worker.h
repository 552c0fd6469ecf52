// The compiling child: `hone-worker compile`. Messages are JSON objects:
//   {"workload": TEXT, "target": TEXT, "config": JSON TEXT, "path": FILE, "newest_cuda": N (compile::CompileOptions)}
//     -> {"ok": true, "kernel": measure::KernelToJson}  the shared object is at FILE
//      | {"ok": false, "error": TEXT, "seconds": S}
#pragma once

#include <string>

#include "base/result.h"
#include "measure/kernel.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::session {

// Lowers, generates code and links one candidate into a shared object at `path`. In this process.
Result<measure::BuiltKernel> BuildKernel(const Workload& workload, const Target& target, const Config& config,
                                         const std::string& path, int newest_cuda = 0);

// Answers messages on the socket `fd` until the parent closes it. The exit code.
int RunCompileWorker(int fd);

}  // namespace hone::session
