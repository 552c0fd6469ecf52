// nights/samples/JOB/NIGHT.jsonl after its first line, which the target writes: with another one the file is started
// again. Accepted if it has the first process of the library.
#include "nightly/samples.h"

#include "base/file.h"
#include "fuzz_target.h"

namespace hone::nightly {

std::string FirstLine() {
  const std::string& path = fuzz::InputFile("");
  HONE_CHECK(NightSamples::Open(path, "fuzz").ok());
  return *ReadFile(path);
}

HONE_FUZZ_TARGET(samples) {
  static const std::string head = FirstLine();
  const std::string& path = fuzz::InputFile(head + std::string(input));
  const ProcessKey first, other{Who::kCanary, 1, 1 << 30};
  HONE_ASSIGN_OR_RETURN(NightSamples samples, NightSamples::Open(path, "fuzz"));
  const ProcessTimes* times = samples.Find(first);
  if (times == nullptr) return Status::Invalid("nothing of the first process");
  (void)times->Seconds(), (void)times->PaceSeconds();
  // Appended lines are found again, even after a torn line, and keep the earlier ones.
  HONE_CHECK(samples.Append(other, *times).ok());
  const auto again = NightSamples::Open(path, "fuzz");
  HONE_CHECK(again.ok() && again->Find(first) != nullptr && again->Find(other) != nullptr);
  HONE_CHECK(again->Find(first)->samples == samples.Find(first)->samples);
  return Status();
}

}  // namespace hone::nightly
