#include "search/tuner/tuner.h"

#include "base/rng.h"
#include "base/text.h"
#include "search/tuner/ansor_tuner.h"
#include "search/tuner/auto_tuner.h"
#include "search/tuner/ga_tuner.h"
#include "search/tuner/random_tuner.h"
#include "search/tuner/xgb_tuner.h"

namespace hone::search {
namespace {

using TunerResult = Result<std::unique_ptr<Tuner>>;

struct Entry {
  const char* name;
  const char* alias;  // null without an alias
  TunerResult (*make)(const char* name, const TaskSpace& space, uint64_t seed, const TunerContext& context);
};

// Why the loops of the space's points cannot be made; OK if those of the first drawn point can.
Status CheckLoops(const TaskSpace& space, const TunerContext& context) {
  if (!context.loops) return Status::Unsupported("loops are not known here");
  Rng rng(1);
  const std::optional<PointIndex> index = space.SampleLegal(rng);
  return index ? context.loops(context.workload, space.At(*index)).status() : Status();
}

// The error of a tuner whose features are of loops that cannot be made.
Status NeedLoops(const char* name, const TaskSpace& space, const TunerContext& context, const char* instead) {
  const Status loops = CheckLoops(space, context);
  if (loops.ok()) return Status();
  return Status::Unsupported(fmt::format("tuner `{}` looks at the loops of points, which cannot be made ({}); use {}",
                                         name, loops.message(), instead));
}

// An xgb tuner. Names without features mean knob here and itervar in AutoTVM; the latter only if possible.
template <Loss loss, FeatureKind features, bool plain = false>
TunerResult MakeXgb(const char* name, const TaskSpace& space, uint64_t seed, const TunerContext& context) {
  HONE_RETURN_IF_ERROR(CheckXgb());
  FeatureKind kind = features;
  if (plain && context.like_autotvm && CheckLoops(space, context).ok()) kind = FeatureKind::kItervar;
  if (kind != FeatureKind::kKnob) HONE_RETURN_IF_ERROR(NeedLoops(name, space, context, "one whose name ends in _knob"));
  XgbTunerOptions options =
      context.like_autotvm ? XgbTunerOptions::LikeAutotvm(loss, kind) : XgbTunerOptions::Ours(loss, kind);
  options.name = name;
  return {std::make_unique<XgbTuner>(space, seed, context, options)};
}

// One line per tuner.
const Entry kEntries[] = {
    {"auto", nullptr,
     [](const char*, const TaskSpace& space, uint64_t seed, const TunerContext& context) -> TunerResult {
       return {std::make_unique<AutoTuner>(space, seed, context)};
     }},
    {"random", nullptr,
     [](const char*, const TaskSpace& space, uint64_t seed, const TunerContext&) -> TunerResult {
       return {std::make_unique<RandomTuner>(space, seed)};
     }},
    {"grid", "gridsearch",
     [](const char*, const TaskSpace& space, uint64_t, const TunerContext&) -> TunerResult {
       return {std::make_unique<GridTuner>(space)};
     }},
    {"ga", nullptr,
     [](const char*, const TaskSpace& space, uint64_t seed, const TunerContext& context) -> TunerResult {
       return {std::make_unique<GaTuner>(space, seed, context.like_autotvm ? GaOptions::LikeAutotvm() : GaOptions())};
     }},
    {"annealing", "sa",
     [](const char*, const TaskSpace& space, uint64_t seed, const TunerContext&) -> TunerResult {
       return MakeAnnealingTuner(space, seed);
     }},
    {"ansor", nullptr,
     [](const char* name, const TaskSpace& space, uint64_t seed, const TunerContext& context) -> TunerResult {
       HONE_RETURN_IF_ERROR(CheckXgb());
       HONE_RETURN_IF_ERROR(NeedLoops(name, space, context, "another tuner"));
       return {std::make_unique<AnsorTuner>(space, seed, context)};
     }},
    {"xgb", nullptr, MakeXgb<Loss::kReg, FeatureKind::kKnob, true>},
    {"xgb_knob", nullptr, MakeXgb<Loss::kReg, FeatureKind::kKnob>},
    {"xgb_itervar", nullptr, MakeXgb<Loss::kReg, FeatureKind::kItervar>},
    {"xgb_curve", nullptr, MakeXgb<Loss::kReg, FeatureKind::kCurve>},
    {"xgb_rank", nullptr, MakeXgb<Loss::kRank, FeatureKind::kKnob, true>},
    {"xgb_rank_knob", nullptr, MakeXgb<Loss::kRank, FeatureKind::kKnob>},
    {"xgb_rank_itervar", nullptr, MakeXgb<Loss::kRank, FeatureKind::kItervar>},
    {"xgb_rank_curve", nullptr, MakeXgb<Loss::kRank, FeatureKind::kCurve>},
    {"xgb_rank_binary", nullptr, MakeXgb<Loss::kRankBinary, FeatureKind::kKnob, true>},
    {"xgb_rank_binary_knob", nullptr, MakeXgb<Loss::kRankBinary, FeatureKind::kKnob>},
    {"xgb_rank_binary_itervar", nullptr, MakeXgb<Loss::kRankBinary, FeatureKind::kItervar>},
    {"xgb_rank_binary_curve", nullptr, MakeXgb<Loss::kRankBinary, FeatureKind::kCurve>},
};

const Entry* FindEntry(const std::string& name) {
  for (const Entry& entry : kEntries) {
    if (name == entry.name || (entry.alias != nullptr && name == entry.alias)) return &entry;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const TaskSpace& space, uint64_t seed,
                                         const TunerContext& context) {
  HONE_RETURN_IF_ERROR(CheckTunerName(name));
  const Entry* entry = FindEntry(name);
  return entry->make(entry->name, space, seed, context);
}

Status CheckTunerName(const std::string& name) {
  if (FindEntry(name) != nullptr) return Status();
  return Status::Invalid("unknown tuner `" + name + "`" + SuggestionText(name, TunerNames()));
}

std::vector<std::string> TunerNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

}  // namespace hone::search
