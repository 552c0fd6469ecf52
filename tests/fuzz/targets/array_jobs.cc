#include "base/text.h"
#include "command/plan/array_job.h"
#include "fuzz_target.h"

// The list is accepted if each of its lines is: --run-job reads only one, whatever the others are.
HONE_FUZZ_TARGET(array_jobs) {
  using namespace hone::command;
  const std::string text(input);
  hone::Status status;
  const auto lines = static_cast<int64_t>(hone::Split(std::string(hone::Trim(text)), '\n').size());
  for (int64_t number = 1; number <= lines; ++number) {
    const hone::Result<ArrayJob> job = ParseArrayJob(text, number, "fuzz");
    if (!job.ok()) {
      status = job.status();
      continue;
    }
    // As the first line of another list.
    ArrayJob first = *job;
    first.number = 1;
    const std::string written = ArrayJobsText({first});
    const auto again = ParseArrayJob(written, 1, "fuzz");
    HONE_CHECK(again.ok());
    hone::fuzz::CheckSame(written, ArrayJobsText({*again}));
    (void)StagesText({*job});
  }
  return status;
}
