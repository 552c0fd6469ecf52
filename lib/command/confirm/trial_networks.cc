#include "command/confirm/trial_networks.h"

#include <algorithm>
#include <utility>

#include "base/subprocess.h"
#include "command/common/tool.h"
#include "library/build.h"
#include "library/reference.h"
#include "measure/machine.h"

namespace hone::command {

// Far above CompareOptions::seconds: reached only by a library that hangs.
constexpr double kChildTimeout = 600;
constexpr double kPoll = 0.1;

Status TrialNetworks::Open() {
  HONE_ASSIGN_OR_RETURN(turns_, session::Turns::Open(target_));
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  dir_.emplace(std::move(dir));
  return Status();
}

Result<TrialNetwork> TrialNetworks::Build(const pipeline::BestFile& choice) {
  HONE_RETURN_IF_ERROR(StoppedBeforeWriting());
  const std::string text = pipeline::ChoiceText(choice);
  if (auto found = known_.find(text); found != known_.end()) return found->second;
  const session::TurnsEnd end(&*turns_);
  HONE_RETURN_IF_ERROR(session::TakeTurn(&*turns_, session::Use::kShared));
  library::BuildInput input{.graph = graph_,
                            .file = parameters_,
                            .target = target_,
                            .best = &choice,
                            .name = "confirm",
                            .threads = threads_,
                            .newest_cuda = measure::NewestCode(target_)};
  const Result<library::BuiltLibrary> built = library::BuildLibrary(std::move(input));
  if (!built.ok()) return built.status().WithContext(where_);
  TrialNetwork network{dir_->Join(fmt::format("network{}", built_++)), built->params_bytes, built->slices,
                       built->in_place, built->rounding};
  HONE_RETURN_IF_ERROR(library::WriteLibrary(*built, network.folder));
  for (const library::NetworkKernel& kernel : built->kernels) tasks_[kernel.workload.Text()] = kernel.task;
  known_[text] = network;
  return network;
}

void TrialNetworks::Drop(const TrialNetwork& network) {
  std::erase_if(known_, [&](const auto& entry) { return entry.second.folder == network.folder; });
  // If this fails, the temporary folder's removal covers it.
  (void)RemoveTree(network.folder);
}

std::string TrialNetworks::TaskOf(const std::string& workload) const {
  auto found = tasks_.find(workload);
  return found == tasks_.end() ? "" : found->second;
}

Result<std::vector<library::Compared>> TrialNetworks::Compare(const std::vector<TrialNetwork>& networks,
                                                              const library::CompareOptions& options) {
  library::CompareRequest request;
  for (const TrialNetwork& network : networks) request.dirs.push_back(network.folder);
  request.options = options;
  const std::string asks = dir_->Join("request.json"), answers = dir_->Join("reply.json");
  HONE_RETURN_IF_ERROR(Remove(answers));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(asks, library::CompareRequestText(request)));
  HONE_ASSIGN_OR_RETURN(const std::string self, CurrentExecutable());
  Result<ExitStatus> ended = ExitStatus();
  {
    const session::TurnsEnd end(&*turns_);
    HONE_RETURN_IF_ERROR(session::TakeTurn(&*turns_, session::Use::kExclusive));
    HONE_ASSIGN_OR_RETURN(Subprocess child, Subprocess::Spawn({.argv = {self, "--child", asks, "--out", answers}}));
    double waited = 0;
    do {
      ended = child.Wait(kPoll);
      waited += kPoll;
    } while (ended.status().kind() == StatusKind::kTimeout && !Interrupted() && waited < kChildTimeout);
    if (!ended.ok()) child.KillAndWait();
  }
  HONE_RETURN_IF_ERROR(StoppedBeforeWriting());
  if (!ended.ok()) return Status::Crashed("{}: the process that ran the networks hung", where_);
  if (!ended->ok()) {
    const std::string said = fmt::format("{}: the process that ran the networks {}", where_, ended->ToString());
    // One that exits has found an error that no kernel made, such as a lack of memory.
    return ended->signal == 0 ? Status::Io(said) : Status::Crashed(said);
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(answers));
  HONE_ASSIGN_OR_RETURN(std::vector<library::Compared> compared, library::ParseCompareReply(text));
  if (compared.size() != networks.size()) return Status::Corrupt("the process that ran the networks left some out");
  if (expected_.empty()) {
    for (const TensorData& output : compared[0].outputs) expected_.push_back(output.Doubles());
  }
  double tolerance = 0;  // for two networks, each off in its own direction
  for (const TrialNetwork& network : networks) {
    tolerance = std::max(tolerance, library::OutputTolerance(2 * network.rounding));
  }
  for (const library::Compared& one : compared) {
    for (size_t i = 0; i < expected_.size() && i < one.outputs.size(); ++i) {
      const double error = library::RelativeError(one.outputs[i].Doubles(), expected_[i]);
      if (error <= tolerance) continue;
      return Status::Corrupt(
          "{}: with other choices the network's output {} differs by {:.2g} standard deviations (tolerance {:g}); a "
          "kernel is wrong: hone-bench says of a library whether it has one",
          where_, i, error, tolerance);
    }
  }
  return compared;
}

int RunTrialChild(const std::string& request_path, const std::string& reply) {
  const auto compare = [&]() -> Status {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(request_path));
    HONE_ASSIGN_OR_RETURN(const library::CompareRequest request, library::ParseCompareRequest(text));
    std::vector<library::LibraryFolder> folders;
    for (const std::string& dir : request.dirs) {
      HONE_ASSIGN_OR_RETURN(folders.emplace_back(), library::ReadLibraryFolder(dir));
    }
    HONE_ASSIGN_OR_RETURN(const auto compared, library::CompareLibraries(folders, request.options));
    return WriteFileAtomic(reply, library::CompareReplyText(compared));
  };
  return ExitCodeOf(compare());
}

}  // namespace hone::command
