#include "report/bench_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"

namespace hone::report {
namespace {

constexpr int64_t kVersion = 1;
constexpr BenchRole kRoles[] = {BenchRole::kTuned, BenchRole::kUntuned};
constexpr const char* kSources[] = {"tuned", "anchor", "default", "fixed"};

double Share(const BenchLibrary& library, const BenchLayer& layer) {
  const double all = library.LayerSeconds();
  return all > 0 ? layer.seconds / all : 0;
}

std::vector<double> Joined(const std::vector<std::vector<double>>& processes) {
  std::vector<double> all;
  for (const std::vector<double>& samples : processes) all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

Json LatencyJson(const Latency& latency) {
  return {{"median", latency.median}, {"p10", latency.p10}, {"p90", latency.p90}, {"min", latency.min}};
}

Json LibraryJson(const BenchLibrary& library) {
  Json layers = Json::array();
  for (const BenchLayer& layer : library.layers) {
    layers.push_back({{"node", layer.node},
                      {"workload", layer.workload},
                      {"task", layer.task},
                      {"source", layer.source},
                      {"seconds", layer.seconds},
                      {"flop", layer.flop},
                      {"share", Share(library, layer)}});
  }
  Json json = {{"role", BenchRoleName(library.role)},
               {"dir", library.dir},
               {"name", library.name},
               {"digest", library.digest},
               {"latency", LatencyJson(library.latency())},
               {"processes", library.processes},
               {"layers", std::move(layers)}};
  if (!library.copies.empty()) {
    json["with_copies"] = {{"latency", LatencyJson(library.latency_with_copies())}, {"processes", library.copies}};
  }
  if (library.start_seconds > 0) json["start_seconds"] = library.start_seconds;
  if (library.resident_bytes > 0) json["resident_bytes"] = library.resident_bytes;
  return json;
}

// Reads a figure that follows from others: it is `expected`, but for rounding.
Status ReadDerived(JsonReader* reader, const std::string& key, double expected) {
  double value = 0;
  HONE_RETURN_IF_ERROR(reader->Read(key, &value));
  if (std::abs(value - expected) <= 1e-9 * std::abs(expected)) return Status();
  return reader->Error(key, fmt::format("{} does not follow from the samples, which give {}", value, expected));
}

Result<BenchLayer> ReadLayer(JsonReader* reader) {
  BenchLayer layer;
  HONE_RETURN_IF_ERROR(reader->Read("node", &layer.node));
  HONE_RETURN_IF_ERROR(reader->Read("workload", &layer.workload));
  HONE_RETURN_IF_ERROR(reader->Read("task", &layer.task));
  HONE_RETURN_IF_ERROR(reader->Read("source", &layer.source));
  HONE_RETURN_IF_ERROR(reader->Read("seconds", &layer.seconds));
  HONE_RETURN_IF_ERROR(reader->Read("flop", &layer.flop));
  if (std::find(std::begin(kSources), std::end(kSources), layer.source) == std::end(kSources)) {
    return reader->Error("source", fmt::format("expected tuned, anchor, default or fixed, found `{}`", layer.source));
  }
  if (layer.seconds < 0) return reader->Error("seconds", "must be at least 0");
  if (layer.flop < 0) return reader->Error("flop", "must be at least 0");
  return layer;
}

Status ReadProcesses(JsonReader* reader, std::vector<std::vector<double>>* out) {
  std::vector<JsonReader> processes;
  HONE_RETURN_IF_ERROR(reader->Read("processes", &processes));
  for (const JsonReader& process : processes) {
    const Json& list = process.value();
    if (!list.is_array()) return process.Error("", "expected a list of samples");
    std::vector<double> samples;
    for (const Json& sample : list) {
      if (!sample.is_number()) return process.Error("", "expected numbers");
      samples.push_back(sample.get<double>());
    }
    if (samples.empty()) return process.Error("", "a process without a sample");
    for (const double seconds : samples) {
      if (!(seconds > 0)) return process.Error("", fmt::format("a sample of {} seconds; must be above 0", seconds));
    }
    out->push_back(std::move(samples));
  }
  if (out->empty()) return reader->Error("processes", "must hold at least one process");
  return Status();
}

Status ReadLatency(JsonReader* reader, const Latency& expected) {
  JsonReader latency;
  HONE_RETURN_IF_ERROR(reader->Read("latency", &latency));
  HONE_RETURN_IF_ERROR(ReadDerived(&latency, "median", expected.median));
  HONE_RETURN_IF_ERROR(ReadDerived(&latency, "p10", expected.p10));
  HONE_RETURN_IF_ERROR(ReadDerived(&latency, "p90", expected.p90));
  HONE_RETURN_IF_ERROR(ReadDerived(&latency, "min", expected.min));
  return latency.Finish();
}

Result<BenchLibrary> ReadLibrary(JsonReader* reader) {
  BenchLibrary library;
  std::string role;
  HONE_RETURN_IF_ERROR(reader->Read("role", &role));
  bool known = false;
  for (const BenchRole value : kRoles) {
    if (role != BenchRoleName(value)) continue;
    library.role = value;
    known = true;
  }
  if (!known) return reader->Error("role", fmt::format("expected tuned or untuned, found `{}`", role));
  HONE_RETURN_IF_ERROR(reader->Read("dir", &library.dir));
  HONE_RETURN_IF_ERROR(reader->Read("name", &library.name));
  HONE_RETURN_IF_ERROR(reader->Read("digest", &library.digest));
  HONE_RETURN_IF_ERROR(ReadProcesses(reader, &library.processes));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("start_seconds", &library.start_seconds));
  HONE_RETURN_IF_ERROR(reader->ReadOptional("resident_bytes", &library.resident_bytes));
  HONE_RETURN_IF_ERROR(ReadLatency(reader, library.latency()));
  if (reader->Has("with_copies")) {
    JsonReader copies;
    HONE_RETURN_IF_ERROR(reader->Read("with_copies", &copies));
    HONE_RETURN_IF_ERROR(ReadProcesses(&copies, &library.copies));
    HONE_RETURN_IF_ERROR(ReadLatency(&copies, library.latency_with_copies()));
    HONE_RETURN_IF_ERROR(copies.Finish());
  }
  std::vector<JsonReader> layers;
  HONE_RETURN_IF_ERROR(reader->Read("layers", &layers));
  for (JsonReader& layer : layers) {
    HONE_ASSIGN_OR_RETURN(BenchLayer read, ReadLayer(&layer));
    library.layers.push_back(std::move(read));
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    HONE_RETURN_IF_ERROR(ReadDerived(&layers[i], "share", Share(library, library.layers[i])));
    HONE_RETURN_IF_ERROR(layers[i].Finish());
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  return library;
}

}  // namespace

Latency LatencyOf(const std::vector<double>& samples) {
  return {QuantileLinear(samples, 0.5), QuantileLinear(samples, 0.1), QuantileLinear(samples, 0.9),
          QuantileLinear(samples, 0)};
}

const char* BenchRoleName(BenchRole role) { return role == BenchRole::kTuned ? "tuned" : "untuned"; }

std::vector<double> BenchLibrary::Samples() const { return Joined(processes); }

Latency BenchLibrary::latency_with_copies() const { return LatencyOf(Joined(copies)); }

double BenchLibrary::LayerSeconds() const {
  double sum = 0;
  for (const BenchLayer& layer : layers) sum += layer.seconds;
  return sum;
}

const BenchLibrary* BenchFile::Find(BenchRole role) const {
  for (const BenchLibrary& library : libraries) {
    if (library.role == role) return &library;
  }
  return nullptr;
}

std::string BenchFile::What() const {
  const std::string images = batch > 0 ? fmt::format(", batch {}", batch) : "";
  return fmt::format("{}{}, {} thread{}", network, images, threads, threads == 1 ? "" : "s");
}

double BenchFile::PredictedRatio() const {
  const BenchLibrary* tuned = Find(BenchRole::kTuned);
  const double median = tuned == nullptr ? 0 : tuned->latency().median;
  return median > 0 ? kernel_sum_seconds / median : 0;
}

std::string BenchFileText(const BenchFile& bench) {
  Json libraries = Json::array();
  for (const BenchLibrary& library : bench.libraries) libraries.push_back(LibraryJson(library));
  const Verification& v = bench.verification;
  Json json =
      Json{{"version", kVersion},
           {"network", bench.network},
           {"target", bench.target},
           {"batch", bench.batch},
           {"threads", bench.threads},
           {"host", bench.host},
           {"cpu", bench.cpu},
           {"fingerprint", bench.fingerprint},
           {"recorded", bench.recorded},
           {"peak_flops", bench.peak_flops},
           {"verification",
            {{"max_error", std::isfinite(v.max_error) ? Json(v.max_error) : Json()},
             {"tolerance", v.tolerance},
             {"ok", v.ok}}},
           {"libraries", std::move(libraries)},
           {"kernel_sum_seconds", bench.kernel_sum_seconds},
           {"predicted_ratio", bench.PredictedRatio()},
           {"kernels",
            {{"recorded_seconds", bench.kernels.recorded_seconds}, {"layer_seconds", bench.kernels.layer_seconds}}}};
  if (bench.batch == 0) json.erase("batch");
  return DumpJson(json);
}

Result<BenchFile> ParseBenchFile(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kVersion));
  BenchFile bench;
  JsonReader verification;
  std::vector<JsonReader> libraries;
  HONE_RETURN_IF_ERROR(reader.Read("network", &bench.network));
  HONE_RETURN_IF_ERROR(reader.Read("target", &bench.target));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("batch", &bench.batch));
  HONE_RETURN_IF_ERROR(reader.Read("threads", &bench.threads));
  HONE_RETURN_IF_ERROR(reader.Read("host", &bench.host));
  HONE_RETURN_IF_ERROR(reader.Read("cpu", &bench.cpu));
  HONE_RETURN_IF_ERROR(reader.Read("fingerprint", &bench.fingerprint));
  HONE_RETURN_IF_ERROR(reader.Read("recorded", &bench.recorded));
  HONE_RETURN_IF_ERROR(reader.Read("peak_flops", &bench.peak_flops));
  HONE_RETURN_IF_ERROR(reader.Read("verification", &verification));
  bench.verification.max_error = std::numeric_limits<double>::infinity();
  HONE_RETURN_IF_ERROR(verification.ReadOptional("max_error", &bench.verification.max_error));
  HONE_RETURN_IF_ERROR(verification.Read("tolerance", &bench.verification.tolerance));
  HONE_RETURN_IF_ERROR(verification.Read("ok", &bench.verification.ok));
  HONE_RETURN_IF_ERROR(verification.Finish());
  HONE_RETURN_IF_ERROR(reader.Read("kernel_sum_seconds", &bench.kernel_sum_seconds));
  if (reader.Has("batch") && bench.batch < 1) return reader.Error("batch", "must be at least 1");
  if (bench.threads < 1) return reader.Error("threads", "must be at least 1");
  if (bench.peak_flops < 0) return reader.Error("peak_flops", "must be at least 0");
  if (bench.kernel_sum_seconds < 0) return reader.Error("kernel_sum_seconds", "must be at least 0");
  HONE_RETURN_IF_ERROR(reader.Read("libraries", &libraries));
  for (JsonReader& library : libraries) {
    HONE_ASSIGN_OR_RETURN(BenchLibrary read, ReadLibrary(&library));
    if (bench.Find(read.role) != nullptr) return library.Error("role", "there is one before it");
    bench.libraries.push_back(std::move(read));
  }
  if (bench.Find(BenchRole::kTuned) == nullptr) return reader.Error("libraries", "there is no tuned one");
  HONE_RETURN_IF_ERROR(ReadDerived(&reader, "predicted_ratio", bench.PredictedRatio()));
  if (reader.Has("kernels")) {
    JsonReader kernels;
    HONE_RETURN_IF_ERROR(reader.Read("kernels", &kernels));
    HONE_RETURN_IF_ERROR(kernels.Read("recorded_seconds", &bench.kernels.recorded_seconds));
    HONE_RETURN_IF_ERROR(kernels.Read("layer_seconds", &bench.kernels.layer_seconds));
    HONE_RETURN_IF_ERROR(kernels.Finish());
  }
  HONE_RETURN_IF_ERROR(reader.Finish());
  return bench;
}

Result<BenchFile> ReadBenchFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseBenchFile(text, path);
}

}  // namespace hone::report
