#include "report/bench_file.h"

#include "fuzz_target.h"

HONE_FUZZ_TARGET(bench_file) {
  return hone::fuzz::ReadWriteRead(input, hone::report::ParseBenchFile, hone::report::BenchFileText);
}
