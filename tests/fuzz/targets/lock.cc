// The lock file that another process left. A fuzzer does not know what this machine is called: @HOST@ stands for it.
#include "base/lock.h"

#include "base/cpu.h"
#include "base/text.h"
#include "fuzz_target.h"

namespace hone {

HONE_FUZZ_TARGET(lock) {
  return FileLock::Acquire(fuzz::InputFile(ReplaceAll(input, "@HOST@", Hostname())), 120, 0).status();
}

}  // namespace hone
