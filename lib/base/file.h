// Files and folders. Every failure is kNotFound (the file, or a folder on the way, is not there) or kIo, and its
// message starts with the path. Paths are byte strings with '/'; relative ones are relative to the current folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/status.h"

namespace hone {

// A file or a pipe of at most 4 GiB; kIo for folders and devices, which may never end, and for an empty path.
Result<std::string> ReadFile(const std::string& path);

// Replaces `path` by a file holding exactly `bytes`, or leaves it as it was: written to a temporary in the same folder,
// fsync'ed, renamed, the folder fsync'ed. The temporary is gone after a failure. The folder must exist.
Status WriteFileAtomic(const std::string& path, std::string_view bytes);

// WriteFileAtomic unless the file holds exactly `bytes` already. True if it was written. (Keeps mtimes: Ninja's
// restat.)
Result<bool> WriteFileIfChanged(const std::string& path, std::string_view bytes);

// Asks the system to drop the file's cached pages, so that the next mapping chooses its pages anew. A hint: pages that
// are dirty or mapped stay, and a failure is ignored.
void DropCached(const std::string& path);

bool Exists(const std::string& path);  // anything, also a folder; a dangling link does not exist
bool IsDirectory(const std::string& path);
Status MakeDirs(const std::string& path);    // with its parents; ok if it is there already
Status Remove(const std::string& path);      // a file, a link or an empty folder; ok if it is not there
Status Rename(const std::string& from, const std::string& to);  // replaces a file that is there
Status RemoveTree(const std::string& path);  // everything below too, not following links; ok if it is not there
Result<std::vector<std::string>> ListDir(const std::string& path);  // names, sorted, without "." and ".."
Result<int64_t> FileSize(const std::string& path);
Result<std::string> CurrentExecutable();  // absolute path of the running program

// Pure text functions on paths.
std::string JoinPath(std::string_view a, std::string_view b);  // b alone if b is absolute or a is empty
std::string DirName(std::string_view path);                    // "." if there is no folder in it; "/" for "/x"
std::string BaseName(std::string_view path);                   // what follows the last '/'
// Absolute and without "." and "x/.." parts, by text: links are not resolved.
std::string AbsolutePath(const std::string& path);

// A fresh empty folder under $TMPDIR or /tmp that is removed with all its contents with this object. It is held by
// flock, so that one whose process was killed is known: the next Create with the same prefix removes it.
class TempDir {
 public:
  // `prefix`: of its name; with a folder, that of another folder than $TMPDIR.
  static Result<TempDir> Create(const std::string& prefix = "hone");
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  const std::string& path() const { return path_; }
  std::string Join(std::string_view name) const { return JoinPath(path_, name); }

 private:
  TempDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;  // empty: nothing to remove
  int lock_ = -1;     // -1: this file system has no locks
};

}  // namespace hone
