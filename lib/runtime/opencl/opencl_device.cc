#include "runtime/opencl/opencl_device.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "base/text.h"
#include "runtime/opencl/api.h"

namespace hone::runtime {
namespace {

struct Found {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
};

// A text property of `object` by `get` (clGetDeviceInfo or clGetPlatformInfo); empty if it is not available.
template <typename Get, typename Object>
std::string InfoText(const Get& get, Object object, cl_uint what) {
  size_t size = 0;
  if (get(object, what, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (get(object, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return std::string(Trim(text.c_str()));  // without the final 0
}

template <typename T>
T DeviceValue(const OpenClApi& cl, cl_device_id device, cl_device_info what, T otherwise) {
  T value = otherwise;
  return cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

template <typename T>
int64_t DeviceNumber(const OpenClApi& cl, cl_device_id device, cl_device_info what, T otherwise) {
  return static_cast<int64_t>(DeviceValue<T>(cl, device, what, otherwise));
}

Result<Found> FindDevice(const OpenClApi& cl) {
  Found found;
  if (hone_opencl_find(&cl, 0, &found.platform, &found.device) > 0) return found;
  cl_uint count = 0;
  const cl_int error = cl.clGetPlatformIDs(0, nullptr, &count);
  return Status::NotFound(
      "no OpenCL device: found {} platforms without one{}; install an OpenCL driver for the GPU, or the package "
      "pocl-opencl-icd to run on the CPU",
      error == CL_SUCCESS ? count : 0, error == CL_SUCCESS ? "" : " (" + OpenClErrorText(error) + ")");
}

// Device properties of extensions (cl_khr_device_uuid, cl_khr_pci_bus_info, cl_nv_device_attribute_query), whose
// numbers older headers do not name. The UUID equals that of CUDA for the same GPU.
constexpr cl_device_info kUuid = 0x106A, kPciBus = 0x410F, kNvPciBus = 0x4008, kNvPciSlot = 0x4009;

// Empty if unknown.
std::string BusText(const OpenClApi& cl, cl_device_id device) {
  cl_uint pci[4] = {};  // domain, bus, device, function
  if (cl.clGetDeviceInfo(device, kPciBus, sizeof pci, pci, nullptr) == CL_SUCCESS) {
    return fmt::format("{:04x}.{:02x}.{:02x}.{:x}", pci[0], pci[1], pci[2], pci[3]);
  }
  const cl_uint bus = DeviceValue<cl_uint>(cl, device, kNvPciBus, ~0U);
  if (bus == ~0U) return "";
  const cl_uint slot = DeviceValue<cl_uint>(cl, device, kNvPciSlot, 0);
  return fmt::format("{:02x}.{:02x}.{:x}", bus, slot >> 3, slot & 7);
}

std::string LockName(const OpenClApi& cl, cl_device_id device, const std::string& name) {
  const auto type = DeviceValue<cl_device_type>(cl, device, CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU);
  if ((type & CL_DEVICE_TYPE_CPU) || DeviceValue<cl_bool>(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE)) {
    return "cpu";
  }
  unsigned char uuid[16] = {};
  if (cl.clGetDeviceInfo(device, kUuid, sizeof uuid, uuid, nullptr) == CL_SUCCESS &&
      std::any_of(std::begin(uuid), std::end(uuid), [](unsigned char byte) { return byte != 0; })) {
    return UuidText(uuid);
  }
  std::string text = "opencl-" + name;
  const std::string bus = BusText(cl, device);
  if (!bus.empty()) text += "-" + bus;
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return text;
}

DeviceInfo Describe(const OpenClApi& cl, const Found& found) {
  DeviceInfo info{.name = InfoText(cl.clGetDeviceInfo, found.device, CL_DEVICE_NAME)};
  info.lock_name = LockName(cl, found.device, info.name);
  info.identity = InfoText(cl.clGetPlatformInfo, found.platform, CL_PLATFORM_NAME);
  info.driver = InfoText(cl.clGetDeviceInfo, found.device, CL_DRIVER_VERSION);
  info.alignment = std::max<cl_uint>(DeviceNumber<cl_uint>(cl, found.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 32768) / 8,
                                     1);  // was in bits
  info.memory_bytes = DeviceNumber<cl_ulong>(cl, found.device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
  if (info.lock_name != "cpu") {
    info.cache_bytes = DeviceNumber<cl_ulong>(cl, found.device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0);
  }
  DeviceLimits& limits = info.limits;
  limits.max_threads_per_block = DeviceNumber<size_t>(cl, found.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
  size_t sizes[8] = {1, 1, 1};
  if (cl.clGetDeviceInfo(found.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, nullptr) == CL_SUCCESS) {
    for (size_t i = 0; i < 3; ++i) limits.max_block[i] = static_cast<int64_t>(sizes[i]);
  }
  limits.shared_bytes_per_block = DeviceNumber<cl_ulong>(cl, found.device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
  limits.multiprocessors = DeviceNumber<cl_uint>(cl, found.device, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
  return info;
}

class OpenClBuffer : public DeviceBuffer {
 public:
  OpenClBuffer(const OpenClApi& cl, cl_mem memory, int64_t bytes) : DeviceBuffer(bytes), cl_(cl), memory_(memory) {}
  ~OpenClBuffer() override { cl_.clReleaseMemObject(memory_); }
  const cl_mem& memory() const { return memory_; }

 private:
  const OpenClApi& cl_;
  cl_mem memory_;
};

cl_mem MemoryOf(const DeviceBuffer& buffer) { return static_cast<const OpenClBuffer&>(buffer).memory(); }

class OpenClDevice : public Device {
 public:
  OpenClDevice(const OpenClApi& cl, const Found& found, bool optimise)
      : cl_(cl), found_(found), info_(Describe(cl, found)), optimise_(optimise) {}
  ~OpenClDevice() override {
    if (queue_) cl_.clReleaseCommandQueue(queue_);
    if (context_) cl_.clReleaseContext(context_);
  }

  Status Open() {
    cl_int error = CL_SUCCESS;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(found_.platform), 0};
    context_ = cl_.clCreateContext(properties, 1, &found_.device, nullptr, nullptr, &error);
    HONE_RETURN_IF_ERROR(Check(error, "making a context"));
    queue_ = cl_.clCreateCommandQueue(context_, found_.device, CL_QUEUE_PROFILING_ENABLE, &error);
    return Check(error, "making a queue");
  }

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<DeviceBuffer>> Allocate(int64_t bytes) override {
    cl_int error = CL_SUCCESS;
    cl_mem memory = cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE, static_cast<size_t>(std::max<int64_t>(bytes, 16)),
                                       nullptr, &error);
    if (hone_opencl_is_memory(error)) {
      return Status::Io("{}: out of memory: {} bytes asked for, the device has {} in all ({})", info_.name, bytes,
                        info_.memory_bytes, OpenClErrorText(error));
    }
    HONE_RETURN_IF_ERROR(Check(error, "allocating memory"));
    return std::unique_ptr<DeviceBuffer>(std::make_unique<OpenClBuffer>(cl_, memory, bytes));
  }

  Result<std::unique_ptr<DeviceBuffer>> Part(const DeviceBuffer& whole, int64_t first, int64_t bytes) override {
    const cl_buffer_region region = {static_cast<size_t>(first), static_cast<size_t>(bytes)};
    cl_int error = CL_SUCCESS;
    const cl_mem memory =
        cl_.clCreateSubBuffer(MemoryOf(whole), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    HONE_RETURN_IF_ERROR(Check(error, "dividing memory"));
    return std::unique_ptr<DeviceBuffer>(std::make_unique<OpenClBuffer>(cl_, memory, bytes));
  }

  Status CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) override {
    if (bytes <= 0) return Wait();
    return Check(cl_.clEnqueueWriteBuffer(queue_, MemoryOf(*to), CL_TRUE, 0, static_cast<size_t>(bytes), from, 0,
                                          nullptr, nullptr),
                 "copying to the device");
  }
  Status CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) override {
    if (bytes <= 0) return Wait();
    return Check(cl_.clEnqueueReadBuffer(queue_, MemoryOf(from), CL_TRUE, 0, static_cast<size_t>(bytes), to, 0, nullptr,
                                         nullptr),
                 "copying from the device");
  }
  Status Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) override {
    if (bytes <= 0) return Status();
    return Check(cl_.clEnqueueCopyBuffer(queue_, MemoryOf(from), MemoryOf(*to), 0, 0, static_cast<size_t>(bytes), 0,
                                         nullptr, nullptr),
                 "copying on the device");
  }
  Status Wait() override { return Check(cl_.clFinish(queue_), "waiting for the device"); }

  Result<std::unique_ptr<DeviceModule>> Load(const Artifact& artifact) override;

  Status Check(cl_int error, const char* what) {
    if (error == CL_SUCCESS) return Status();
    lost_ = lost_ || hone_opencl_is_fatal(error);
    return Status::Io("{}: {} failed: {}", info_.name, what, OpenClErrorText(error));
  }

  const OpenClApi& cl() const { return cl_; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  cl_device_id id() const { return found_.device; }
  bool optimise() const { return optimise_; }

 private:
  const OpenClApi& cl_;
  Found found_;
  DeviceInfo info_;
  bool optimise_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
};

class OpenClModule : public DeviceModule {
 public:
  OpenClModule(OpenClDevice* device, Artifact artifact)
      : device_(device), cl_(device->cl()), artifact_(std::move(artifact)) {}
  ~OpenClModule() override {
    (void)device_->Wait().ok();  // no launch may be running
    for (auto& [symbol, kernel] : kernels_) cl_.clReleaseKernel(kernel);
    if (program_) cl_.clReleaseProgram(program_);
  }

  Status Build() {
    const char* text = artifact_.bytes.data();
    const size_t size = artifact_.bytes.size();
    cl_int error = CL_SUCCESS;
    program_ = cl_.clCreateProgramWithSource(device_->context(), 1, &text, &size, &error);
    HONE_RETURN_IF_ERROR(device_->Check(error, "making a program"));
    const cl_device_id id = device_->id();
    std::string options = hone_opencl_options(&cl_, id);
    if (!device_->optimise()) options += " -cl-opt-disable";
    error = cl_.clBuildProgram(program_, 1, &id, options.c_str(), nullptr, nullptr);
    if (error == CL_BUILD_PROGRAM_FAILURE) {
      char line[1024];
      hone_opencl_build_error(&cl_, program_, id, line, sizeof line);
      return Status::Invalid(std::string("the OpenCL compiler rejects the code: ") + line);
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "compiling"));
    for (const EntryPoint& entry : artifact_.entries) {
      for (const Launch& launch : entry.launches) HONE_RETURN_IF_ERROR(AddKernel(launch));
    }
    HONE_ASSIGN_OR_RETURN(workspaces_, AllocateWorkspaces(artifact_, device_));
    return Status();
  }

  Status Run(const std::string& symbol, const DeviceArguments& arguments) override {
    return Enqueue(symbol, arguments, nullptr);
  }

  Result<double> Time(const std::string& symbol, const DeviceRuns&, const DeviceRuns& runs) override {
    std::vector<cl_event> events;  // of the first run and the last
    Status status = device_->Wait();
    for (int64_t run = 0; run < runs.count && status.ok(); ++run) {
      status = Enqueue(symbol, runs[run], run == 0 || run + 1 == runs.count ? &events : nullptr);
    }
    if (status.ok()) status = device_->Wait();
    double seconds = 0;
    if (status.ok() && !events.empty()) {
      status = device_->Check(hone_opencl_seconds(&cl_, events.front(), events.back(), &seconds), "reading the times");
    }
    for (cl_event event : events) cl_.clReleaseEvent(event);
    if (!status.ok()) return status;
    device_->AddBusy(seconds);
    return seconds;
  }

 private:
  Status AddKernel(const Launch& launch) {
    if (kernels_.count(launch.symbol)) return Status();
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = cl_.clCreateKernel(program_, launch.symbol.c_str(), &error);
    if (error == CL_INVALID_KERNEL_NAME) {
      return Status::Invalid("the program has no kernel `{}`", launch.symbol);
    }
    HONE_RETURN_IF_ERROR(device_->Check(error, "making a kernel"));
    kernels_[launch.symbol] = kernel;
    size_t most = 0;
    error = cl_.clGetKernelWorkGroupInfo(kernel, device_->id(), CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
    HONE_RETURN_IF_ERROR(device_->Check(error, "asking about a kernel"));
    return CheckThreads(launch, static_cast<int64_t>(most));
  }

  // Appends one event for each launch to `events`, if given.
  Status Enqueue(const std::string& symbol, const DeviceArguments& arguments, std::vector<cl_event>* events) {
    HONE_ASSIGN_OR_RETURN(const EntryPoint* entry, CheckArguments(artifact_, symbol, arguments));
    const auto& workspaces = workspaces_[symbol];
    for (const Launch& launch : entry->launches) {
      cl_kernel kernel = kernels_[launch.symbol];
      cl_uint next = 0;
      for (const DeviceBuffer* buffer : BuffersOf(launch, arguments, workspaces)) {
        const cl_mem memory = MemoryOf(*buffer);
        HONE_RETURN_IF_ERROR(
            device_->Check(cl_.clSetKernelArg(kernel, next++, sizeof(cl_mem), static_cast<const void*>(&memory)),
                           "passing an argument"));
      }
      size_t global[3], local[3];
      for (int i = 0; i < 3; ++i) {
        local[i] = static_cast<size_t>(launch.block[i]);
        global[i] = static_cast<size_t>(launch.block[i] * launch.grid[i]);
      }
      cl_event event = nullptr;
      HONE_RETURN_IF_ERROR(device_->Check(cl_.clEnqueueNDRangeKernel(device_->queue(), kernel, 3, nullptr, global,
                                                                     local, 0, nullptr, events ? &event : nullptr),
                                          "starting a kernel"));
      if (events) events->push_back(event);
    }
    return Status();
  }

  OpenClDevice* device_;
  const OpenClApi& cl_;
  Artifact artifact_;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  DeviceWorkspaces workspaces_;
};

Result<std::unique_ptr<DeviceModule>> OpenClDevice::Load(const Artifact& artifact) {
  if (artifact.format != "opencl-c") {
    return Status::Invalid("OpenCL runs artifacts of format opencl-c, not {}", artifact.format);
  }
  auto module = std::make_unique<OpenClModule>(this, artifact);
  HONE_RETURN_IF_ERROR(module->Build());
  return std::unique_ptr<DeviceModule>(std::move(module));
}

}  // namespace

Result<std::unique_ptr<Device>> OpenOpenClDevice(const OpenClOptions& options) {
  HONE_ASSIGN_OR_RETURN(const OpenClApi* cl, OpenClApi::Load(options.library));
  HONE_ASSIGN_OR_RETURN(const Found found, FindDevice(*cl));
  auto device = std::make_unique<OpenClDevice>(*cl, found, options.optimise);
  HONE_RETURN_IF_ERROR(device->Open());
  return std::unique_ptr<Device>(std::move(device));
}

Result<DeviceInfo> DescribeOpenClDevice(const OpenClOptions& options) {
  HONE_ASSIGN_OR_RETURN(const OpenClApi* cl, OpenClApi::Load(options.library));
  HONE_ASSIGN_OR_RETURN(const Found found, FindDevice(*cl));
  return Describe(*cl, found);
}

}  // namespace hone::runtime
