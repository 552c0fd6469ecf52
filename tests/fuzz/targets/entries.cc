// What an artifact says of its functions.
#include "base/check.h"
#include "fuzz_target.h"
#include "target/artifact.h"

namespace hone {

HONE_FUZZ_TARGET(entries) {
  HONE_ASSIGN_OR_RETURN(const std::vector<EntryPoint> entries, ParseEntries(std::string(input)));
  const auto again = ParseEntries(EntriesText(entries));
  HONE_CHECK(again.ok());
  fuzz::CheckSame(EntriesText(entries), EntriesText(*again));
  return Status();
}

}  // namespace hone
