// nights/night.json
#include "nightly/night_file.h"

#include "base/file.h"
#include "fuzz_target.h"

namespace hone::nightly {

HONE_FUZZ_TARGET(night_file) {
  const std::string& path = fuzz::InputFile(input);
  const std::string dir = DirName(path);
  HONE_CHECK(Rename(path, JoinPath(dir, "night.json")).ok());
  const Status last = LastNight(dir).status();
  // A second after the good example's night was opened; the result is the file's night if its name is valid.
  const auto night = OpenNight(dir, 1795230001.5);
  HONE_CHECK(!night.ok() || last.ok());
  return night.status();
}

}  // namespace hone::nightly
