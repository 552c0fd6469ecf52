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
    default:
      return Status::Io(message);
  }
}

}  // namespace hone
