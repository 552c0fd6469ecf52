#include "base/os_error.h"

#include <cerrno>
#include <system_error>

namespace hone {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Status ErrnoStatus(int error, const std::string& what) {
  std::string message = what + ": " + ErrnoText(error);
  if (error == ENOENT || error == ENOTDIR) return Status::NotFound(message);
  if (error == ETIMEDOUT) return Status::Timeout(message);
  if (error == EDQUOT) message += "; remove files or raise the quota, and run the same command again";
  if (error == EFBIG) message += "; raise the limit on file sizes (ulimit -f), and run the same command again";
  return Status::Io(message);
}

}  // namespace hone
