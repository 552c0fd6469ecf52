#include "base/file_time.h"

namespace hone {

double ModifiedSeconds(const struct stat& info) {
  return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

double ModifiedSeconds(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? ModifiedSeconds(info) : 0;
}

}  // namespace hone
