// A driver without a device: memory is the host's, kernels are a callback, every handle is checked, and any call fails
// on demand. Its functions have the driver API's signatures, deliberately written down a second time.
// fake_streams.h has the order of the work.
#include "fake_cuda.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fake_devices.h"
#include "fake_streams.h"

namespace {

struct Function {
  std::string symbol;
  int dynamic_shared = 49152;
};
struct Recorded {
  Function* function;
  unsigned grid[3], block[3];
  std::vector<void*> addresses;
};
struct Event {
  bool recorded = false, timed = true;
  Moment at;
};
struct Capture {
  std::thread::id by;
  std::vector<Recorded> launches;
};

struct Fake {
  FakeLaunch on_launch = nullptr;
  std::map<uintptr_t, size_t> memory;
  std::set<void*> modules, graphs, executables;
  FakeStreams streams;
  std::map<void*, Event> events;
  std::map<void*, Function> functions;
  std::map<void*, std::vector<Recorded>> content;  // of graphs
  std::map<void*, Capture> captures;               // of streams
  std::map<std::string, int> calls;
  int contexts = 0, captured = 0, largest_graph = 0;
  bool initialised = false;
  std::string fail_function;
  int fail_error = 0, fail_skip = 0;
  bool fail_sticky = false;
  int stuck = 0;
  float elapsed = 2.5f;
  std::string complaint;
  uintptr_t next_handle = 0x1000;
};

Fake fake;
std::recursive_mutex mutex;
thread_local std::vector<void*> contexts;  // the last is current

bool CapturingHere() {
  for (const auto& [stream, capture] : fake.captures) {
    if (capture.by == std::this_thread::get_id()) return true;
  }
  return false;
}

// A kernel's image does not contain its parameters: the test's kernels have as many as the last digit of their symbol.
size_t ParameterCount(const std::string& symbol) { return static_cast<size_t>(symbol.back() - '0'); }

void* NewHandle() { return reinterpret_cast<void*>(fake.next_handle += 16); }

int Complain(const std::string& what) {
  if (fake.complaint.empty()) fake.complaint = what;
  return 1;
}

// The error that the call must return; 0 for success. After a fault that stays, no work is done any more.
int Enter(const char* function) {
  ++fake.calls[function];
  if (fake.stuck) return fake.stuck;
  if (fake.fail_function == function && fake.fail_skip-- == 0) {
    if (fake.fail_sticky) {
      fake.stuck = fake.fail_error;
      fake.streams.DropAll();
    } else {
      fake.streams.FinishAll();
    }
    fake.fail_function.clear();
    return fake.fail_error;
  }
  return 0;
}

#define LOCK() std::lock_guard<std::recursive_mutex> guard(mutex)
#define ENTER()                                              \
  LOCK();                                                    \
  do {                                                       \
    if (int error = Enter(__func__)) return error;           \
    if (!fake.initialised) return Complain("before cuInit"); \
  } while (0)
#define NEEDS_CONTEXT() \
  if (contexts.empty()) return Complain(std::string(__func__) + " without a current context")

bool Inside(uint64_t address, size_t bytes) {
  auto it = fake.memory.upper_bound(static_cast<uintptr_t>(address));
  if (it == fake.memory.begin()) return false;
  --it;
  return address + bytes <= it->first + it->second;
}

void Perform(const Recorded& r) {
  if (fake.on_launch) fake.on_launch(r.function->symbol.c_str(), r.addresses.data(), r.grid, r.block);
}

// Takes a handle back, also where the device is lost.
template <typename Handles>
int Release(const char* function, Handles* handles, void* handle) {
  LOCK();
  ++fake.calls[function];
  return handles->erase(handle) ? fake.stuck : Complain(std::string(function) + " of what is not there");
}

}  // namespace

extern "C" {

void fake_cuda_reset(FakeLaunch on_launch) {
  for (auto& [address, size] : fake.memory) free(reinterpret_cast<void*>(address));
  fake = Fake();
  fake.on_launch = on_launch;
  fake.initialised = true;  // once per process, which outlives a test
  contexts.clear();
}
void fake_cuda_fail(const char* function, int error, int skip, int sticky) {
  fake.fail_function = function;
  fake.fail_error = error;
  fake.fail_skip = skip;
  fake.fail_sticky = sticky != 0;
}
void fake_cuda_hurry(void* stream) { fake.streams.all[stream].hurried = true; }
void fake_cuda_elapse(float milliseconds) { fake.elapsed = milliseconds; }
const char* fake_cuda_complaint(void) { return fake.complaint.c_str(); }
int fake_cuda_alive(void) {
  return fake.contexts + static_cast<int>(fake.memory.size() + fake.modules.size() + fake.streams.all.size() -
                                          fake.streams.all.count(FakeStreams::kLegacy) + fake.graphs.size() +
                                          fake.executables.size() + fake.events.size());
}
int fake_cuda_calls(const char* function) {
  if (function) return fake.calls[function];
  int all = 0;
  for (const auto& [name, calls] : fake.calls) all += calls;
  return all;
}
size_t fake_cuda_largest(void) {
  size_t most = 0;
  for (const auto& [address, size] : fake.memory) most = std::max(most, size);
  return most;
}
int fake_cuda_captured(void) { return fake.captured; }
int fake_cuda_largest_graph(void) { return fake.largest_graph; }
void fake_cuda_spoil(void) {
  for (const auto& [address, size] : fake.memory) memset(reinterpret_cast<void*>(address), 0x5a, size);
}
int fake_cuda_contexts(void) { return static_cast<int>(contexts.size()); }

int cuInit(unsigned flags) {
  if (flags != 0) return Complain("cuInit: flags");
  fake.initialised = true;
  return 0;
}
int cuDriverGetVersion(int* version) {
  const char* text = getenv("FAKE_CUDA_VERSION");
  *version = text != nullptr ? atoi(text) : 12040;
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  static const std::map<int, const char*> names = {
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},       {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"}, {100, "CUDA_ERROR_NO_DEVICE"},
      {214, "CUDA_ERROR_ECC_UNCORRECTABLE"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},   {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto it = names.find(error);
  *name = it == names.end() ? "CUDA_ERROR_FAKE" : it->second;
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as asked";
  return 0;
}
int cuDeviceGetCount(int* count) {
  ENTER();
  *count = static_cast<int>(VisibleDevices().size());
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  ENTER();
  const std::vector<int> devices = VisibleDevices();
  if (ordinal < 0 || ordinal >= static_cast<int>(devices.size())) return 101;
  *device = devices[static_cast<size_t>(ordinal)];
  return 0;
}
int cuDeviceGetName(char* name, int size, int device) {
  ENTER();
  if (device < kFirstDevice) return Complain("not a device");
  strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return 0;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  ENTER();
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i * 16 + 1);
  // The first four bytes are a number, so that a test's locks differ from those of a test running at the same time.
  if (const char* text = getenv("FAKE_CUDA_MACHINE")) {
    const unsigned long machine = strtoul(text, nullptr, 10);
    for (int i = 0; i < 4; ++i) uuid[i] = static_cast<unsigned char>(machine >> (24 - 8 * i));
  }
  uuid[15] = static_cast<unsigned char>(uuid[15] + device - kFirstDevice);
  return 0;
}
// With FAKE_CUDA_MIG, every device is a slice of its GPU with that number.
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  ENTER();
  if (int error = cuDeviceGetUuid(uuid, device)) return error;
  if (const char* text = getenv("FAKE_CUDA_MIG")) uuid[0] = static_cast<unsigned char>(0xf0 + atoi(text));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  ENTER();
  const char* cache = getenv("FAKE_CUDA_L2");
  const std::map<int, int> values = {
      {1, 1024},       {2, 1024},   {3, 1024},     {4, 64},
      {5, 2147483647}, {6, 65535},  {7, 65535},    {8, 49152},
      {10, 32},        {12, 65536}, {13, 1500000}, {16, 80},
      {75, 9},         {76, 0},     {97, 232448},  {38, cache != nullptr ? atoi(cache) : 1024}};
  auto it = values.find(attribute);
  if (it == values.end()) return Complain("unknown attribute " + std::to_string(attribute));
  *value = it->second;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  ENTER();
  *bytes = size_t{1} << 34;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  ENTER();
  ++fake.contexts;
  *context = &fake;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  LOCK();
  ++fake.calls[__func__];
  if (fake.contexts == 0) return Complain("released more often than retained");
  if (--fake.contexts == 0 && fake.initialised) contexts.clear();
  return 0;
}
int cuCtxSetCurrent(void* context) {
  ENTER();
  if (context != &fake) return Complain("not a context");
  contexts.assign(1, context);
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  ENTER();
  if (context != &fake || fake.contexts == 0) return Complain("not a context");
  contexts.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  LOCK();
  ++fake.calls[__func__];
  if (contexts.empty()) return Complain("popped more often than pushed");
  *context = contexts.back();
  contexts.pop_back();
  return 0;
}
int cuCtxSynchronize(void) {
  ENTER();
  if (CapturingHere()) return Complain("synchronized while capturing");
  if (!fake.captures.empty()) return 900;  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  fake.streams.FinishAll();
  return 0;
}
int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  ENTER();
  *free_bytes = 1000;
  *total = size_t{1} << 34;
  return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  ENTER();
  NEEDS_CONTEXT();
  if (bytes == 0) return Complain("cuMemAlloc of 0 bytes");
  if (bytes > (size_t{1} << 32)) return 2;
  void* memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xa5, bytes);
  fake.memory[reinterpret_cast<uintptr_t>(memory)] = bytes;
  *address = reinterpret_cast<uintptr_t>(memory);
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  LOCK();
  ++fake.calls[__func__];
  auto it = fake.memory.find(static_cast<uintptr_t>(address));
  if (it == fake.memory.end()) return Complain("cuMemFree of what is not allocated");
  fake.streams.FinishAll();
  free(reinterpret_cast<void*>(it->first));
  fake.memory.erase(it);
  return fake.stuck;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
  ENTER();
  if (!fake.streams.Exists(stream) || !Inside(to, bytes)) return Complain("copy to where nothing is");
  fake.streams.Append(stream, {[=] { memcpy(reinterpret_cast<void*>(to), from, bytes); }, {}});
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
  ENTER();
  if (!fake.streams.Exists(stream) || !Inside(from, bytes)) return Complain("copy from where nothing is");
  fake.streams.Append(stream, {[=] { memcpy(to, reinterpret_cast<void*>(from), bytes); }, {}});
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  ENTER();
  if (!fake.streams.Exists(stream) || !Inside(to, bytes) || !Inside(from, bytes)) return Complain("copy of nothing");
  fake.streams.Append(stream, {[=] { memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes); }, {}});
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  ENTER();
  NEEDS_CONTEXT();
  if (strncmp(static_cast<const char*>(image), "fake cubin", 10) != 0) return 200;
  *module = NewHandle();
  fake.modules.insert(*module);
  return 0;
}
int cuModuleUnload(void* module) {
  LOCK();
  for (const auto& [handle, stream] : fake.streams.all) {
    for (const Work& work : stream.left) {
      if (work.run) return Complain("unloaded while work is queued");
    }
  }
  return Release(__func__, &fake.modules, module);
}
int cuModuleGetFunction(void** function, void* module, const char* symbol) {
  ENTER();
  if (!fake.modules.count(module)) return Complain("function of no module");
  if (strncmp(symbol, "missing", 7) == 0) return 500;
  *function = NewHandle();
  fake.functions[*function].symbol = symbol;
  return 0;
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  ENTER();
  if (!fake.functions.count(function) || attribute != 0) return Complain("cuFuncGetAttribute");
  *value = 512;  // as if it took 128 registers
  return 0;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  ENTER();
  if (!fake.functions.count(function) || attribute != 8) return Complain("cuFuncSetAttribute");
  if (value > 232448) return 1;  // CUDA_ERROR_INVALID_VALUE
  fake.functions[function].dynamic_shared = value;
  return 0;
}
int cuStreamCreate(void** stream, unsigned flags) {
  ENTER();
  NEEDS_CONTEXT();
  if (flags > 1) return Complain("cuStreamCreate: flags");
  *stream = NewHandle();
  fake.streams.all[*stream].blocking = flags == 0;
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  LOCK();
  if (stream != FakeStreams::kLegacy && fake.streams.Exists(stream) && !fake.stuck)
    fake.streams.Finish({stream, fake.streams.all[stream].count()});
  return Release(__func__, &fake.streams.all, stream);
}
int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  ENTER();
  if (!fake.streams.Exists(stream) || !fake.events.count(event) || flags != 0) return Complain("cuStreamWaitEvent");
  if (fake.events[event].recorded) fake.streams.Append(stream, {nullptr, fake.events[event].at});
  return 0;
}
int cuStreamSynchronize(void* stream) {
  ENTER();
  if (!fake.streams.Exists(stream)) return Complain("wait for no stream");
  if (CapturingHere()) return Complain("waited while capturing");
  fake.streams.Finish({stream, fake.streams.all[stream].count()});
  return 0;
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  ENTER();
  if (!fake.streams.Exists(stream) || mode < 0 || mode > 2 || fake.captures.count(stream))
    return Complain("cuStreamBeginCapture");
  fake.captures[stream].by = std::this_thread::get_id();
  return 0;
}
int cuStreamEndCapture(void* stream, void** graph) {
  LOCK();
  const auto captured = fake.captures.extract(stream);
  if (int error = Enter(__func__)) return error;
  if (captured.empty()) return Complain("cuStreamEndCapture");
  *graph = NewHandle();
  fake.graphs.insert(*graph);
  fake.content[*graph] = captured.mapped().launches;
  fake.largest_graph = std::max(fake.largest_graph, static_cast<int>(captured.mapped().launches.size()));
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  ENTER();
  if (!fake.graphs.count(graph) || flags != 0) return Complain("cuGraphInstantiate");
  *executable = NewHandle();
  fake.executables.insert(*executable);
  fake.content[*executable] = fake.content[graph];
  return 0;
}
int cuGraphUpload(void* executable, void* stream) {
  ENTER();
  return fake.executables.count(executable) && fake.streams.Exists(stream) ? 0 : Complain("cuGraphUpload");
}
int cuGraphLaunch(void* executable, void* stream) {
  ENTER();
  if (!fake.executables.count(executable) || !fake.streams.Exists(stream)) return Complain("cuGraphLaunch");
  fake.streams.Append(stream, {[launches = fake.content[executable]] {
                                 for (const Recorded& r : launches) Perform(r);
                               },
                               {}});
  return 0;
}
int cuGraphExecDestroy(void* executable) { return Release(__func__, &fake.executables, executable); }
int cuGraphDestroy(void* graph) { return Release(__func__, &fake.graphs, graph); }
int cuEventCreate(void** event, unsigned flags) {
  ENTER();
  NEEDS_CONTEXT();
  *event = NewHandle();
  fake.events[*event].timed = (flags & 2) == 0;
  return 0;
}
int cuEventDestroy_v2(void* event) { return Release(__func__, &fake.events, event); }
int cuEventRecord(void* event, void* stream) {
  ENTER();
  if (!fake.events.count(event) || !fake.streams.Exists(stream)) return Complain("cuEventRecord");
  fake.events[event].recorded = true;
  fake.events[event].at = {stream, fake.streams.all[stream].count()};
  return 0;
}
int cuEventSynchronize(void* event) {
  ENTER();
  if (!fake.events.count(event) || !fake.events[event].recorded) return Complain("wait for an event not recorded");
  fake.streams.Finish(fake.events[event].at);
  return 0;
}
int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  ENTER();
  for (void* event : {start, end}) {
    if (!fake.events[event].timed) return Complain("an event that takes no time");
    if (!fake.events[event].recorded || !fake.streams.Past(fake.events[event].at))
      return Complain("time of events not waited for");
  }
  *milliseconds = fake.elapsed;
  return 0;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** parameters, void** extra) {
  ENTER();
  auto it = fake.functions.find(function);
  if (it == fake.functions.end() || !fake.streams.Exists(stream) || extra != nullptr) return Complain("cuLaunchKernel");
  if (gx * gy * gz == 0 || bx * by * bz == 0 || bx * by * bz > 512) return Complain("extents of a launch");
  if (static_cast<int>(shared) > it->second.dynamic_shared) return Complain("more shared memory than was asked for");
  Recorded r{&it->second, {gx, gy, gz}, {bx, by, bz}, {}};
  for (size_t i = 0; i < ParameterCount(it->second.symbol); ++i) {
    const uint64_t address = *static_cast<uint64_t*>(parameters[i]);
    if (!Inside(address, 1)) return Complain("a parameter that is no allocation");
    r.addresses.push_back(reinterpret_cast<void*>(address));
  }
  const auto capture = fake.captures.find(stream);
  if (capture != fake.captures.end()) {
    capture->second.launches.push_back(r);
    ++fake.captured;
  } else {
    fake.streams.Append(stream, {[r] { Perform(r); }, {}});
  }
  return 0;
}

}  // extern "C"
