// A line of an AutoTVM log.
#include "record/autotvm_log.h"

#include "fuzz_target.h"

namespace hone::record {

HONE_FUZZ_TARGET(autotvm_log) {
  AutoTvmReader reader;
  return reader.Read(input.substr(0, input.find('\n'))).status();
}

}  // namespace hone::record
