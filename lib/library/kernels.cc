#include "library/kernels.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/file.h"
#include "base/hash.h"
#include "base/threads.h"
#include "codegen/llvm/codegen.h"
#include "compile/backend.h"
#include "op/operator.h"
#include "propose/propose.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"
#include "target/architecture.h"

namespace hone::library {
namespace {

// The entry of the kernel's task, or null for the default; also sets where the kernel's config comes from.
Result<const pipeline::BestEntry*> Choose(const Target& target, const pipeline::BestFile* best, NetworkKernel* kernel) {
  kernel->task = TaskId(kernel->workload, target.Text());
  const pipeline::BestEntry* entry = best ? best->Find(kernel->task) : nullptr;
  if (entry && entry->config) {
    kernel->config = *entry->config;
    // A kernel with one schedule may have been measured only for comparison; it was not chosen.
    HONE_ASSIGN_OR_RETURN(const auto proposers, propose::AllProposers(kernel->workload, target));
    const bool fixed = !proposers[0].tuned() && proposers[0].name() == kernel->config.template_name;
    kernel->source = fixed ? "fixed" : pipeline::BestSourceName(entry->source);
    return entry;
  }
  HONE_ASSIGN_OR_RETURN(kernel->config, propose::DefaultConfig(kernel->workload, target));
  kernel->source = propose::Tunable(kernel->workload, target) ? "default" : "fixed";
  return static_cast<const pipeline::BestEntry*>(nullptr);
}

// Whether this machine, which packs the constants, may be of another architecture than the target. Always so for
// AArch64: the bytes must not depend on where a library is built.
bool PreparedElsewhere(const Target& target) {
  return target.kind == &CpuKind() && (Architecture(target.triple) == "aarch64" || !CheckRunsHere(target).ok());
}

// Compiles under the symbol of measured kernels, so that equal code has an equal digest, then renames the symbol. A
// cubin cannot be renamed: it is compiled under its own symbol, and its digest cannot be compared.
Status Compile(const Target& target, const pipeline::BestEntry* entry, int newest_cuda, const std::string& symbol,
               NetworkKernel* kernel) {
  HONE_ASSIGN_OR_RETURN(const compile::Backend* backend, compile::FindBackend(target));
  HONE_ASSIGN_OR_RETURN(const Candidate candidate,
                        entry && entry->candidate ? Result<Candidate>(*entry->candidate)
                                                  : propose::Instantiate(kernel->workload, target, kernel->config));
  kernel->steps_digest = Digest128(candidate.Text()).Hex();
  compile::CompileOptions options{.newest_cuda = newest_cuda};
  const std::string measured = options.symbol;
  const compile::Backend::Renaming rename = backend->renaming();
  if (!rename) options.symbol = symbol;
  HONE_ASSIGN_OR_RETURN(kernel->compiled, compile::CompileKernel(kernel->workload, target, candidate, options));
  if (!rename) return Status();
  kernel->artifact_digest = compile::ArtifactDigest(kernel->compiled);
  kernel->changed = entry && !entry->artifact_digest.empty() && entry->artifact_digest != kernel->artifact_digest;
  if (kernel->compiled.has_prepare && PreparedElsewhere(target)) {
    HONE_RETURN_IF_ERROR(compile::PrepareHere(kernel->workload, target, candidate, options, &kernel->compiled));
  }
  return rename(measured, symbol, &kernel->compiled);
}

Status CompileOne(const Target& target, const pipeline::BestFile* best, int newest_cuda, int index,
                  NetworkKernel* kernel) {
  HONE_ASSIGN_OR_RETURN(const pipeline::BestEntry* entry, Choose(target, best, kernel));
  const Status compiled = Compile(target, entry, newest_cuda, fmt::format("hone_k{}", index), kernel);
  if (!compiled.ok()) {
    std::string hint;
    if (kernel->source == "tuned" || kernel->source == "anchor")
      hint = "; if its template has changed since, tune it again";
    return Status(compiled.kind(), fmt::format("{} ({}), {}: {}{}", kernel->task, kernel->workload.Text(),
                                               kernel->config.Text(), compiled.message(), hint));
  }
  return Status();
}

}  // namespace

Result<std::vector<NetworkKernel>> CompileKernels(const std::vector<Workload>& workloads, const Target& target,
                                                  const pipeline::BestFile* best, int threads, int newest_cuda) {
  std::vector<NetworkKernel> kernels(workloads.size());
  std::vector<Status> statuses(workloads.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  auto work = [&] {
    for (size_t i; !failed && (i = next++) < workloads.size();) {
      kernels[i].workload = workloads[i];
      statuses[i] = CompileOne(target, best, newest_cuda, static_cast<int>(i), &kernels[i]);
      if (!statuses[i].ok()) failed = true;
    }
  };
  RunInThreads(threads, work);
  for (Status& status : statuses) HONE_RETURN_IF_ERROR(std::move(status));
  return kernels;
}

Result<runtime::LoadedModule> LoadObjects(const std::vector<codegen::LinkInput>& objects) {
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  const std::string path = dir.Join("kernels.so");
  codegen::LinkOptions options;
  options.need_libc = true;  // for memset and memcpy, which the compiler may call
  HONE_RETURN_IF_ERROR(codegen::LinkShared(objects, options, path));
  return runtime::LoadedModule::Open(path);
}

// Whether `tensor`, or a member of the group that makes it, is computed with floats that kernels may round otherwise.
static bool IsRounded(const graph::Graph& graph, const std::string& tensor) {
  const graph::Node* maker = graph.FindNode(tensor);
  if (maker == nullptr) return false;
  for (const Workload& part : maker->workload.Parts()) {
    if (!semantics::IsDequantise(part) && !semantics::IsQuantise(part) && !semantics::DefinitionOf(part).selects)
      return true;
  }
  return !semantics::IsDequantise(maker->workload.Parts()[0]) &&
         std::ranges::any_of(maker->inputs, [&](const std::string& input) { return IsRounded(graph, input); });
}

double NetworkRounding(const graph::Graph& graph, const std::vector<NetworkKernel>& kernels,
                       const std::vector<int>& uses) {
  double squares = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const double rounding = kernels[i].compiled.rounding;
    const bool integers = !semantics::InferOutput(kernels[i].workload)->type.is_float();
    if (!integers && rounding > 1.0 / 1024) squares += uses[i] * rounding * rounding;
  }
  for (const graph::Node& node : graph.nodes) {
    if (semantics::IsQuantise(node.workload.Parts().back()) && IsRounded(graph, node.name)) squares += 1.0 / (64 * 64);
  }
  return std::sqrt(squares);
}

}  // namespace hone::library
