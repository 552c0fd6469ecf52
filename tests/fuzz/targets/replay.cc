#include "common/replay_text.h"
#include "fuzz_target.h"
#include "record/replay_space.h"

namespace hone::record {

HONE_FUZZ_TARGET(replay) {
  HONE_RETURN_IF_ERROR(fuzz::ReadWriteRead(input, ParseReplay, ReplayText));
  (void)ParseReplay(input, "fuzz")->Defaults();
  return Status();
}

}  // namespace hone::record
