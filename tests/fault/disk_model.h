// What may be on the disk after a power cut: a model of files of which only synced bytes and synced names are certain.
// It learns the calls of a program by RunWatched.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "failing_call.h"

namespace hone {

class DiskModel {
 public:
  using Files = std::map<std::string, std::string>;  // path and bytes

  // Only files below `root` count. All of `files`, with paths relative to it, are on the disk.
  DiskModel(std::string root, const Files& files);

  // Before the call is made. Returns whether it changes anything.
  bool See(const SeenCall& call);
  // The first call that may change these files in a way that this model does not know; empty without one.
  const std::string& unknown() const { return unknown_; }

  // The disk now: of each call that was not synced, all, nothing or some sectors arrived, in any order.
  Files AfterPowerCut(Rng* rng) const;
  Files Whole() const;  // without a power cut

 private:
  struct Change {  // of a file's bytes
    bool cut = false;
    size_t at = 0;
    std::string bytes;
  };
  struct File {
    std::string synced;
    std::vector<Change> pending;
    std::string now;
  };
  struct Naming {  // in the folder of `path`: the name stands for `file`, or for nothing
    std::string path;
    std::shared_ptr<File> file;
    bool folder = false;
    std::string from;  // of a rename: goes away in the same moment
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;  // null: a folder

  std::optional<std::string> Relative(const std::string& path) const;
  std::optional<std::string> Relative(pid_t pid, int at, uint64_t text) const;
  std::shared_ptr<File> Of(pid_t pid, int fd) const;
  static void Apply(const Change& change, std::string* bytes);
  static void Apply(const Naming& naming, Names* names);
  void Write(File* file, Change change);
  void Name(Naming naming);
  void Sync(pid_t pid, int fd);
  bool IsUnknown(const SeenCall& call) const;

  std::string root_, unknown_;
  Names synced_, now_;
  std::vector<Naming> pending_;
};

}  // namespace hone
