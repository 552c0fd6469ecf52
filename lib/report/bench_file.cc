#include "report/bench_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/counted.h"
#include "base/fields.h"
#include "base/statistics.h"
#include "semantics/semantics.h"

namespace hone::report {
namespace {

constexpr int64_t kVersion = 1;
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

// Whether a derived figure matches, except for rounding.
bool Follows(double found, double figure) { return std::abs(found - figure) <= 1e-9 * std::abs(figure); }

}  // namespace

static void ListFields(Fields* f, Latency* latency) {
  HONE_VALUES(f, latency->median, latency->p10, latency->p90, latency->min);
}

// The samples of one kind of run, and the figures derived from them.
static void ListRuns(Fields* f, std::vector<std::vector<double>>* processes) {
  Latency found = LatencyOf(Joined(*processes));
  f->Value("latency", &found);
  f->Value("processes", processes).Check(!processes->empty(), "must hold at least one process");
  for (const std::vector<double>& samples : *processes) {
    f->Check(!samples.empty(), "a process without a sample");
    f->Check(std::ranges::all_of(samples, [](double s) { return s > 0; }), "a sample must be above 0 seconds");
  }
  const Latency latency = LatencyOf(Joined(*processes));
  for (const auto& [name, value, figure] : {std::tuple{"median", found.median, latency.median},
                                            {"p10", found.p10, latency.p10},
                                            {"p90", found.p90, latency.p90},
                                            {"min", found.min, latency.min}}) {
    if (Follows(value, figure)) continue;
    f->Fail("latency", fmt::format("{} {} does not follow from the samples, which give {}", name, value, figure));
  }
}

static void ListFields(Fields* f, BenchLayer* layer) {
  HONE_VALUES(f, layer->node, layer->workload, layer->task, layer->source);
  const bool known = std::ranges::find(kSources, layer->source) != std::end(kSources);
  f->Check(known, fmt::format("expected tuned, anchor, default or fixed, found `{}`", layer->source));
  f->Value("seconds", &layer->seconds).AtLeast(0);
  f->Value("flop", &layer->flop).AtLeast(0);
}

static void ListFields(Fields* f, BenchLibrary* library) {
  f->Choice("role", &library->role, {{BenchRole::kTuned, "tuned"}, {BenchRole::kUntuned, "untuned"}});
  HONE_VALUES(f, library->dir, library->name, library->digest);
  ListRuns(f, &library->processes);
  f->Maybe("pace", &library->pace, !library->pace.empty());
  const auto size = [](const std::vector<double>& samples) { return samples.size(); };
  f->Check(library->pace.empty() || std::ranges::equal(library->pace, library->processes, {}, size, size),
           "`pace` has other numbers of samples than `processes`");
  for (const std::vector<double>& samples : library->pace) {
    f->Check(std::ranges::all_of(samples, [](double s) { return s > 0; }), "a sample must be above 0 seconds");
  }
  std::vector<double> shares;
  f->List("layers", &library->layers, [&](Fields* item, BenchLayer* layer) {
    ListFields(item, layer);
    shares.push_back(Share(*library, *layer));
    item->Value("share", &shares.back());
  });
  for (size_t i = 0; i < shares.size() && f->status().ok(); ++i) {
    const double share = Share(*library, library->layers[i]);
    f->Check(Follows(shares[i], share), fmt::format("the share of layer {} does not follow: it is {}", i, share));
  }
  f->MaybeObject(
      "with_copies", [library](Fields* c) { ListRuns(c, &library->copies); }, !library->copies.empty());
  f->Maybe("start_seconds", &library->start_seconds, library->start_seconds > 0);
  f->Maybe("resident_bytes", &library->resident_bytes, library->resident_bytes > 0);
}

static void ListFields(Fields* f, Verification* v) {
  if (f->reading()) v->max_error = std::numeric_limits<double>::infinity();
  f->Maybe("max_error", &v->max_error);
  HONE_VALUES(f, v->tolerance, v->ok);
}

static void ListFields(Fields* f, BenchFile* bench) {
  f->Version(kVersion);
  HONE_VALUES(f, bench->network, bench->target);
  f->Maybe("batch", &bench->batch, bench->batch != 0).AtLeast(1);
  f->Maybe("layout", &bench->layout, !bench->layout.empty());
  f->Value("threads", &bench->threads).AtLeast(1);
  HONE_VALUES(f, bench->host, bench->cpu, bench->fingerprint, bench->recorded);
  f->Maybe("inputs", &bench->inputs, !bench->inputs.empty());
  f->Value("peak_flops", &bench->peak_flops).AtLeast(0);
  f->Maybe("peak_bytes", &bench->peak_bytes, bench->peak_bytes > 0).AtLeast(0);
  f->Value("verification", &bench->verification);
  f->List("libraries", &bench->libraries, [bench](Fields* item, BenchLibrary* library) {
    ListFields(item, library);
    if (bench->Find(library->role) != library) item->Fail("role", "another library has this role");
  });
  f->Check(bench->Find(BenchRole::kTuned) != nullptr, "no library has the role `tuned`");
  f->Value("kernel_sum_seconds", &bench->kernel_sum_seconds).AtLeast(0);
  double ratio = bench->PredictedRatio();
  f->Value("predicted_ratio", &ratio);
  f->Check(Follows(ratio, bench->PredictedRatio()),
           fmt::format("{} does not follow from the rest, which gives {}", ratio, bench->PredictedRatio()));
  f->MaybeObject("kernels",
                 [bench](Fields* k) { HONE_VALUES(k, bench->kernels.recorded_seconds, bench->kernels.layer_seconds); });
}

double BenchFile::PeakOf(const std::string& workload) const {
  const Result<Workload> parsed = Workload::Parse(workload);
  if (!parsed.ok()) return peak_flops;
  const auto of_bytes = [](const Workload& part) {
    const semantics::Definition* d = semantics::Find(part.op);
    return d != nullptr && d->layer && !part.inputs.empty() && part.inputs[0].type.bits == 8;
  };
  return std::ranges::any_of(parsed->Parts(), of_bytes) ? peak_bytes : peak_flops;
}

Latency LatencyOf(const std::vector<double>& samples) {
  return {QuantileLinear(samples, 0.5), QuantileLinear(samples, 0.1), QuantileLinear(samples, 0.9),
          QuantileLinear(samples, 0)};
}

std::vector<double> BenchLibrary::Samples() const { return Joined(processes); }

Latency BenchLibrary::latency_with_copies() const { return LatencyOf(Joined(copies)); }

double BenchLibrary::LayerSeconds() const {
  double sum = 0;
  for (const BenchLayer& layer : layers) sum += layer.seconds;
  return sum;
}

const BenchLibrary* BenchFile::Find(BenchRole role) const {
  const auto found = std::ranges::find(libraries, role, &BenchLibrary::role);
  return found == libraries.end() ? nullptr : &*found;
}

std::string BenchFile::What() const {
  const std::string images = batch > 0 ? fmt::format(", batch {}", batch) : "";
  return fmt::format("{}{}{}{}, {}", network, images, layout.empty() ? "" : ", ", layout, Counted(threads, "thread"));
}

double BenchFile::PredictedRatio() const {
  const BenchLibrary* tuned = Find(BenchRole::kTuned);
  const double median = tuned == nullptr ? 0 : tuned->latency().median;
  return median > 0 ? kernel_sum_seconds / median : 0;
}

std::string BenchFileText(const BenchFile& bench) { return FieldsText(bench); }

Result<BenchFile> ParseBenchFile(std::string_view text, const std::string& path) {
  return ParseFields<BenchFile>(text, path);
}

Result<BenchFile> ReadBenchFile(const std::string& path) { return ReadFields<BenchFile>(path); }

}  // namespace hone::report
