// libFuzzer's entry point: a fuzz_NAME program has exactly one target. With HONE_FUZZ_SHOW set, it prints the reader's
// status for each input.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "base/log.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  hone::SetLogLevel(hone::LogLevel::kError);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  HONE_CHECK(hone::fuzz::FuzzTargets().size() == 1);
  const hone::Status status = hone::fuzz::FuzzTargets()[0].read({reinterpret_cast<const char*>(data), size});
  static const bool show = std::getenv("HONE_FUZZ_SHOW") != nullptr;
  if (show) std::fprintf(stderr, "%s\n", status.ok() ? "taken" : status.message().c_str());
  return 0;
}
