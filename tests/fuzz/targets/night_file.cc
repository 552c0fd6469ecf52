// nights/night.json
#include "nightly/night_file.h"

#include "base/check.h"
#include "base/file.h"
#include "fuzz_target.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(night_file) {
  const std::string& path = fuzz::InputFile(input);
  const std::string dir = DirName(path);
  HONE_CHECK(Rename(path, JoinPath(dir, "night.json")).ok());
  return LastNight(dir).status();
}

}  // namespace hone::nightly
