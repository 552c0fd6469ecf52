#include "search/tuner/tuner.h"

#include "base/suggest.h"
#include "search/tuner/grid_tuner.h"
#include "search/tuner/random_tuner.h"

namespace hone::search {

Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const TaskSpace& space, uint64_t seed) {
  if (name == "random") return std::unique_ptr<Tuner>(std::make_unique<RandomTuner>(space, seed));
  if (name == "grid" || name == "gridsearch") return std::unique_ptr<Tuner>(std::make_unique<GridTuner>(space));
  return CheckTunerName(name);
}

Status CheckTunerName(const std::string& name) {
  for (const std::string& known : TunerNames()) {
    if (name == known || name == "gridsearch") return Status();
  }
  return Status::Invalid("unknown tuner `" + name + "`" + SuggestionText(name, TunerNames()));
}

std::vector<std::string> TunerNames() { return {"random", "grid"}; }

}  // namespace hone::search
