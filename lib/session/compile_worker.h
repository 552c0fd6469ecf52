// The compiling child: `hone-worker compile`. Messages are JSON objects. The first one, a CompileSetup, names the task
// and has no answer; a mistake in it fails every candidate. Each later one is a CompileRequest. Its answer is a
// measure::BuildResult: the shared object is at the request's path, or the reason why it is missing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/kernel.h"
#include "pipeline/settings.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::session {

// Data shared by all candidates of a compiling child.
struct CompileSetup {
  Workload workload;
  Target target;
  int newest_cuda = 0;  // compile::CompileOptions
  std::vector<pipeline::SketchFile> sketches;
};
void ListFields(Fields* f, CompileSetup* setup);

struct CompileRequest {
  Config config;
  std::string path;
};
void ListFields(Fields* f, CompileRequest* request);

// Called with each kernel after it is built; may be null.
using AfterBuild = std::function<Status(const Config& config, measure::BuiltKernel* kernel)>;

// Answers messages on the socket `fd` until the parent closes it. Returns the exit code.
int RunCompileWorker(int fd, const AfterBuild& after = nullptr);

}  // namespace hone::session
