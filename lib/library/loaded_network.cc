#include "library/loaded_network.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "library/params_file.h"
#include "pipeline/task_list.h"

namespace hone::library {
namespace {

template <typename F>
Status Find(void* handle, const std::string& path, const std::string& symbol, F* out) {
  *out = reinterpret_cast<F>(dlsym(handle, symbol.c_str()));
  if (*out) return Status();
  return Status::Invalid(fmt::format("{}: has no function {}; is it a network library of that name?", path, symbol));
}

Status CheckFile(const std::string& path, const std::string& digest, const std::string& dir) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (Digest128(bytes).Hex() == digest) return Status();
  return Status::Corrupt(fmt::format(
      "{}: damaged, or not of the build that {}/manifest.json tells of; build the library again", path, dir));
}

}  // namespace

std::string LibraryFolder::LibraryPath() const { return JoinPath(dir, "lib" + name + ".so"); }
std::string LibraryFolder::ParamsPath() const { return JoinPath(dir, name + ".params"); }
std::string LibraryFolder::GraphPath() const { return JoinPath(dir, name + ".graph.json"); }

Result<LibraryFolder> ReadLibraryFolder(const std::string& dir) {
  const std::string path = JoinPath(dir, "manifest.json");
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status().WithContext("no network library in " + dir + " (hone-build makes one)");
  return ParseLibraryManifest(*text, dir, path);
}

Result<LibraryFolder> CheckedLibrary(const std::string& dir) {
  HONE_ASSIGN_OR_RETURN(LibraryFolder folder, ReadLibraryFolder(dir));
  HONE_RETURN_IF_ERROR(CheckFile(folder.LibraryPath(), folder.library_digest, dir));
  HONE_RETURN_IF_ERROR(CheckFile(folder.GraphPath(), folder.graph_digest, dir));
  HONE_RETURN_IF_ERROR(VerifyParamsFile(folder.ParamsPath(), folder.params_digest));
  DropCached(folder.ParamsPath());  // reading it here must not decide on which pages the library will have it
  return folder;
}

Result<LibraryFolder> ParseLibraryManifest(std::string_view text, const std::string& dir, const std::string& path) {
  LibraryFolder folder;
  folder.dir = dir;
  auto json = ParseJson(text, path);
  if (!json.ok()) return json.status().WithContext("no network library in " + dir + " (hone-build makes one)");
  JsonReader reader(*json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(1));
  HONE_RETURN_IF_ERROR(reader.Read("name", &folder.name));
  // Files are named by it, and one of them is loaded: it must not lead out of the folder.
  if (!pipeline::IsPlainName(folder.name)) {
    return reader.Error("name", "`" + folder.name + "` is not made of [A-Za-z0-9_.-]");
  }
  HONE_RETURN_IF_ERROR(reader.Read("identifier", &folder.identifier));
  HONE_RETURN_IF_ERROR(reader.Read("network", &folder.network));
  HONE_RETURN_IF_ERROR(reader.Read("target", &folder.target));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("batch", &folder.batch));
  HONE_RETURN_IF_ERROR(reader.Read("library_digest", &folder.library_digest));
  HONE_RETURN_IF_ERROR(reader.Read("params_digest", &folder.params_digest));
  HONE_RETURN_IF_ERROR(reader.Read("graph_digest", &folder.graph_digest));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("rounding", &folder.rounding));
  std::vector<JsonReader> kernels;
  HONE_RETURN_IF_ERROR(reader.Read("kernels", &kernels));
  for (JsonReader& item : kernels) {
    LibraryFolder::Kernel kernel;
    HONE_RETURN_IF_ERROR(item.Read("task", &kernel.task));
    HONE_RETURN_IF_ERROR(item.Read("workload", &kernel.workload));
    HONE_RETURN_IF_ERROR(item.Read("source", &kernel.source));
    HONE_RETURN_IF_ERROR(item.Read("uses", &kernel.uses));
    folder.kernels.push_back(std::move(kernel));
  }
  return folder;
}

void LoadedNetwork::Close::operator()(void* handle) const { dlclose(handle); }

Result<LoadedNetwork> LoadedNetwork::Load(const std::string& library_path, const std::string& identifier) {
  LoadedNetwork net;
  net.handle_.reset(dlopen(AbsolutePath(library_path).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!net.handle_) return Status::Invalid(std::string("cannot load the library: ") + dlerror());
  void* handle = net.handle_.get();
  int (*abi_version)() = nullptr;
  const HoneNetInfo* (*describe)() = nullptr;
  const std::string prefix = identifier + "_";
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "abi_version", &abi_version));
  if (abi_version() != HONE_NET_ABI_VERSION) {
    return Status::Unsupported(fmt::format("{}: has ABI version {}, this Hone knows {}; build it again", library_path,
                                           abi_version(), HONE_NET_ABI_VERSION));
  }
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "describe", &describe));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "workspace_size", &net.workspace_size_));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "create", &net.create_));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "run", &net.run_));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "profile_run", &net.profile_run_));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "destroy", &net.destroy_));
  HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "strerror", &net.strerror_));
  net.info_ = describe();
  if (dlsym(handle, (prefix + "run_device").c_str()) != nullptr) {
    HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "run_device", &net.run_device_));
    HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "device", &net.device_));
    HONE_RETURN_IF_ERROR(Find(handle, library_path, prefix + "error_detail", &net.error_detail_));
  }
  return net;
}

}  // namespace hone::library
