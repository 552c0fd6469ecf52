// A disk in a map, which remembers what was written and can be told to fail.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace hone {

// Folders exist if made or if a file was Put below them. Paths are taken as they are: "a/b" and "./a/b" differ.
class MemoryFileSystem final : public FileSystem {
 public:
  // For the test: a file without counting as a write, its folders with it.
  void Put(const std::string& path, std::string bytes) {
    (void)MakeDirs(DirName(path)).ok();
    files_[path] = std::move(bytes);
  }
  void FailWritesTo(const std::string& path) { failing_.insert(path); }
  const std::map<std::string, std::string>& files() const { return files_; }
  const std::vector<std::string>& writes() const { return writes_; }  // the path of each write, in order

  Result<std::string> ReadFile(const std::string& path) override {
    auto it = files_.find(path);
    if (it == files_.end()) return Status::NotFound(path + ": cannot open: No such file or directory");
    return it->second;
  }

  Status WriteAtomic(const std::string& path, std::string_view bytes) override {
    if (failing_.count(path) != 0) return Status::Io(path + ": cannot write: No space left on device");
    if (!IsFolder(DirName(path))) return Status::NotFound(path + ": cannot create a file in its folder");
    files_[path] = std::string(bytes);
    writes_.push_back(path);
    return Status();
  }

  Result<bool> WriteIfChanged(const std::string& path, std::string_view bytes) override {
    auto it = files_.find(path);
    if (it != files_.end() && it->second == bytes) return false;
    HONE_RETURN_IF_ERROR(WriteAtomic(path, bytes));
    return true;
  }

  bool Exists(const std::string& path) override { return files_.count(path) != 0 || IsFolder(path); }

  Status Remove(const std::string& path) override {
    files_.erase(path);
    folders_.erase(path);
    return Status();
  }

  Result<std::vector<std::string>> List(const std::string& path) override {
    if (!IsFolder(path)) return Status::NotFound(path + ": cannot list: No such file or directory");
    std::set<std::string> names;
    for (const auto& [file, bytes] : files_) {
      if (DirName(file) == path) names.insert(BaseName(file));
    }
    for (const std::string& folder : folders_) {
      if (folder != path && DirName(folder) == path) names.insert(BaseName(folder));
    }
    return std::vector<std::string>(names.begin(), names.end());
  }

  Status MakeDirs(const std::string& path) override {
    for (std::string folder = path; !IsFolder(folder); folder = DirName(folder)) {
      if (files_.count(folder) != 0) return Status::Io(path + ": cannot create the folder: Not a directory");
      folders_.insert(folder);
    }
    return Status();
  }

 private:
  bool IsFolder(const std::string& path) const { return path == "." || path == "/" || folders_.count(path) != 0; }

  std::map<std::string, std::string> files_;
  std::set<std::string> folders_;
  std::set<std::string> failing_;
  std::vector<std::string> writes_;
};

}  // namespace hone
