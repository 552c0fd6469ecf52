#include "command/bench/library_process.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "command/common/load_graph.h"
#include "graph/graph.h"
#include "library/reference.h"
#include "plugin/plugin.h"
#include "session/machine.h"

namespace hone::command {

constexpr double kChildTimeout = 600;

static Status Interruption() { return Status::Interrupted("interrupted; the same command goes on"); }

void KeepDeviceKernels() { setenv("POCL_KERNEL_CACHE", "1", /*overwrite=*/0); }

Result<std::vector<std::vector<double>>> ExpectedOutputs(const library::LibraryFolder& folder, uint64_t seed,
                                                         const std::string& parameter_file,
                                                         const std::vector<std::string>& inputs) {
  HONE_ASSIGN_OR_RETURN(const graph::Graph graph, graph::ReadGraph(folder.GraphPath(), plugin::LoadNamed));
  HONE_ASSIGN_OR_RETURN(const auto parameters, LoadParameterFile(parameter_file, inputs));
  HONE_ASSIGN_OR_RETURN(MachineLock host, session::OpenMachine());
  HONE_RETURN_IF_ERROR(session::TakeMachine(&host, session::Use::kShared));
  ShowLiveLine("{}: reference outputs", folder.network);
  return library::ReferenceOutputs(graph, parameters ? &*parameters : nullptr, seed,
                                   static_cast<int>(UsableCpus().size()),
                                   JoinPath(folder.dir, folder.name + ".reference"));
}

Result<library::TimeReply> TimeInProcess(const library::TimeRequest& request, MachineLock* machine) {
  if (Interrupted()) return Interruption();
  HONE_ASSIGN_OR_RETURN(const std::string self, CurrentExecutable());
  CommandOptions command{.input = library::RequestText(request), .timeout_seconds = kChildTimeout};
  HONE_RETURN_IF_ERROR(session::TakeMachine(machine, session::Use::kExclusive));
  const Result<CommandResult> result = RunCommand({self, "--child"}, command);
  machine->Unlock();  // gives others their turn
  if (Interrupted()) return Interruption();
  if (!result.ok()) return result.status();
  if (!result->status.ok()) {
    const std::string why = result->err.substr(0, result->err.find('\n'));
    return Status::Crashed("{}: the process that ran it {}{}{}", request.dir, result->status.ToString(),
                           why.empty() ? "" : ": ", why);
  }
  return library::ParseReply(result->out);
}

}  // namespace hone::command
