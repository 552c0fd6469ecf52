#include "base/os_error.h"

#include <cerrno>
#include <system_error>

namespace hone {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Status ErrnoStatus(int error, const std::string& what) {
  std::string message = what + ": " + ErrnoText(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Status::NotFound(message);
    case ETIMEDOUT:
      return Status::Timeout(message);
    case EDQUOT:
      return Status::Io(message + "; remove files or raise the quota, and run the same command again");
    case EFBIG:
      return Status::Io(message + "; raise the limit on file sizes (ulimit -f), and run the same command again");
    default:
      return Status::Io(message);
  }
}

}  // namespace hone
