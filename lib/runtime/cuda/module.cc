#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/opened_device.h"

namespace hone::runtime {
namespace {

using Error = CudaDriver::Error;
using Handle = CudaDriver::Handle;

constexpr int64_t kFewLaunches = 4;           // queued one by one, which costs fewer calls than making a graph
constexpr int64_t kMostGraphLaunches = 1024;  // more runs launch a graph several times
constexpr int64_t kMostKeptLaunches = 4096;   // in all graphs of a module: some megabytes of the device's memory

class CudaModule : public DeviceModule {
 public:
  CudaModule(CudaDevice* device, Artifact artifact)
      : device_(device), cuda_(device->cuda()), artifact_(std::move(artifact)) {}
  ~CudaModule() override {
    if (running_) cuda_.cuStreamSynchronize(device_->stream());
    graphs_.clear();
    if (module_) cuda_.cuModuleUnload(module_);
  }

  Status LoadCode() {
    const Error error = cuda_.cuModuleLoadData(&module_, artifact_.bytes.data());
    if (hone_cuda_refuses_code(error)) {
      return Status::Invalid("{} ({}) does not take the cubin: {}", device_->info().name, device_->info().arch,
                             cuda_.ErrorText(error));
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "loading a module"));
    for (const EntryPoint& entry : artifact_.entries) {
      for (const Launch& launch : entry.launches) HONE_RETURN_IF_ERROR(AddFunction(launch));
    }
    HONE_ASSIGN_OR_RETURN(workspaces_, AllocateWorkspaces(artifact_, device_));
    return Status();
  }

  Status Run(const std::string& symbol, const DeviceArguments& arguments) override {
    HONE_ASSIGN_OR_RETURN(const EntryPoint* entry, CheckArguments(artifact_, symbol, arguments));
    const auto& workspaces = workspaces_[symbol];
    running_ = true;
    for (const Launch& launch : entry->launches) {
      std::vector<CudaDriver::Address> addresses;
      for (const DeviceBuffer* b : BuffersOf(launch, arguments, workspaces)) addresses.push_back(AddressOf(*b));
      std::vector<void*> parameters;
      for (CudaDriver::Address& address : addresses) parameters.push_back(&address);
      const auto u = [](int64_t n) { return static_cast<unsigned>(n); };
      const Error error =
          cuda_.cuLaunchKernel(functions_[launch.symbol], u(launch.grid[0]), u(launch.grid[1]), u(launch.grid[2]),
                               u(launch.block[0]), u(launch.block[1]), u(launch.block[2]),
                               u(launch.dynamic_shared_bytes), device_->stream(), parameters.data(), nullptr);
      // These two are about the launch, and nothing has run: the device is well.
      if (error == HONE_CUDA_INVALID_VALUE || error == HONE_CUDA_LAUNCH_OUT_OF_RESOURCES) {
        return Status::Invalid("{}: kernel `{}` cannot be started: {}", device_->info().name, launch.symbol,
                               cuda_.ErrorText(error));
      }
      HONE_RETURN_IF_ERROR(device_->Check(error, "starting a kernel"));
    }
    return Status();
  }

  Result<double> Time(const std::string& symbol, const DeviceRuns& before, const DeviceRuns& runs) override {
    if (kept_launches_ > kMostKeptLaunches) {
      graphs_.clear();
      kept_launches_ = 0;
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<Piece> first, PiecesOf(symbol, before));
    HONE_ASSIGN_OR_RETURN(const std::vector<Piece> timed, PiecesOf(symbol, runs));
    running_ = true;
    HONE_RETURN_IF_ERROR(Queue(first, symbol, before));
    HONE_RETURN_IF_ERROR(Record(device_->start()));
    HONE_RETURN_IF_ERROR(Queue(timed, symbol, runs));
    HONE_RETURN_IF_ERROR(Record(device_->end()));
    HONE_RETURN_IF_ERROR(device_->Check(cuda_.cuEventSynchronize(device_->end()), "waiting for the device"));
    running_ = false;
    float milliseconds = 0;
    HONE_RETURN_IF_ERROR(
        device_->Check(cuda_.cuEventElapsedTime(&milliseconds, device_->start(), device_->end()), "timing"));
    const double seconds = 1e-3 * static_cast<double>(milliseconds), count = static_cast<double>(runs.count);
    device_->AddBusy(seconds * (count + static_cast<double>(before.count)) / count);
    return seconds;
  }

 private:
  Status AddFunction(const Launch& launch) {
    Handle& function = functions_[launch.symbol];
    if (function != nullptr) return Status();
    const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    int most = 0;
    const Error error = hone_cuda_find_kernel(&cuda_, module_, launch.symbol.c_str(), static_cast<uint64_t>(threads),
                                              static_cast<uint64_t>(launch.dynamic_shared_bytes), &function, &most);
    if (error == HONE_CUDA_NOT_FOUND) {
      return Status::Invalid("the module has no kernel `{}`", launch.symbol);
    }
    const int64_t shared = device_->info().limits.shared_bytes_per_block;
    if (launch.shared_bytes > shared) {
      return Status::Invalid("kernel `{}` needs {} bytes of shared memory in a block, the device has {}", launch.symbol,
                             launch.shared_bytes, shared);
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "finding a kernel"));
    return CheckThreads(launch, most);
  }

  // Many launches form one graph: the gaps between them are then the device's own, not the host's.
  struct Graph {
    explicit Graph(const CudaDriver& driver) : cuda(driver) {}
    ~Graph() {
      if (executable) cuda.cuGraphExecDestroy(executable);
      if (captured) cuda.cuGraphDestroy(captured);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    const CudaDriver& cuda;
    Handle captured = nullptr, executable = nullptr;
  };
  // Identifies a graph: the entry point, and the addresses of the arguments of all its runs.
  using GraphKey = std::pair<std::string, std::vector<CudaDriver::Address>>;

  // Some of the runs that are timed together, and their graph. Null: few launches.
  struct Piece {
    int64_t first = 0, count = 0;
    const Graph* graph = nullptr;
  };

  // A piece takes the arguments a whole number of times where it can, so that all but the last are the same graph.
  Result<std::vector<Piece>> PiecesOf(const std::string& symbol, const DeviceRuns& runs) {
    std::vector<Piece> pieces;
    if (runs.count == 0) return pieces;
    HONE_ASSIGN_OR_RETURN(const EntryPoint* entry, CheckArguments(artifact_, symbol, runs[0]));
    const int64_t launches = std::max<int64_t>(std::ssize(entry->launches), 1), lists = std::ssize(runs.arguments);
    int64_t most = std::max<int64_t>(kMostGraphLaunches / launches, 1);
    if (lists < most) most -= most % lists;
    for (int64_t first = 0; first < runs.count; first += most) {
      Piece& piece = pieces.emplace_back(first, std::min(most, runs.count - first));
      if (piece.count * launches <= kFewLaunches) continue;
      HONE_ASSIGN_OR_RETURN(piece.graph, GraphOf(symbol, runs, piece));
    }
    return pieces;
  }

  // Cached because creating a graph takes longer than many samples.
  Result<const Graph*> GraphOf(const std::string& symbol, const DeviceRuns& runs, const Piece& piece) {
    GraphKey key{symbol, {}};
    for (int64_t run = piece.first; run < piece.first + piece.count; ++run) {
      HONE_RETURN_IF_ERROR(CheckArguments(artifact_, symbol, runs[run]).status());
      for (const DeviceBuffer* argument : runs[run]) key.second.push_back(AddressOf(*argument));
    }
    std::unique_ptr<Graph>& kept = graphs_[key];
    if (kept) return kept.get();
    auto graph = std::make_unique<Graph>(cuda_);
    HONE_RETURN_IF_ERROR(MakeGraph(symbol, runs, piece, graph.get()));
    kept = std::move(graph);
    kept_launches_ += piece.count * std::ssize(artifact_.Find(symbol)->launches);
    return kept.get();
  }

  Status MakeGraph(const std::string& symbol, const DeviceRuns& runs, const Piece& piece, Graph* graph) {
    HONE_RETURN_IF_ERROR(device_->Check(
        cuda_.cuStreamBeginCapture_v2(device_->stream(), HONE_CUDA_CAPTURE_THREAD_LOCAL), "making a graph"));
    device_->capturing = true;
    const Status status = RunAll(symbol, runs, piece);
    // Always end the capture: a stream left capturing accepts nothing else.
    const Error error = cuda_.cuStreamEndCapture(device_->stream(), &graph->captured);
    device_->capturing = false;
    if (!status.ok()) {
      (void)device_->Wait().ok();  // finds out whether the device is lost
      return status;
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "making a graph"));
    HONE_RETURN_IF_ERROR(
        device_->Check(cuda_.cuGraphInstantiateWithFlags(&graph->executable, graph->captured, 0), "making a graph"));
    // Otherwise its first launch would upload it, and the timing would include that.
    return device_->Check(cuda_.cuGraphUpload(graph->executable, device_->stream()), "making a graph");
  }

  Status Queue(const std::vector<Piece>& pieces, const std::string& symbol, const DeviceRuns& runs) {
    for (const Piece& piece : pieces) {
      HONE_RETURN_IF_ERROR(
          piece.graph == nullptr
              ? RunAll(symbol, runs, piece)
              : device_->Check(cuda_.cuGraphLaunch(piece.graph->executable, device_->stream()), "starting a graph"));
    }
    return Status();
  }

  Status RunAll(const std::string& symbol, const DeviceRuns& runs, const Piece& piece) {
    for (int64_t run = piece.first; run < piece.first + piece.count; ++run) {
      HONE_RETURN_IF_ERROR(Run(symbol, runs[run]));
    }
    return Status();
  }

  Status Record(Handle event) { return device_->Check(cuda_.cuEventRecord(event, device_->stream()), "timing"); }

  CudaDevice* device_;
  const CudaDriver& cuda_;
  Artifact artifact_;
  Handle module_ = nullptr;
  std::map<std::string, Handle> functions_;
  DeviceWorkspaces workspaces_;
  std::map<GraphKey, std::unique_ptr<Graph>> graphs_;
  int64_t kept_launches_ = 0;  // in all kept graphs
  bool running_ = false;       // launches may be: nobody has waited for them
};

}  // namespace

Result<std::unique_ptr<DeviceModule>> LoadCudaModule(CudaDevice* device, const Artifact& artifact) {
  if (artifact.format != "cubin") {
    return Status::Invalid("CUDA runs artifacts of format cubin, not {}", artifact.format);
  }
  if (artifact.bytes.empty()) return Status::Invalid("the cubin is empty");
  auto module = std::make_unique<CudaModule>(device, artifact);
  HONE_RETURN_IF_ERROR(module->LoadCode());
  return std::unique_ptr<DeviceModule>(std::move(module));
}

}  // namespace hone::runtime
