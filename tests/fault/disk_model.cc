#include "disk_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace hone {
namespace {

constexpr size_t kSector = 512;

// The position of a descriptor, and whether it appends.
std::pair<size_t, bool> PositionOf(pid_t pid, int fd) {
  const auto text = ReadFile(fmt::format("/proc/{}/fdinfo/{}", pid, fd));
  if (!text.ok()) return {0, false};
  size_t position = 0;
  unsigned flags = 0;
  for (const std::string& line : Split(*text, '\n')) {
    if (StartsWith(line, "pos:")) position = std::strtoull(line.c_str() + 4, nullptr, 10);
    if (StartsWith(line, "flags:")) flags = static_cast<unsigned>(std::strtoul(line.c_str() + 6, nullptr, 8));
  }
  return {position, (flags & O_APPEND) != 0};
}

}  // namespace

DiskModel::DiskModel(std::string root, const Files& files) : root_(std::move(root)) {
  for (const auto& [path, bytes] : files) {
    for (std::string folder = DirName(path); folder != "."; folder = DirName(folder)) synced_[folder] = nullptr;
    synced_[path] = std::make_shared<File>(File{bytes, {}, bytes});
  }
  now_ = synced_;
}

std::optional<std::string> DiskModel::Relative(const std::string& path) const {
  const std::string absolute = AbsolutePath(JoinPath(root_, path));
  if (!StartsWith(absolute, root_ + "/") || absolute.ends_with(" (deleted)")) return std::nullopt;
  return absolute.substr(root_.size() + 1);
}

std::optional<std::string> DiskModel::Relative(pid_t pid, int at, uint64_t text) const {
  const std::string path = TextIn(pid, text);
  return Relative(at == AT_FDCWD || StartsWith(path, "/") ? path : JoinPath(PathOf(pid, at), path));
}

std::shared_ptr<DiskModel::File> DiskModel::Of(pid_t pid, int fd) const {
  const auto path = Relative(PathOf(pid, fd));
  const auto at = path ? now_.find(*path) : now_.end();
  return at == now_.end() ? nullptr : at->second;
}

void DiskModel::Apply(const Change& change, std::string* bytes) {
  if (change.cut) {
    bytes->resize(change.at);
    return;
  }
  if (bytes->size() < change.at + change.bytes.size()) bytes->resize(change.at + change.bytes.size());
  std::copy(change.bytes.begin(), change.bytes.end(), bytes->begin() + static_cast<ptrdiff_t>(change.at));
}

void DiskModel::Apply(const Naming& naming, Names* names) {
  if (!naming.from.empty()) names->erase(naming.from);
  if (naming.file || naming.folder) {
    (*names)[naming.path] = naming.file;
  } else {
    names->erase(naming.path);
  }
}

void DiskModel::Write(File* file, Change change) {
  Apply(change, &file->now);
  file->pending.push_back(std::move(change));
}

void DiskModel::Name(Naming naming) {
  Apply(naming, &now_);
  pending_.push_back(std::move(naming));
}

void DiskModel::Sync(pid_t pid, int fd) {
  if (const auto file = Of(pid, fd)) {
    file->synced = file->now;
    file->pending.clear();
    return;
  }
  const std::string path = PathOf(pid, fd);
  const std::string folder = path == root_ ? "." : Relative(path).value_or("");
  std::erase_if(pending_, [&](const Naming& naming) {
    if (DirName(naming.path) != folder) return false;
    Apply(naming, &synced_);
    return true;
  });
}

bool DiskModel::IsUnknown(const SeenCall& call) const {
  const auto& a = call.args;
  const auto file = [&](size_t i) { return Of(call.pid, static_cast<int>(a[i])) != nullptr; };
  switch (call.number) {
    case SYS_creat:
    case SYS_truncate:
      return Relative(call.pid, AT_FDCWD, a[0]).has_value();
    case SYS_openat2:
      return Relative(call.pid, static_cast<int>(a[0]), a[1]).has_value();
    case SYS_open:
    case SYS_openat:
      return (a[call.number == SYS_open ? 1 : 2] & O_TMPFILE) == O_TMPFILE;
    case SYS_renameat2:
      return a[4] != 0;
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_fallocate:
      return file(0);
    case SYS_copy_file_range:
      return file(2);
    case SYS_mmap:
      return (a[3] & MAP_TYPE) != MAP_PRIVATE && (a[3] & MAP_ANONYMOUS) == 0 && (a[2] & PROT_WRITE) != 0 && file(4);
    default:
      return false;
  }
}

bool DiskModel::See(const SeenCall& call) {
  if (unknown_.empty() && IsUnknown(call)) unknown_ = DescribeCall(call);
  const auto& a = call.args;
  const pid_t pid = call.pid;
  const auto fd = static_cast<int>(a[0]);
  const auto rename = [&](const std::optional<std::string>& from, const std::optional<std::string>& to) {
    if (!from || !to || !now_.contains(*from)) return false;
    Name({*to, now_.at(*from), now_.at(*from) == nullptr, *from});
    return true;
  };
  const auto open = [&](const std::optional<std::string>& path, uint64_t flags) {
    if (!path) return false;
    const bool there = now_.contains(*path);
    if (!there && (flags & O_CREAT) != 0) {
      Name({*path, std::make_shared<File>(), false, ""});
      return true;
    }
    if (!there || (flags & O_TRUNC) == 0 || now_.at(*path) == nullptr) return false;
    Write(now_.at(*path).get(), {true, 0, ""});
    return true;
  };
  const auto remove = [&](const std::optional<std::string>& path) {
    if (!path || !now_.contains(*path)) return false;
    Name({*path, nullptr, false, ""});
    return true;
  };
  const auto make = [&](const std::optional<std::string>& path) {
    if (!path || now_.contains(*path)) return false;
    Name({*path, nullptr, true, ""});
    return true;
  };
  const auto link = [&](const std::optional<std::string>& from, const std::optional<std::string>& to) {
    if (!from || !to || !now_.contains(*from) || now_.contains(*to)) return false;
    Name({*to, now_.at(*from), false, ""});
    return true;
  };
  constexpr int kHere = AT_FDCWD;
  switch (call.number) {
    case SYS_open:
      return open(Relative(pid, kHere, a[0]), a[1]);
    case SYS_openat:
      return open(Relative(pid, fd, a[1]), a[2]);
    case SYS_rename:
      return rename(Relative(pid, kHere, a[0]), Relative(pid, kHere, a[1]));
    case SYS_renameat:
    case SYS_renameat2:
      return rename(Relative(pid, fd, a[1]), Relative(pid, static_cast<int>(a[2]), a[3]));
    case SYS_link:
      return link(Relative(pid, kHere, a[0]), Relative(pid, kHere, a[1]));
    case SYS_linkat:
      return link(Relative(pid, fd, a[1]), Relative(pid, static_cast<int>(a[2]), a[3]));
    case SYS_unlink:
    case SYS_rmdir:
      return remove(Relative(pid, kHere, a[0]));
    case SYS_unlinkat:
      return remove(Relative(pid, fd, a[1]));
    case SYS_mkdir:
      return make(Relative(pid, kHere, a[0]));
    case SYS_mkdirat:
      return make(Relative(pid, fd, a[1]));
    case SYS_fsync:
    case SYS_fdatasync:
      Sync(pid, fd);
      return true;
    default:
      break;
  }
  const auto file = Of(pid, fd);
  if (!file) return false;
  switch (call.number) {
    case SYS_ftruncate:
      Write(file.get(), {true, a[1], ""});
      return true;
    case SYS_pwrite64:
      Write(file.get(), {false, a[3], BytesIn(pid, a[1], a[2])});
      return true;
    case SYS_write: {
      const auto [position, appends] = PositionOf(pid, fd);
      Write(file.get(), {false, appends ? file->now.size() : position, BytesIn(pid, a[1], a[2])});
      return true;
    }
    case SYS_writev: {
      std::string bytes, list = BytesIn(pid, a[1], a[2] * sizeof(iovec));
      for (size_t i = 0; i + sizeof(iovec) <= list.size(); i += sizeof(iovec)) {
        iovec part;
        std::memcpy(&part, list.data() + i, sizeof part);
        bytes += BytesIn(pid, reinterpret_cast<uint64_t>(part.iov_base), part.iov_len);
      }
      const auto [position, appends] = PositionOf(pid, fd);
      Write(file.get(), {false, appends ? file->now.size() : position, bytes});
      return true;
    }
    default:
      return false;
  }
}

DiskModel::Files DiskModel::Whole() const {
  Files files;
  for (const auto& [path, file] : now_) {
    if (file) files[path] = file->now;
  }
  return files;
}

DiskModel::Files DiskModel::AfterPowerCut(Rng* rng) const {
  // How much of what was not synced arrived: all kinds of disks.
  const double share = std::vector<double>{0, 1, 0.5, 0.1, 0.9}[rng->UniformInt(5)];
  const auto arrives = [&] { return rng->UniformDouble() < share; };
  Names names = synced_;
  for (const Naming& naming : pending_) {
    if (arrives()) Apply(naming, &names);
  }
  std::map<const File*, std::string> contents;  // one for all names of a file
  Files files;
  for (const auto& [path, file] : names) {
    if (!file) continue;
    bool reachable = true;
    for (std::string folder = DirName(path); folder != "."; folder = DirName(folder))
      reachable &= names.contains(folder);
    if (!reachable) continue;
    const auto [at, fresh] = contents.emplace(file.get(), file->synced);
    if (fresh) {
      for (const Change& change : file->pending) {
        if (change.cut || rng->UniformInt(2) == 0) {
          if (arrives()) Apply(change, &at->second);
          continue;
        }
        for (size_t i = 0; i < change.bytes.size();) {  // torn: each sector for itself
          const size_t size = std::min(kSector - (change.at + i) % kSector, change.bytes.size() - i);
          if (arrives()) Apply({false, change.at + i, change.bytes.substr(i, size)}, &at->second);
          i += size;
        }
      }
    }
    files[path] = at->second;
  }
  return files;
}

}  // namespace hone
