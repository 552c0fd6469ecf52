#include "pipeline/settings.h"

#include <algorithm>
#include <limits>

#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"

namespace hone::pipeline {

constexpr int64_t kSettingsVersion = 1;

// The limits keep every sum of seconds and counts far from overflow.
constexpr double kMaxSeconds = 1e8;
constexpr int64_t kMaxCount = kMostTrials;

std::string NumericsFlags(int64_t winograd, bool tf32) {
  std::string flags;
  if (winograd != TuneSettings().winograd) {
    flags = "--winograd " + (winograd == 0 ? std::string("off") : std::to_string(winograd));
  }
  if (tf32) flags += flags.empty() ? "--tf32" : " --tf32";
  return flags;
}

Result<int> ParseWinograd(const std::string& text) {
  if (text == "off") return 0;
  for (const int cap : {2, 4, 6}) {
    if (text == std::to_string(cap)) return cap;
  }
  return Status::Invalid("--winograd: expected off, 2, 4 or 6, found `" + text + "`");
}

void ListTuneKeys(Fields* f, TuneSettings* s) {
  f->Maybe("tuner", &s->tuner).Check(!s->tuner.empty(), "must not be empty");
  f->Maybe("trials", &s->trials).In(1, kMaxCount);
  f->Maybe("seconds", &s->seconds).In(0, kMaxSeconds);
  const TuneSettings plain;  // the defaults of newer keys are not written: they change no file
  f->Maybe("trials_total", &s->trials_total).In(0, kMaxCount);
  f->Maybe("seconds_total", &s->seconds_total, s->seconds_total != plain.seconds_total).In(0, kMaxSeconds);
  f->Maybe("rounds", &s->rounds, s->rounds != plain.rounds).In(1, kMostRounds);
  const std::vector<std::string> shares(std::begin(kShares), std::end(kShares));
  f->Maybe("share", &s->share, s->share != plain.share)
      .Check(std::ranges::count(shares, s->share) > 0,
             fmt::format("knows no `{}`{}", s->share, SuggestionText(s->share, shares)));
  const std::vector<std::string> objectives(std::begin(kObjectives), std::end(kObjectives));
  f->Maybe("objective", &s->objective, s->objective != plain.objective)
      .Check(std::ranges::count(objectives, s->objective) > 0,
             fmt::format("knows no `{}`{}", s->objective, SuggestionText(s->objective, objectives)));
  f->Maybe("target_ms", &s->target_ms, s->target_ms != plain.target_ms).In(0, kMaxSeconds);
  f->Maybe("early_stop", &s->early_stop).In(0, kMaxCount);
  f->Maybe("expected_gain", &s->expected_gain).In(0, 1);
  const std::vector<std::string> systems = {"ansor", "autotvm"};
  f->Maybe("like", &s->like)
      .Check(s->like.empty() || std::ranges::count(systems, s->like) > 0,
             fmt::format("knows no `{}`{}", s->like, SuggestionText(s->like, systems)))
      .Check(s->like != "ansor" || s->tuner == plain.tuner || s->tuner == s->like,
             fmt::format("\"ansor\" names the tuner, which cannot be `{}` then; leave one out", s->tuner));
  const std::vector<std::string> modes = {"templates", "sketches", "both"};
  f->Maybe("mode", &s->mode, s->mode != plain.mode)
      .Check(std::ranges::count(modes, s->mode) > 0,
             fmt::format("knows no `{}`{}", s->mode, SuggestionText(s->mode, modes)));
  f->Maybe("seed", &s->seed);
}

void ListMeasureKeys(Fields* f, TuneSettings* s) {
  Protocol* m = &s->measure;
  f->Maybe("candidate_seconds", &m->candidate_seconds).Above(0).In(0, kMaxSeconds);
  f->Maybe("timeout_seconds", &m->timeout_seconds).Above(0).In(0, kMaxSeconds);
  f->Maybe("prune_factor", &m->prune_factor);
  if (m->prune_factor != 0) f->In(1, 1e6);
  f->Maybe("finalists", &s->finalists).In(0, 1000);
  // AutoTVM's timing needs both of its counts, or neither.
  const bool blocks = !f->reading() && (m->number != 0 || m->repeat != 0);
  f->Maybe("number", &m->number).In(blocks, 1'000'000);
  f->Maybe("repeat", &m->repeat).In(blocks, 100'000);
  f->Maybe("min_repeat_ms", &m->min_repeat_ms).In(0, 1e6);
  f->Check(blocks || f->reading() || m->min_repeat_ms == 0, "goes with `number` or `repeat`");
  f->Maybe("cooldown", &m->cooldown).In(0, 3600);
}

void ListFields(Fields* f, TaskWeight* w) {
  f->Value("name", &w->name);
  f->Value("weight", &w->weight).In(0, kMostWeight);
}

void ListFields(Fields* f, ModelFile* m) { HONE_VALUES(f, m->file, m->digest); }

void ListFields(Fields* f, SketchFile* s) { HONE_VALUES(f, s->file, s->text); }

static void ListFields(Fields* f, TuneSettings* s) {
  f->Version(kSettingsVersion);
  ListTuneKeys(f, s);
  f->Maybe("sketches", &s->sketches, !s->sketches.empty());
  f->Maybe("model", &s->model, !s->model.file.empty());
  f->Maybe("weights", &s->weights, !s->weights.empty());
  f->MaybeObject("numerics", [s](Fields* n) {
    n->Maybe("winograd", &s->winograd)
        .Check(s->winograd == 0 || s->winograd == 2 || s->winograd == 4 || s->winograd == 6,
               fmt::format("must be \"off\", 2, 4 or 6, is {}", s->winograd));
    n->Maybe("tf32", &s->tf32, s->tf32);
  });
  f->MaybeObject("measure", [s](Fields* m) { ListMeasureKeys(m, s); });
}

void ListFields(Fields* f, BenchSettings* s) {
  f->Version(kSettingsVersion);
  f->Maybe("processes", &s->processes).In(1, 1000);
  f->Maybe("iterations", &s->iterations).In(1, kMaxCount);
  f->Maybe("warmup", &s->warmup).In(0, kMaxCount);
  f->Maybe("seed", &s->seed);
}

std::string TuneSettingsText(const TuneSettings& settings) { return FieldsText(settings); }
std::string BenchSettingsText(const BenchSettings& settings) { return FieldsText(settings); }

Result<TuneSettings> ParseTuneSettings(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(TuneSettings settings, ParseFields<TuneSettings>(text, path));
  const std::string problem = CheckValues(settings);  // checks fields that depend on each other
  if (!problem.empty()) return Status::Invalid(path + ": " + problem);
  return settings;
}

Result<BenchSettings> ParseBenchSettings(std::string_view text, const std::string& path) {
  return ParseFields<BenchSettings>(text, path);
}

Result<TuneSettings> ReadTuneSettings(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTuneSettings(text, path);
}

Result<BenchSettings> ReadBenchSettings(const std::string& path) { return ReadFields<BenchSettings>(path); }

TuneSettings WithoutTotal(const TuneSettings& settings) {
  const TuneSettings plain;
  TuneSettings own = settings;
  own.trials_total = plain.trials_total, own.seconds_total = plain.seconds_total, own.target_ms = plain.target_ms;
  own.rounds = plain.rounds, own.share = plain.share, own.objective = plain.objective, own.weights = plain.weights;
  return own;
}

bool LargerBudget(const TuneSettings& a, const TuneSettings& b) {
  const auto limit = [](double x) { return x == 0 ? std::numeric_limits<double>::infinity() : x; };
  if (a.trials != b.trials) return a.trials > b.trials;
  if (a.seconds != b.seconds) return limit(a.seconds) > limit(b.seconds);
  return limit(static_cast<double>(a.early_stop)) > limit(static_cast<double>(b.early_stop));
}

std::string CheckValues(const TuneSettings& settings) { return FieldsProblem(settings); }
std::string CheckValues(const BenchSettings& settings) { return FieldsProblem(settings); }

}  // namespace hone::pipeline
