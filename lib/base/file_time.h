// Times that a file system keeps.
#pragma once

#include <sys/stat.h>

#include <string>

namespace hone {

// When its content was last changed, in unix seconds by the file system's clock.
double ModifiedSeconds(const struct stat& info);
double ModifiedSeconds(const std::string& path);  // 0: it is not there

}  // namespace hone
