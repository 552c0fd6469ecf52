// A line of an AutoTVM log.
#include "fuzz_target.h"
#include "record/foreign_formats.h"

HONE_FUZZ_TARGET(autotvm_log) {
  hone::record::AutoTvmReader reader;
  return reader.Read(input.substr(0, input.find('\n'))).status();
}
