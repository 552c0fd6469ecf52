#include "command/quantise/observe.h"

#include <algorithm>
#include <optional>

#include "base/cpu.h"
#include "base/interrupt.h"
#include "library/build.h"

namespace hone::command {

Result<ObservedNetwork> ObservedNetwork::Build(graph::Graph graph, const graph::ParameterValues& values,
                                               const std::vector<std::string>& observed, const Target& target) {
  for (const std::string& tensor : observed) {
    const bool known = std::ranges::count(graph.outputs, tensor) != 0;
    if (!known && graph.FindNode(tensor) != nullptr) graph.outputs.push_back(tensor);
  }
  library::BuildInput input{.graph = graph, .file = &values, .target = target, .name = "observed"};
  input.threads = static_cast<int>(UsableCpus().size());
  HONE_ASSIGN_OR_RETURN(const library::BuiltLibrary built, library::BuildLibrary(std::move(input)));
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  ObservedNetwork network(std::move(graph), std::move(dir));
  HONE_RETURN_IF_ERROR(library::WriteLibrary(built, network.dir_.path()));
  HONE_ASSIGN_OR_RETURN(network.folder_, library::ReadLibraryFolder(network.dir_.path()));
  HONE_ASSIGN_OR_RETURN(auto net,
                        library::LoadedNetwork::Load(network.folder_.LibraryPath(), network.folder_.identifier));
  network.net_ = std::make_unique<library::LoadedNetwork>(std::move(net));
  return network;
}

Result<std::map<std::string, TensorData>> ObservedNetwork::Run(const std::vector<TensorData>& inputs) {
  if (Interrupted()) return Status::Interrupted("interrupted; nothing was written, the same command starts again");
  const library::ThreadCores cores;
  if (runner_ == nullptr) {
    runner_ = std::make_unique<library::NetworkRunner>(*net_);
    HONE_RETURN_IF_ERROR(runner_->Create(folder_.ParamsPath(), inputs));
  } else {
    HONE_RETURN_IF_ERROR(runner_->SetInputs(inputs));
  }
  HONE_RETURN_IF_ERROR(runner_->RunWithCopies());
  std::map<std::string, TensorData> tensors;
  std::vector<TensorData> outputs = runner_->Outputs();
  for (size_t i = 0; i < outputs.size(); ++i) tensors[graph_.outputs[i]] = std::move(outputs[i]);
  for (size_t i = 0; i < inputs.size(); ++i) tensors[graph_.inputs[i].name] = inputs[i];
  return tensors;
}

}  // namespace hone::command
