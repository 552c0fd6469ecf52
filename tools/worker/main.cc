// hone-worker: the child that compiles or measures candidates for hone-tune. Not for people: it talks on descriptor 3.
#include <cstdio>
#include <cstring>

#include "base/channel.h"
#include "base/interrupt.h"
#include "base/sandbox.h"
#include "measure/measure_worker.h"
#include "measure/worker.h"
#include "plugin/plugin.h"
#include "session/compile_worker.h"

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "compile") == 0) {
    if (const hone::Status status = hone::plugin::LoadArguments(argc - 2, argv + 2); !status.ok()) {
      hone::measure::EndForTheMachine(status.message().c_str());  // the tuner has loaded it
    }
    // A compiler needs what a driver needs: threads, programs, and folders for temporary files.
    const hone::SandboxOptions options = hone::DeviceSandbox();
    hone::EnterSandbox(options);
    hone::LockCalls(options);
    return hone::session::RunCompileWorker(hone::kChannelFd);
  }
  if (argc == 2 && std::strcmp(argv[1], "measure") == 0) return hone::measure::RunMeasureWorker(hone::kChannelFd);
  std::fprintf(stderr,
               "usage: hone-worker compile [--plugin FILE].. | measure   (started by hone-tune, which talks to it on "
               "descriptor 3)\n");
  return hone::kMisused;
}
