#include "library/build.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "codegen/elf/rename.h"
#include "codegen/llvm/codegen.h"
#include "graph/normalise.h"
#include "library/backend.h"
#include "library/header_text.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "library/tables.h"
#include "propose/versions.h"
#include "semantics/semantics.h"
#include "target/architecture.h"

namespace hone::library {
namespace {

constexpr std::string_view kPrefix = "HONE_NET_";

Status CheckBest(const pipeline::BestFile& best, const graph::Graph& graph, const Target& target) {
  if (best.target != target.Text()) {
    return Status::Invalid(
        "the best configurations are for `{}`, the target is `{}`; run hone-extract and hone-pick-best again",
        best.target, target.Text());
  }
  if (best.network != graph.name) {
    return Status::Invalid("the best configurations are of the network {}, the graph is {}", best.network, graph.name);
  }
  return pipeline::CheckTaskIds(best);
}

// The functions of NET.h, including those for devices only.
std::vector<std::string> Exports(const Backend& backend) {
  std::vector<std::string> exports = {"abi_version", "describe",    "workspace_size", "create",
                                      "run",         "profile_run", "destroy",        "strerror"};
  if (backend.opens_device()) exports.insert(exports.end(), {"run_device", "wait", "device", "error_detail"});
  return exports;
}

Result<std::string> Link(const BuiltLibrary& built, const Target& target, const Backend& backend,
                         std::string_view runtime_object, std::vector<codegen::LinkInput> objects) {
  const std::string &name = built.name, &identifier = built.identifier;
  const std::string object(runtime_object);
  HONE_ASSIGN_OR_RETURN(std::string runtime,
                        codegen::RenameSymbols("the runtime", object, [&](std::string_view symbol) {
                          if (!StartsWith(symbol, kPrefix)) return std::string(symbol);
                          return identifier + "_" + std::string(symbol.substr(kPrefix.size()));
                        }));
  objects.insert(objects.begin(), {"the runtime", std::move(runtime)});
  codegen::LinkOptions options{.soname = "lib" + name + ".so", .need_libc = true};
  if (!CheckRunsHere(target).ok()) options.triple = target.triple;
  options.need_libdl = backend.opens_device();  // it opens the driver at run time
  for (const std::string& symbol : Exports(backend)) options.exports.push_back(identifier + "_" + symbol);
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  const std::string path = dir.Join(options.soname);
  HONE_RETURN_IF_ERROR(codegen::LinkShared(objects, options, path));
  return ReadFile(path);
}

// Images in a run; 0 if no operator has a batch axis.
int64_t Batch(const graph::Graph& graph) {
  const bool has = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const graph::Node& node) { return semantics::HasBatch(node.workload); });
  if (!has || graph.inputs.empty() || graph.inputs[0].type.shape.empty()) return 0;
  return graph.inputs[0].type.shape[0];
}

// The content of manifest.json. It changes only if the library may change.
std::string ManifestText(const BuildInput& input, const Backend& backend, const NetworkPlan& plan,
                         const ParamsFile& params, const BuiltLibrary& built) {
  Json json;
  json["version"] = 1;
  json["network"] = input.graph.name;
  json["name"] = built.name;
  json["identifier"] = built.identifier;
  json["target"] = input.target.Text();
  if (const int64_t batch = Batch(input.graph); batch > 0) json["batch"] = batch;
  if (input.graph.layout != Layout::kBlocked) json["layout"] = LayoutName(input.graph.layout);
  json["hone"] = kVersion;
  backend.AddCompiler(input, &json);
  json["codegen_version"] = compile::CodegenVersion();
  json["space_version"] = propose::SpaceVersionText();
  json["checked_cpu_features"] = CheckedFeatures(input.target);
  json["graph_digest"] = Digest128(built.graph).Hex();
  json["library_digest"] = Digest128(built.library).Hex();
  json["params_digest"] = params.DigestHex();
  json["params_bytes"] = params.bytes.size();
  json["arena_bytes"] = plan.arena_bytes;
  json["workspace_bytes"] = built.workspace_bytes;
  if (built.rounding > 0) json["rounding"] = built.rounding;
  json["kernels"] = Json::array();
  for (size_t i = 0; i < built.kernels.size(); ++i) {
    const NetworkKernel& kernel = built.kernels[i];
    Json item;
    item["task"] = kernel.task;
    item["workload"] = kernel.workload.Text();
    item["uses"] = plan.uses[i];
    item["source"] = kernel.source;
    item["config"] = Json::parse(kernel.config.ToJson());
    item["steps_digest"] = kernel.steps_digest;
    if (!kernel.artifact_digest.empty()) item["artifact_digest"] = kernel.artifact_digest;
    json["kernels"].push_back(std::move(item));
  }
  return DumpJson(json);
}

}  // namespace

Result<BuiltLibrary> BuildLibrary(BuildInput input) {
  HONE_ASSIGN_OR_RETURN(const Backend* backend, FindBackend(input.target));
  HONE_ASSIGN_OR_RETURN(const std::string_view runtime, backend->Runtime(input.target));
  HONE_RETURN_IF_ERROR(graph::Normalise(&input.graph));
  HONE_RETURN_IF_ERROR(Canonicalise(&input.graph));
  if (input.best) HONE_RETURN_IF_ERROR(CheckBest(*input.best, input.graph, input.target));
  graph::Graph graph = input.graph;
  pipeline::Sharing share = input.share;
  if (input.best) {
    share.slices = share.slices && input.best->share.slices;
    share.in_place = share.in_place && input.best->share.in_place;
    HONE_ASSIGN_OR_RETURN(const auto alternatives, FromFile(input.best->alternatives));
    HONE_ASSIGN_OR_RETURN(graph, graph::WithAlternatives(graph, alternatives));
  }
  HONE_ASSIGN_OR_RETURN(NetworkPlan plan, PlanNetwork(graph, input.target, share.slices));
  BuiltLibrary built{.name = input.name, .identifier = CIdentifier(input.name), .slices = plan.slices};
  if (!input.compile) {
    input.compile = [newest = input.newest_cuda](const std::vector<Workload>& workloads, const Target& target,
                                                 const pipeline::BestFile* best, int threads) {
      return CompileKernels(workloads, target, best, threads, newest);
    };
  }
  HONE_ASSIGN_OR_RETURN(built.kernels, input.compile(plan.workloads, input.target, input.best, input.threads));
  built.rounding = NetworkRounding(graph, built.kernels, plan.uses);
  for (const NetworkKernel& kernel : built.kernels) {
    built.missing += input.best && kernel.source == "default";
    built.changed += kernel.changed;
  }

  HONE_ASSIGN_OR_RETURN(graph::ParameterValues values, graph::MakeParameters(graph, input.file));
  graph::KeepReadParameters(graph, &values);
  const Parts parts{graph, input, values, share.in_place};
  HONE_ASSIGN_OR_RETURN(LinkedParts linked, backend->Make(parts, &plan, &built));
  HONE_ASSIGN_OR_RETURN(built.library, Link(built, input.target, *backend, runtime, std::move(linked.objects)));
  const ParamsFile& params = linked.params;
  built.arena_bytes = plan.arena_bytes;
  built.header = HeaderText(input.graph, built.name, built.identifier, backend->opens_device());
  built.params = params.bytes;
  built.params_bytes = static_cast<int64_t>(params.bytes.size());
  built.graph = graph::GraphText(input.graph);
  built.manifest = ManifestText(input, *backend, plan, params, built);
  return built;
}

Status WriteLibrary(const BuiltLibrary& built, const std::string& dir) {
  HONE_RETURN_IF_ERROR(MakeDirs(dir));
  const std::pair<std::string, const std::string*> files[] = {{"lib" + built.name + ".so", &built.library},
                                                              {built.name + ".h", &built.header},
                                                              {built.name + ".params", &built.params},
                                                              {built.name + ".graph.json", &built.graph},
                                                              {"manifest.json", &built.manifest}};
  for (const auto& [name, bytes] : files) {
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(JoinPath(dir, name), *bytes).status());
  }
  // The freshly written pages may lie anywhere; reloaded, the library maps them as huge pages (runtime/net_params.c).
  DropCached(JoinPath(dir, built.name + ".params"));
  return Status();
}

}  // namespace hone::library
