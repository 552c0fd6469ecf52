#include "runtime/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cuda/driver.h"

namespace hone::runtime {
namespace {

using Error = CudaDriver::Error;
using Handle = CudaDriver::Handle;

// CUdevice_attribute and CUfunction_attribute.
enum DeviceAttribute {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,  // y and z behind it
  kMaxGridX = 5,   // y and z behind it
  kSharedPerBlock = 8,
  kWarpSize = 10,
  kRegistersPerBlock = 12,
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kL2CacheBytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedPerBlockOptIn = 97,
};
constexpr int kFunctionMaxThreads = 0, kFunctionMaxDynamicShared = 8;
constexpr unsigned kNonBlockingStream = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr size_t kMostKeptLaunches = 4096;  // in graphs of a module: some megabytes of the device's memory

// Units for f32 in a multiprocessor, by compute capability: CUDA C++ Programming Guide, "Arithmetic Instructions".
int FloatUnits(int major, int minor) {
  if (major == 7 || (major == 8 && minor == 0) || (major == 6 && minor == 0)) return 64;
  return 128;
}

class CudaBuffer : public DeviceBuffer {
 public:
  CudaBuffer(const CudaDriver& cuda, CudaDriver::Address address, int64_t bytes)
      : DeviceBuffer(bytes), cuda_(cuda), address_(address) {}
  ~CudaBuffer() override { cuda_.cuMemFree_v2(address_); }
  CudaDriver::Address address() const { return address_; }

 private:
  const CudaDriver& cuda_;
  CudaDriver::Address address_;
};

CudaDriver::Address AddressOf(const DeviceBuffer& buffer) { return static_cast<const CudaBuffer&>(buffer).address(); }

Result<DeviceInfo> Describe(const CudaDriver& cuda, const CudaDeviceOptions& options, CudaDriver::Dev* device) {
  int count = 0;
  Error error = cuda.cuDeviceGetCount(&count);
  if (error == CudaDriver::kSuccess && (options.ordinal < 0 || options.ordinal >= count)) {
    return Status::NotFound(fmt::format("no CUDA device {}: there are {}, counted from 0", options.ordinal, count));
  }
  if (error == CudaDriver::kSuccess) error = cuda.cuDeviceGet(device, options.ordinal);
  if (CudaDriver::IsForNow(error)) return Status::Io("no CUDA device now: " + cuda.ErrorText(error));
  if (error != CudaDriver::kSuccess) return Status::NotFound("no CUDA device: " + cuda.ErrorText(error));
  DeviceInfo info;
  char name[256] = "";
  if (cuda.cuDeviceGetName(name, sizeof name, *device) == CudaDriver::kSuccess) info.name = name;
  CudaDriver::Uuid uuid = {};
  if (cuda.cuDeviceGetUuid(&uuid, *device) == CudaDriver::kSuccess) {
    info.identity = UuidText(uuid.bytes);
  }
  info.lock_name = info.identity.empty() ? "cuda" : info.identity;
  int version = 0;
  if (cuda.cuDriverGetVersion(&version) == CudaDriver::kSuccess) {
    info.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  }
  size_t memory = 0;
  if (cuda.cuDeviceTotalMem_v2(&memory, *device) == CudaDriver::kSuccess) {
    info.memory_bytes = static_cast<int64_t>(memory);
  }
  const auto get = [&](int attribute, int64_t otherwise) -> int64_t {
    int value = 0;
    return cuda.cuDeviceGetAttribute(&value, attribute, *device) == CudaDriver::kSuccess && value > 0 ? value
                                                                                                      : otherwise;
  };
  const int major = static_cast<int>(get(kCapabilityMajor, 0)), minor = static_cast<int>(get(kCapabilityMinor, 0));
  info.arch = fmt::format("sm_{}{}", major, minor);
  DeviceLimits& limits = info.limits;
  limits.max_threads_per_block = get(kMaxThreadsPerBlock, limits.max_threads_per_block);
  for (int i = 0; i < 3; ++i) {
    const size_t axis = static_cast<size_t>(i);
    limits.max_block[axis] = get(kMaxBlockX + i, limits.max_block[axis]);
    limits.max_grid[axis] = get(kMaxGridX + i, limits.max_grid[axis]);
  }
  limits.shared_bytes_per_block = get(kSharedPerBlockOptIn, get(kSharedPerBlock, limits.shared_bytes_per_block));
  limits.registers_per_block = get(kRegistersPerBlock, limits.registers_per_block);
  limits.warp_size = get(kWarpSize, limits.warp_size);
  limits.multiprocessors = get(kMultiprocessors, limits.multiprocessors);
  info.cache_bytes = get(kL2CacheBytes, 0);
  const double hertz = 1e3 * static_cast<double>(get(kClockKilohertz, 0));
  info.peak_flops = 2.0 * FloatUnits(major, minor) * static_cast<double>(limits.multiprocessors) * hertz;
  return info;
}

// Errors that no kernel brings about: memory that cannot be corrected, a device that has left the bus or its system.
bool IsDevicesOwn(Error error) {
  switch (error) {
    case HONE_CUDA_DEVICE_UNAVAILABLE:
    case HONE_CUDA_NO_DEVICE:
    case HONE_CUDA_ECC_UNCORRECTABLE:
    case HONE_CUDA_NVLINK_UNCORRECTABLE:
    case HONE_CUDA_SYSTEM_NOT_READY:
      return true;
    default:
      return false;
  }
}

class CudaDevice : public Device {
 public:
  CudaDevice(const CudaDriver& cuda, CudaDriver::Dev device, DeviceInfo info)
      : cuda_(cuda), device_(device), info_(std::move(info)) {}
  ~CudaDevice() override {
    if (begin_) cuda_.cuEventDestroy_v2(begin_);
    if (start_) cuda_.cuEventDestroy_v2(start_);
    if (end_) cuda_.cuEventDestroy_v2(end_);
    if (stream_) cuda_.cuStreamDestroy_v2(stream_);
    if (context_) cuda_.cuDevicePrimaryCtxRelease_v2(device_);
  }

  Status Open() {
    HONE_RETURN_IF_ERROR(Check(cuda_.cuDevicePrimaryCtxRetain(&context_, device_), "making a context"));
    HONE_RETURN_IF_ERROR(Check(cuda_.cuCtxSetCurrent(context_), "making a context current"));
    HONE_RETURN_IF_ERROR(Check(cuda_.cuStreamCreate(&stream_, kNonBlockingStream), "making a stream"));
    HONE_RETURN_IF_ERROR(Check(cuda_.cuEventCreate(&begin_, 0), "making an event"));
    HONE_RETURN_IF_ERROR(Check(cuda_.cuEventCreate(&start_, 0), "making an event"));
    return Check(cuda_.cuEventCreate(&end_, 0), "making an event");
  }

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<DeviceBuffer>> Allocate(int64_t bytes) override {
    CudaDriver::Address address = 0;
    const Error error = cuda_.cuMemAlloc_v2(&address, static_cast<size_t>(std::max<int64_t>(bytes, 16)));
    if (error == CudaDriver::kOutOfMemory) {
      size_t free = 0, total = 0;
      cuda_.cuMemGetInfo_v2(&free, &total);
      return Status::Io(
          fmt::format("{}: out of memory: {} bytes asked for, {} of {} are free", info_.name, bytes, free, total));
    }
    HONE_RETURN_IF_ERROR(Check(error, "allocating memory"));
    return std::unique_ptr<DeviceBuffer>(std::make_unique<CudaBuffer>(cuda_, address, bytes));
  }

  Status CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) override {
    if (bytes > 0) {
      HONE_RETURN_IF_ERROR(Check(cuda_.cuMemcpyHtoDAsync_v2(AddressOf(*to), from, static_cast<size_t>(bytes), stream_),
                                 "copying to the device"));
    }
    return Wait();
  }
  Status CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) override {
    if (bytes > 0) {
      HONE_RETURN_IF_ERROR(Check(cuda_.cuMemcpyDtoHAsync_v2(to, AddressOf(from), static_cast<size_t>(bytes), stream_),
                                 "copying from the device"));
    }
    return Wait();
  }
  Status Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) override {
    if (bytes <= 0) return Status();
    return Check(cuda_.cuMemcpyDtoDAsync_v2(AddressOf(*to), AddressOf(from), static_cast<size_t>(bytes), stream_),
                 "copying on the device");
  }
  Status Wait() override { return Check(cuda_.cuStreamSynchronize(stream_), "waiting for the device"); }

  Result<std::unique_ptr<DeviceModule>> Load(const Artifact& artifact) override;

  // A failure that the context does not recover from shows again at the next wait, whatever its number is.
  Status Check(Error error, const char* what) {
    if (error == CudaDriver::kSuccess) return Status();
    if (!lost_ && !capturing && (context_ == nullptr || cuda_.cuCtxSynchronize() != CudaDriver::kSuccess)) {
      lost_ = true;
      broken_ = IsDevicesOwn(error);
    }
    return Status::Io(fmt::format("{}: {} failed: {}", info_.name, what, cuda_.ErrorText(error)));
  }

  bool capturing = false;  // waiting is not allowed, and so says nothing about the context

  void AddBusy(double seconds) { busy_seconds_ += seconds; }

  const CudaDriver& cuda() const { return cuda_; }
  Handle stream() const { return stream_; }
  Handle begin() const { return begin_; }
  Handle start() const { return start_; }
  Handle end() const { return end_; }

 private:
  const CudaDriver& cuda_;
  CudaDriver::Dev device_;
  DeviceInfo info_;
  Handle context_ = nullptr, stream_ = nullptr;
  Handle begin_ = nullptr, start_ = nullptr, end_ = nullptr;  // events
};

class CudaModule : public DeviceModule {
 public:
  CudaModule(CudaDevice* device, Artifact artifact)
      : device_(device), cuda_(device->cuda()), artifact_(std::move(artifact)) {}
  ~CudaModule() override {
    cuda_.cuStreamSynchronize(device_->stream());  // nothing of it may be running
    graphs_.clear();
    if (module_) cuda_.cuModuleUnload(module_);
  }

  Status LoadCode() {
    const Error error = cuda_.cuModuleLoadData(&module_, artifact_.bytes.data());
    if (error == CudaDriver::kNoBinaryForGpu || error == CudaDriver::kInvalidImage ||
        error == CudaDriver::kInvalidPtx) {
      return Status::Invalid(fmt::format("{} ({}) does not take the cubin: {}", device_->info().name,
                                         device_->info().arch, cuda_.ErrorText(error)));
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
    for (const Launch& launch : entry->launches) {
      std::vector<CudaDriver::Address> addresses;
      for (const int arg : launch.args) {
        addresses.push_back(
            AddressOf(arg >= 0 ? *arguments[static_cast<size_t>(arg)] : *workspaces[static_cast<size_t>(~arg)]));
      }
      std::vector<void*> parameters;
      for (CudaDriver::Address& address : addresses) parameters.push_back(&address);
      const auto u = [](int64_t n) { return static_cast<unsigned>(n); };
      const Error error =
          cuda_.cuLaunchKernel(functions_[launch.symbol], u(launch.grid[0]), u(launch.grid[1]), u(launch.grid[2]),
                               u(launch.block[0]), u(launch.block[1]), u(launch.block[2]),
                               u(launch.dynamic_shared_bytes), device_->stream(), parameters.data(), nullptr);
      HONE_RETURN_IF_ERROR(device_->Check(error, "starting a kernel"));
    }
    return Status();
  }

  Result<double> Time(const std::string& symbol, const std::vector<DeviceArguments>& before,
                      const std::vector<DeviceArguments>& runs) override {
    HONE_RETURN_IF_ERROR(device_->Wait());
    if (kept_launches_ > kMostKeptLaunches) {
      graphs_.clear();
      kept_launches_ = 0;
    }
    HONE_ASSIGN_OR_RETURN(const Graph* first, GraphOf(symbol, before));
    HONE_ASSIGN_OR_RETURN(const Graph* timed, GraphOf(symbol, runs));
    if (!before.empty()) {
      HONE_RETURN_IF_ERROR(Record(device_->begin()));
      HONE_RETURN_IF_ERROR(Queue(first, symbol, before));
    }
    HONE_RETURN_IF_ERROR(Record(device_->start()));
    HONE_RETURN_IF_ERROR(Queue(timed, symbol, runs));
    HONE_RETURN_IF_ERROR(Record(device_->end()));
    HONE_RETURN_IF_ERROR(device_->Check(cuda_.cuEventSynchronize(device_->end()), "waiting for the device"));
    HONE_ASSIGN_OR_RETURN(const double seconds, SecondsBetween(device_->start(), device_->end()));
    double all = seconds;
    if (!before.empty()) {
      HONE_ASSIGN_OR_RETURN(all, SecondsBetween(device_->begin(), device_->end()));
    }
    device_->AddBusy(all);
    return seconds;
  }

 private:
  Status AddFunction(const Launch& launch) {
    Handle& function = functions_[launch.symbol];
    if (function != nullptr) return Status();
    const Error error = cuda_.cuModuleGetFunction(&function, module_, launch.symbol.c_str());
    if (error == CudaDriver::kNotFound) {
      return Status::Invalid(fmt::format("the module has no kernel `{}`", launch.symbol));
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "finding a kernel"));
    int most = 0;
    HONE_RETURN_IF_ERROR(device_->Check(cuda_.cuFuncGetAttribute(&most, kFunctionMaxThreads, function), "a kernel"));
    const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (threads > most) {
      return Status::Invalid(fmt::format("kernel `{}` has {} threads in a block, the device runs at most {} of it",
                                         launch.symbol, threads, most));
    }
    const int64_t shared = device_->info().limits.shared_bytes_per_block;
    if (launch.shared_bytes > shared) {
      return Status::Invalid(fmt::format("kernel `{}` needs {} bytes of shared memory in a block, the device has {}",
                                         launch.symbol, launch.shared_bytes, shared));
    }
    if (launch.dynamic_shared_bytes == 0) return Status();
    return device_->Check(
        cuda_.cuFuncSetAttribute(function, kFunctionMaxDynamicShared, static_cast<int>(launch.dynamic_shared_bytes)),
        "asking for shared memory");
  }

  // Several launches are one graph: the time between them is then the device's own, and not how fast we can say them.
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
  // What a graph does: the entry point, and the addresses of the arguments of all its runs.
  using GraphKey = std::pair<std::string, std::vector<CudaDriver::Address>>;

  // The graph of these runs, made now or earlier: to make one takes longer than many samples do. Null: a single launch.
  Result<Graph*> GraphOf(const std::string& symbol, const std::vector<DeviceArguments>& runs) {
    const EntryPoint* entry = artifact_.Find(symbol);
    const size_t launches = entry == nullptr ? 0 : entry->launches.size() * runs.size();
    if (launches <= 1) return static_cast<Graph*>(nullptr);
    GraphKey key{symbol, {}};
    for (const DeviceArguments& arguments : runs) {
      HONE_RETURN_IF_ERROR(CheckArguments(artifact_, symbol, arguments).status());
      for (const DeviceBuffer* argument : arguments) key.second.push_back(AddressOf(*argument));
    }
    std::unique_ptr<Graph>& kept = graphs_[key];
    if (kept) return kept.get();
    auto graph = std::make_unique<Graph>(cuda_);
    HONE_RETURN_IF_ERROR(MakeGraph(symbol, runs, graph.get()));
    kept = std::move(graph);
    kept_launches_ += launches;
    return kept.get();
  }

  Status MakeGraph(const std::string& symbol, const std::vector<DeviceArguments>& runs, Graph* graph) {
    HONE_RETURN_IF_ERROR(
        device_->Check(cuda_.cuStreamBeginCapture_v2(device_->stream(), kCaptureThreadLocal), "making a graph"));
    device_->capturing = true;
    const Status status = RunAll(symbol, runs);
    // Ended in any case: a stream left capturing takes nothing else.
    const Error error = cuda_.cuStreamEndCapture(device_->stream(), &graph->captured);
    device_->capturing = false;
    if (!status.ok()) {
      (void)device_->Wait().ok();  // it finds out whether more than this is lost
      return status;
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "making a graph"));
    HONE_RETURN_IF_ERROR(
        device_->Check(cuda_.cuGraphInstantiateWithFlags(&graph->executable, graph->captured, 0), "making a graph"));
    // Else its first start would do that, and be timed with it.
    return device_->Check(cuda_.cuGraphUpload(graph->executable, device_->stream()), "making a graph");
  }

  Status Queue(const Graph* graph, const std::string& symbol, const std::vector<DeviceArguments>& runs) {
    if (graph == nullptr) return RunAll(symbol, runs);
    return device_->Check(cuda_.cuGraphLaunch(graph->executable, device_->stream()), "starting a graph");
  }

  Status RunAll(const std::string& symbol, const std::vector<DeviceArguments>& runs) {
    for (const DeviceArguments& arguments : runs) HONE_RETURN_IF_ERROR(Run(symbol, arguments));
    return Status();
  }

  Status Record(Handle event) { return device_->Check(cuda_.cuEventRecord(event, device_->stream()), "timing"); }

  Result<double> SecondsBetween(Handle from, Handle to) {
    float milliseconds = 0;
    HONE_RETURN_IF_ERROR(device_->Check(cuda_.cuEventElapsedTime(&milliseconds, from, to), "timing"));
    return 1e-3 * static_cast<double>(milliseconds);
  }

  CudaDevice* device_;
  const CudaDriver& cuda_;
  Artifact artifact_;
  Handle module_ = nullptr;
  std::map<std::string, Handle> functions_;
  DeviceWorkspaces workspaces_;
  std::map<GraphKey, std::unique_ptr<Graph>> graphs_;
  size_t kept_launches_ = 0;  // in all of them
};

Result<std::unique_ptr<DeviceModule>> CudaDevice::Load(const Artifact& artifact) {
  if (artifact.format != "cubin") {
    return Status::Invalid(fmt::format("CUDA runs artifacts of format cubin, not {}", artifact.format));
  }
  if (artifact.bytes.empty()) return Status::Invalid("the cubin is empty");
  auto module = std::make_unique<CudaModule>(this, artifact);
  HONE_RETURN_IF_ERROR(module->LoadCode());
  return std::unique_ptr<DeviceModule>(std::move(module));
}

}  // namespace

Result<std::unique_ptr<Device>> OpenCudaDevice(const CudaDeviceOptions& options) {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* cuda, CudaDriver::Load(options.library));
  CudaDriver::Dev id = 0;
  HONE_ASSIGN_OR_RETURN(DeviceInfo info, Describe(*cuda, options, &id));
  auto device = std::make_unique<CudaDevice>(*cuda, id, std::move(info));
  HONE_RETURN_IF_ERROR(device->Open());
  return std::unique_ptr<Device>(std::move(device));
}

Result<DeviceInfo> DescribeCudaDevice(const CudaDeviceOptions& options) {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* cuda, CudaDriver::Load(options.library));
  CudaDriver::Dev id = 0;
  return Describe(*cuda, options, &id);
}

}  // namespace hone::runtime
