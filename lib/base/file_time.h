// File modification times.
#pragma once

#include <sys/stat.h>

#include <string>

namespace hone {

// When the content was last changed, in unix seconds by the file system's clock.
double ModifiedSeconds(const struct stat& info);
double ModifiedSeconds(const std::string& path);  // 0 if the file does not exist

}  // namespace hone
