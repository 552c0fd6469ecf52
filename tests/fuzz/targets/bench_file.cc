#include "report/bench_file.h"

#include "base/check.h"
#include "fuzz_target.h"

namespace hone::report {

HONE_FUZZ_TARGET(bench_file) {
  HONE_ASSIGN_OR_RETURN(const BenchFile bench, ParseBenchFile(input, "fuzz"));
  const std::string text = BenchFileText(bench);
  const auto again = ParseBenchFile(text, "fuzz");
  HONE_CHECK(again.ok());
  fuzz::CheckSame(text, BenchFileText(*again));
  return Status();
}

}  // namespace hone::report
