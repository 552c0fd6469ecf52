#include "fuzz_target.h"
#include "nightly/measure_night.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(nights) {
  HONE_ASSIGN_OR_RETURN(const History history, ParseHistory(input, "fuzz"));
  if (!history.nights.empty()) (void)EnvironmentMoved(history.nights, history.nights.back());
  return fuzz::ReadWriteRead(input, ParseHistory, [](const History& read) {
    std::string text;
    for (const Night& night : read.nights) text += NightText(night);
    HONE_CHECK(ParseHistory(text, "fuzz")->damaged.empty());
    return text;
  });
}

}  // namespace hone::nightly
