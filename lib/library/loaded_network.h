// A built library loaded into this process, used as a C program would use NET.h. For hone-bench and tests.
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

// The files and names of a library, from DIR/manifest.json.
struct LibraryFolder {
  std::string dir, name, identifier;
  std::string network, target, library_digest, params_digest, graph_digest;
  int64_t batch = 0;    // images in a run; 0: the network has no batch axis
  std::string layout;   // of the graph (kLayoutNames); empty: blocked
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

// Returns kNotFound or kInvalid with the path and what to do.
Result<LibraryFolder> ReadLibraryFolder(const std::string& dir);
// As above, but also checks that its files match its manifest. Call it before loading: the loader accepts a truncated
// object, and touching its missing part kills the process. Returns kCorrupt, kNotFound or kInvalid with the path and
// what to do. Drops the parameters from the system's cache, so that the library maps them as it wants; if you read the
// file, drop it again before timing (DropCached).
Result<LibraryFolder> CheckedLibrary(const std::string& dir);
// Parses the text of the manifest.json at `path`. Returns kInvalid for a name that leads out of the folder.
Result<LibraryFolder> ParseLibraryManifest(std::string_view text, const std::string& dir, const std::string& path);

struct LoadedNetwork {
  // Opens the library, looks up its functions and checks the ABI version.
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
  int (*run_device)(HoneNet*, void* const* in, void* const* out, void* stream) = nullptr;
  int (*wait)(HoneNet*) = nullptr;
  int (*device)(HoneNet*, HoneNetDeviceInfo*, void** in, void** out) = nullptr;
  // The device's message about this thread's last failure; may be empty.
  const char* (*error_detail)() = [] { return ""; };

  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle;
};

}  // namespace hone::library
