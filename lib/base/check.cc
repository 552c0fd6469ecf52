#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hone {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold. This is a bug in Hone; please report it.\n", file,
               line, condition);
  std::abort();
}

}  // namespace hone
