// The lock file of another process. A fuzzer does not know this machine's name: @HOST@ stands for it.
#include "base/cpu.h"
#include "base/lock.h"
#include "base/text.h"
#include "fuzz_target.h"

HONE_FUZZ_TARGET(lock) {
  const std::string text = hone::ReplaceAll(input, "@HOST@", hone::Hostname());
  return hone::FileLock::Acquire(hone::fuzz::InputFile(text), 120, 0).status();
}
