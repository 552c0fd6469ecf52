#include "pipeline/settings.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kSettingsVersion = 1;

// The limits keep every sum of seconds and counts far from overflow.
constexpr double kMaxSeconds = 1e8;
constexpr int64_t kMaxCount = 1'000'000'000;

template <typename T>
std::string OutOfRange(const char* key, T value, T low, T high) {
  if (value >= low && value <= high) return "";
  if (value < low) return fmt::format("{}: must be at least {}, is {}", key, low, value);
  return fmt::format("{}: must be at most {}, is {}", key, high, value);
}

std::string NotPositive(const char* key, double value) {
  if (value > 0 && value <= kMaxSeconds) return "";
  return fmt::format("{}: must be above 0 and at most {:.0f} seconds, is {}", key, kMaxSeconds, value);
}

std::string First(std::initializer_list<std::string> problems) {
  for (const std::string& problem : problems) {
    if (!problem.empty()) return problem;
  }
  return "";
}

Status ReadSeed(JsonReader* reader, uint64_t* seed) {
  int64_t value = static_cast<int64_t>(*seed);
  HONE_RETURN_IF_ERROR(reader->ReadOptional("seed", &value));
  if (value < 0) return reader->Error("seed", "must be at least 0");
  *seed = static_cast<uint64_t>(value);
  return Status::Ok();
}

Status ReadMeasure(JsonReader* reader, TuneSettings* settings) {
  Protocol* measure = &settings->measure;
  HONE_RETURN_IF_ERROR(reader->ReadOptional("candidate_seconds", &measure->candidate_seconds));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("timeout_seconds", &measure->timeout_seconds));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("prune_factor", &measure->prune_factor));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("finalists", &settings->finalists));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("number", &measure->number));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("repeat", &measure->repeat));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("min_repeat_ms", &measure->min_repeat_ms));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("cooldown", &measure->cooldown));
  return reader->Finish();
}

// AutoTVM's way of timing is chosen by both of its counts, or not at all.
std::string CheckBlocks(const Protocol& measure) {
  if (measure.number == 0 && measure.repeat == 0) {
    return measure.min_repeat_ms > 0 ? "min_repeat_ms: goes with `number` or `repeat`" : "";
  }
  return First({OutOfRange<int64_t>("number", measure.number, 1, 1'000'000),
                OutOfRange<int64_t>("repeat", measure.repeat, 1, 100'000)});
}

Status CheckedBy(const std::string& problem, const std::string& path) {
  return problem.empty() ? Status::Ok() : Status::Invalid(path + ": " + problem);
}

}  // namespace

std::string NumericsFlags(int64_t winograd, bool tf32) {
  std::string flags;
  if (winograd != TuneSettings().winograd) {
    flags = "--winograd " + (winograd == 0 ? std::string("off") : std::to_string(winograd));
  }
  if (tf32) flags += flags.empty() ? "--tf32" : " --tf32";
  return flags;
}

std::string TuneSettingsText(const TuneSettings& settings) {
  const Protocol& measure = settings.measure;
  Json json = {{"version", kSettingsVersion},
               {"tuner", settings.tuner},
               {"trials", settings.trials},
               {"seconds", settings.seconds},
               {"trials_total", settings.trials_total},
               {"early_stop", settings.early_stop},
               {"expected_gain", settings.expected_gain},
               {"like", settings.like},
               {"seed", settings.seed},
               {"numerics", {{"winograd", settings.winograd}}},
               {"measure",
                {{"candidate_seconds", measure.candidate_seconds},
                 {"timeout_seconds", measure.timeout_seconds},
                 {"prune_factor", measure.prune_factor},
                 {"finalists", settings.finalists},
                 {"number", measure.number},
                 {"repeat", measure.repeat},
                 {"min_repeat_ms", measure.min_repeat_ms},
                 {"cooldown", measure.cooldown}}}};
  if (settings.tf32) json["numerics"]["tf32"] = true;
  return DumpJson(json);
}

std::string BenchSettingsText(const BenchSettings& settings) {
  Json json = {{"version", kSettingsVersion},
               {"processes", settings.processes},
               {"iterations", settings.iterations},
               {"warmup", settings.warmup},
               {"seed", settings.seed}};
  return DumpJson(json);
}

Result<TuneSettings> ParseTuneSettings(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  TuneSettings settings;
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kSettingsVersion));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("tuner", &settings.tuner));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("trials", &settings.trials));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("seconds", &settings.seconds));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("early_stop", &settings.early_stop));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("trials_total", &settings.trials_total));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("expected_gain", &settings.expected_gain));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("like", &settings.like));
  HONE_RETURN_IF_ERROR(ReadSeed(&reader, &settings.seed));
  if (reader.Has("numerics")) {
    JsonReader numerics;
    HONE_RETURN_IF_ERROR(reader.Read("numerics", &numerics));
    HONE_RETURN_IF_ERROR(numerics.ReadOptional("winograd", &settings.winograd));
    HONE_RETURN_IF_ERROR(numerics.ReadOptional("tf32", &settings.tf32));
    HONE_RETURN_IF_ERROR(numerics.Finish());
  }
  if (reader.Has("measure")) {
    JsonReader measure;
    HONE_RETURN_IF_ERROR(reader.Read("measure", &measure));
    HONE_RETURN_IF_ERROR(ReadMeasure(&measure, &settings));
  }
  HONE_RETURN_IF_ERROR(reader.Finish());
  HONE_RETURN_IF_ERROR(CheckedBy(CheckValues(settings), path));
  return settings;
}

Result<BenchSettings> ParseBenchSettings(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  BenchSettings settings;
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kSettingsVersion));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("processes", &settings.processes));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("iterations", &settings.iterations));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("warmup", &settings.warmup));
  HONE_RETURN_IF_ERROR(ReadSeed(&reader, &settings.seed));
  HONE_RETURN_IF_ERROR(reader.Finish());
  HONE_RETURN_IF_ERROR(CheckedBy(CheckValues(settings), path));
  return settings;
}

Result<TuneSettings> ReadTuneSettings(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTuneSettings(text, path);
}

Result<BenchSettings> ReadBenchSettings(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseBenchSettings(text, path);
}

bool LargerBudget(const TuneSettings& a, const TuneSettings& b) {
  const auto limit = [](double x) { return x == 0 ? std::numeric_limits<double>::infinity() : x; };
  if (a.trials != b.trials) return a.trials > b.trials;
  if (a.seconds != b.seconds) return limit(a.seconds) > limit(b.seconds);
  return limit(static_cast<double>(a.early_stop)) > limit(static_cast<double>(b.early_stop));
}

std::string CheckValues(const TuneSettings& settings) {
  const Protocol& measure = settings.measure;
  const bool cap = settings.winograd == 0 || settings.winograd == 2 || settings.winograd == 4 || settings.winograd == 6;
  const std::vector<std::string> systems = {"autotvm"};
  return First({settings.tuner.empty() ? "tuner: must not be empty" : "",
                settings.like.empty() || settings.like == systems[0]
                    ? ""
                    : fmt::format("like: knows no `{}`{}", settings.like, SuggestionText(settings.like, systems)),
                cap ? "" : fmt::format("winograd: must be \"off\", 2, 4 or 6, is {}", settings.winograd),
                OutOfRange("expected_gain", settings.expected_gain, 0.0, 1.0),
                OutOfRange<int64_t>("trials_total", settings.trials_total, 0, kMaxCount),
                OutOfRange<int64_t>("trials", settings.trials, 1, kMaxCount),
                OutOfRange("seconds", settings.seconds, 0.0, kMaxSeconds),
                OutOfRange<int64_t>("early_stop", settings.early_stop, 0, kMaxCount),
                NotPositive("candidate_seconds", measure.candidate_seconds),
                NotPositive("timeout_seconds", measure.timeout_seconds),
                measure.prune_factor == 0 ? "" : OutOfRange("prune_factor", measure.prune_factor, 1.0, 1e6),
                OutOfRange<int64_t>("finalists", settings.finalists, 0, 1000), CheckBlocks(measure),
                OutOfRange("min_repeat_ms", measure.min_repeat_ms, 0.0, 1e6),
                OutOfRange("cooldown", measure.cooldown, 0.0, 3600.0)});
}

std::string CheckValues(const BenchSettings& settings) {
  return First({OutOfRange<int64_t>("processes", settings.processes, 1, 1000),
                OutOfRange<int64_t>("iterations", settings.iterations, 1, kMaxCount),
                OutOfRange<int64_t>("warmup", settings.warmup, 0, kMaxCount)});
}

}  // namespace hone::pipeline
