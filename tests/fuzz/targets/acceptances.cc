// accepted/JOB.jsonl
#include "fuzz_target.h"
#include "nightly/accepted.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(acceptances) {
  return fuzz::ReadWriteRead(input, ParseAcceptances, [](const std::vector<Acceptance>& log) {
    std::string text;
    for (const Acceptance& acceptance : log) text += AcceptanceText(acceptance);
    return text;
  });
}

}  // namespace hone::nightly
