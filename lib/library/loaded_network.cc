#include "library/loaded_network.h"

#include <dlfcn.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "library/params_file.h"
#include "pipeline/task_list.h"

namespace hone::library {
namespace {

template <typename F>
Status Find(void* handle, const std::string& path, const std::string& symbol, F* out) {
  *out = reinterpret_cast<F>(dlsym(handle, symbol.c_str()));
  if (*out) return Status();
  return Status::Invalid("{}: has no function {}; is it a network library of that name?", path, symbol);
}

Status CheckFile(const std::string& path, const std::string& digest, const std::string& dir) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (Digest128(bytes).Hex() == digest) return Status();
  return Status::Corrupt("{}: damaged, or not of the build that {}/manifest.json tells of; build the library again",
                         path, dir);
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
  DropCached(folder.ParamsPath());  // otherwise this read would decide on which pages the library maps it
  return folder;
}

static void ListFields(Fields* f, LibraryFolder::Kernel* kernel) {
  f->AllowOthers();
  HONE_VALUES(f, kernel->task, kernel->workload, kernel->source, kernel->uses);
}

Result<LibraryFolder> ParseLibraryManifest(std::string_view text, const std::string& dir, const std::string& path) {
  LibraryFolder folder{.dir = dir};
  auto json = ParseJson(text, path);
  if (!json.ok()) return json.status().WithContext("no network library in " + dir + " (hone-build makes one)");
  JsonReader reader(*json, path);
  Fields f(&reader);
  f.AllowOthers();
  f.Version(1);
  f.Value("name", &folder.name);
  // Files are named by it, and one of them is loaded: it must not lead out of the folder.
  f.Check(IsPlainName(folder.name), "`" + folder.name + "` is not made of [A-Za-z0-9_.-]");
  HONE_VALUES(&f, folder.identifier, folder.network, folder.target);
  f.Maybe("batch", &folder.batch);
  f.Maybe("layout", &folder.layout);
  HONE_VALUES(&f, folder.library_digest, folder.params_digest, folder.graph_digest);
  f.Maybe("rounding", &folder.rounding);
  f.Value("kernels", &folder.kernels);
  HONE_RETURN_IF_ERROR(f.Finish());
  return folder;
}

void LoadedNetwork::Close::operator()(void* handle) const { dlclose(handle); }

Result<LoadedNetwork> LoadedNetwork::Load(const std::string& library_path, const std::string& identifier) {
  LoadedNetwork net;
  net.handle.reset(dlopen(AbsolutePath(library_path).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!net.handle) return Status::Invalid(std::string("cannot load the library: ") + dlerror());
  const auto find = [&](const std::string& symbol, auto* out) {
    return Find(net.handle.get(), library_path, identifier + "_" + symbol, out);
  };
  int (*abi_version)() = nullptr;
  HONE_RETURN_IF_ERROR(find("abi_version", &abi_version));
  if (abi_version() != HONE_NET_ABI_VERSION) {
    return Status::Unsupported("{}: has ABI version {}, this Hone knows {}; build it again", library_path,
                               abi_version(), HONE_NET_ABI_VERSION);
  }
  HONE_RETURN_IF_ERROR(find("describe", &net.describe));
  HONE_RETURN_IF_ERROR(find("workspace_size", &net.workspace_size));
  HONE_RETURN_IF_ERROR(find("create", &net.create));
  HONE_RETURN_IF_ERROR(find("run", &net.run));
  HONE_RETURN_IF_ERROR(find("profile_run", &net.profile_run));
  HONE_RETURN_IF_ERROR(find("destroy", &net.destroy));
  HONE_RETURN_IF_ERROR(find("strerror", &net.strerror));
  if (dlsym(net.handle.get(), (identifier + "_run_device").c_str()) == nullptr) return net;
  HONE_RETURN_IF_ERROR(find("run_device", &net.run_device));
  HONE_RETURN_IF_ERROR(find("wait", &net.wait));
  HONE_RETURN_IF_ERROR(find("device", &net.device));
  HONE_RETURN_IF_ERROR(find("error_detail", &net.error_detail));
  return net;
}

}  // namespace hone::library
