// Files and folders. Every failure is kNotFound (the file or a parent folder does not exist) or kIo, and its message
// starts with the path. Paths are byte strings with '/'; relative ones are relative to the current folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/status.h"

struct stat;

namespace hone {

// Opens a file with these flags of open(2) and O_CLOEXEC. Never waits: folders, devices, sockets and pipes with a name
// are kIo, also behind a link, and so is a link with O_NOFOLLOW. Accepts pipes without a name, for `cmd | tool
// /dev/stdin` and <(cmd).
Result<Fd> OpenFile(const std::string& path, int flags);

// Returns kIo if `path` exists and OpenFile would reject it; with `follow` false, also for symbolic links. For
// libraries that open files themselves.
Status CheckRegular(const std::string& path, bool follow = true);

// Creates `path`, a temporary name of this process, for writing and reading. Removes one left by a process that had
// this pid, and never opens an existing one, which may be a link to something else. An error begins with `what`.
Result<Fd> CreateFresh(const std::string& path, mode_t mode, const std::string& what);

// Reads a file of at most 4 GiB. Returns kIo for an empty path, and for what OpenFile rejects.
Result<std::string> ReadFile(const std::string& path);

// The first `bytes` bytes, or all of a shorter file.
Result<std::string> ReadStart(const std::string& path, size_t bytes);

// Replaces `path` by a file that holds exactly `bytes`, or leaves it as it was. Writes a temporary file in the same
// folder, fsyncs it, renames it and fsyncs the folder; removes the temporary file on failure. The folder must exist.
// If only the last step fails, the new file is in place, but a power cut may bring the old one back.
Status WriteFileAtomic(const std::string& path, std::string_view bytes);

// Removes the temporary files that killed processes left of files in this folder whose names begin with that of `path`.
// REQUIRES: nobody else writes these files now
void RemoveDrafts(const std::string& path);

// Calls WriteFileAtomic unless the file already holds exactly `bytes`. Returns true if it wrote. Keeping the mtime lets
// Ninja's restat skip dependent steps.
Result<bool> WriteFileIfChanged(const std::string& path, std::string_view bytes);

// Asks the system to drop the file's cached pages, so that the next mapping chooses its pages anew. A hint: pages that
// are dirty or mapped stay, and a failure is ignored.
void DropCached(const std::string& path);

bool Exists(const std::string& path);  // any kind, also a folder; a dangling link does not exist
bool IsDirectory(const std::string& path);
// Returns kIo if MakeDirs would fail because a file is in the way. Creates nothing.
Status CheckFolder(const std::string& path);
// Also creates the parents; ok if the folder exists. New folders survive a power cut.
Status MakeDirs(const std::string& path);
Status Remove(const std::string& path);  // a file, a link or an empty folder; ok if it does not exist
// Replaces an existing file. The new name survives a power cut.
Status Rename(const std::string& from, const std::string& to);
Status RemoveTree(const std::string& path);  // recursive, does not follow links; ok if the path does not exist
Result<std::vector<std::string>> ListDir(const std::string& path);  // names, sorted, without "." and ".."
Result<int64_t> FileSize(const std::string& path);
Result<std::string> CurrentExecutable();  // absolute path of the running program

// Pure text functions on paths.
std::string JoinPath(std::string_view a, std::string_view b);  // b alone if b is absolute or a is empty
std::string DirName(std::string_view path);                    // "." if there is no folder in it; "/" for "/x"
std::string BaseName(std::string_view path);                   // the part after the last '/'
// Makes a path absolute and removes "." and "x/.." parts. Works on the text alone: links are not resolved.
std::string AbsolutePath(const std::string& path);

// A new empty folder under $TMPDIR or /tmp, removed with its contents by the destructor. The process holds it by flock,
// so that a later Create with the same prefix can recognise and remove the folders of killed processes.
class TempDir {
 public:
  // The folder's name begins with `prefix`. A `prefix` that contains a folder replaces $TMPDIR.
  static Result<TempDir> Create(const std::string& prefix = "hone");
  TempDir(TempDir&& other) noexcept;
  ~TempDir();

  const std::string& path() const { return path_; }
  std::string Join(std::string_view name) const { return JoinPath(path_, name); }

 private:
  TempDir(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;  // empty: nothing to remove
  Fd lock_;           // not open: the file system does not support locks
};

// When the content was last changed, in unix seconds by the file system's clock.
double ModifiedSeconds(const struct stat& info);
double ModifiedSeconds(const std::string& path);  // 0 if the file does not exist

// Appends `line` and a newline in one write, and syncs it to disk before it returns. First cuts off a line that an
// interrupted write left incomplete. Creates the folder. One writer at a time: hold a lock. Does not follow links.
Status AppendLine(const std::string& path, const std::string& line);

// Makes `to` a hard link to `from`; `to` must not exist. Fails across file systems, and on those without hard links.
Status ShareFile(const std::string& from, const std::string& to);

Status MakeReadOnly(const std::string& path);  // for everybody

}  // namespace hone
