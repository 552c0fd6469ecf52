// Implements ChooseNvrtc of codegen/cuda/nvrtc.h.
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "codegen/cuda/nvrtc.h"
#include "target/cuda_arch.h"

namespace hone::codegen {
namespace {

std::vector<std::string> UsualPlaces() {
  std::vector<std::string> places;
  for (const int major : {13, 12}) {
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
      places.push_back(fmt::format("{}libnvrtc.so.{}", folder, major));
    }
  }
  return places;
}

// Architectures that no NVRTC of CUDA 12 supports, as far as is known today.
bool BeginsWith13(const std::string& arch) {
  const int number = arch.empty() ? 0 : CudaArchNumber(arch);
  return number == 88 || number == 110;
}

// What to install to compile for `arch` under a driver of CUDA `newest`, as far as is known today. `too_new`: an
// installed NVRTC newer than the driver supports `arch`, and one that the driver accepts does not.
std::string WhatToInstall(const std::string& arch, int newest, bool too_new) {
  constexpr int kFirstOf13 = 75, kOldest = 12;
  if (newest > 0 && newest < kOldest) {
    return fmt::format("the NVIDIA driver is of CUDA {}; Hone needs CUDA 12: install driver 525 or newer", newest);
  }
  if (newest == kOldest && (too_new || BeginsWith13(arch))) {
    return "install NVIDIA driver 580 (CUDA 13) or newer, which code of NVRTC 13 needs";
  }
  const bool old = (!arch.empty() && CudaArchNumber(arch) < kFirstOf13) || newest == kOldest;
  return fmt::format("install the NVRTC library of CUDA {} where the loader finds it (LD_LIBRARY_PATH)",
                     old ? "12 (pip: nvidia-cuda-nvrtc-cu12)" : "12 or 13 (pip: nvidia-cuda-nvrtc)");
}

Result<const Nvrtc*> Choose(const std::vector<std::string>& paths, const std::string& arch, int newest) {
  std::string absent;
  bool newer_does = false, other_does_not = false;  // a too new one supports `arch`; a usable one does not
  std::vector<std::string> found;
  std::set<std::string> versions;  // a set, as the loader's may be the toolkit's
  for (const std::string& path : paths.empty() ? UsualPlaces() : paths) {
    const Result<const Nvrtc*> nvrtc = Nvrtc::Load(path);
    if (nvrtc.ok()) {
      const bool loads = newest == 0 || (*nvrtc)->major() <= newest;
      const bool supports = arch.empty() || (*nvrtc)->Supports(arch);
      if (loads && supports) return *nvrtc;
      if (loads) {
        other_does_not = true;
      } else if (supports) {
        newer_does = true;
      }
      if (!versions.insert((*nvrtc)->Version()).second) continue;
      found.push_back(loads ? (*nvrtc)->Describe()
                            : fmt::format("{} is newer than the NVIDIA driver (CUDA {}), which may not load its code",
                                          (*nvrtc)->Name(), newest));
    } else if (nvrtc.status().kind() != StatusKind::kNotFound) {
      found.push_back(nvrtc.status().message());
    } else if (absent.empty()) {
      absent = nvrtc.status().message();
    }
  }
  const std::string purpose = arch.empty() ? "" : " for " + arch;
  const std::string advice = WhatToInstall(arch, newest, newer_does && other_does_not);
  if (found.empty()) {
    return Status::NotFound("no NVRTC, which compiles CUDA{}: {}; {}", purpose, absent, advice);
  }
  return Status::Unsupported("no NVRTC that compiles CUDA{}: {}; {}", purpose, Join(found, "; "), advice);
}

}  // namespace

Result<const Nvrtc*> ChooseNvrtc(const std::vector<std::string>& paths, const std::string& arch, int newest) {
  // Otherwise the loader would search again, for every kernel, for the missing paths before it.
  static std::mutex mutex;
  using Key = std::tuple<std::vector<std::string>, std::string, int>;
  static auto* chosen = new std::map<Key, const Nvrtc*>;
  Key key(paths, arch, newest);
  std::lock_guard<std::mutex> lock(mutex);
  const auto known = chosen->find(key);
  if (known != chosen->end()) return known->second;
  HONE_ASSIGN_OR_RETURN(const Nvrtc* nvrtc, Choose(paths, arch, newest));
  chosen->emplace(std::move(key), nvrtc);
  return nvrtc;
}

}  // namespace hone::codegen
