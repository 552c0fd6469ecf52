#include "base/user.h"

#include <pwd.h>
#include <unistd.h>

namespace hone {

std::string UserName() {
  const struct passwd* entry = getpwuid(geteuid());
  return entry ? entry->pw_name : std::to_string(geteuid());
}

}  // namespace hone
