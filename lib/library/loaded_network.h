// A built library in this process: what a C program would do with NET.h, for hone-bench and tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "library/runtime/net_device.h"
#include "library/runtime/net_runtime.h"

struct HoneNet;

namespace hone::library {

// Its files and names, from DIR/manifest.json.
struct LibraryFolder {
  std::string dir, name, identifier;
  std::string network, target, library_digest, params_digest, graph_digest;
  int64_t batch = 0;    // images in a run; 0: the network has no such axis
  double rounding = 0;  // NetworkRounding (library/kernels.h)
  struct Kernel {
    std::string task, workload, source;
    int64_t uses = 0;
  };
  std::vector<Kernel> kernels;

  std::string LibraryPath() const;
  std::string ParamsPath() const;
  std::string GraphPath() const;
};

// kNotFound, kInvalid with the path and what to do.
Result<LibraryFolder> ReadLibraryFolder(const std::string& dir);
// The same, if its files match its manifest. Call it before loading: the loader maps a torn object, and touching the
// missing part kills the process. kCorrupt, kNotFound, kInvalid with the path and what to do. The parameters are
// dropped from the system's cache, so that the library maps them as it wants: after reading the file, drop it again
// before timing (DropCached).
Result<LibraryFolder> CheckedLibrary(const std::string& dir);
// The text of a manifest.json at `path`. A name that would lead out of the folder is kInvalid.
Result<LibraryFolder> ParseLibraryManifest(std::string_view text, const std::string& dir, const std::string& path);

struct LoadedNetwork {
  // dlopen and the functions' addresses; checks the ABI version.
  static Result<LoadedNetwork> Load(const std::string& library_path, const std::string& identifier);

  const HoneNetInfo& info() const { return *describe(); }
  bool on_device() const { return run_device != nullptr; }

  // The library's functions, which return HONE_NET_OK or HONE_NET_E_*.
  const HoneNetInfo* (*describe)() = nullptr;
  size_t (*workspace_size)() = nullptr;
  int (*create)(const HoneNetOptions*, HoneNet**) = nullptr;
  int (*run)(HoneNet*, const void* const* in, void* const* out) = nullptr;
  int (*profile_run)(HoneNet*, const void* const* in, void* const* out, double* seconds) = nullptr;
  void (*destroy)(HoneNet*) = nullptr;
  const char* (*strerror)(int code) = nullptr;
  // For libraries that run on a device.
  int (*run_device)(HoneNet*, void* const* in, void* const* out) = nullptr;
  int (*device)(HoneNet*, HoneNetDeviceInfo*, void** in, void** out) = nullptr;
  // The device's message about this thread's last failure; may be empty.
  const char* (*error_detail)() = [] { return ""; };

  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle;
};

}  // namespace hone::library
