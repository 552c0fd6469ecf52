#include "library/time_network.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/load_meter.h"
#include "base/statistics.h"
#include "graph/graph.h"
#include "library/network_runner.h"
#include "library/quiet_runs.h"
#include "library/reference.h"
#include "library/tensor_fields.h"
#include "plugin/plugin.h"
#include "runtime/host/peak.h"

namespace hone::library {
namespace {

// The resident memory of this process, including mapped files. 0 if unknown.
int64_t ResidentBytes() {
  const Result<std::string> text = ReadFile("/proc/self/statm");
  long long size = 0, resident = 0;
  if (!text.ok() || std::sscanf(text->c_str(), "%lld %lld", &size, &resident) != 2) return 0;
  return static_cast<int64_t>(resident) * sysconf(_SC_PAGESIZE);
}

Status ProfileLayers(NetworkRunner* runner, int64_t runs, size_t layers, QuietRuns* quiet,
                     std::vector<double>* medians) {
  std::vector<std::vector<double>> samples(layers);
  std::vector<double> seconds(layers);
  for (int64_t i = 0; i < runs; ++i) {
    HONE_RETURN_IF_ERROR(quiet->Time([&] { return runner->Profile(seconds.data()); }).status());
    for (size_t layer = 0; layer < layers; ++layer) samples[layer].push_back(seconds[layer]);
  }
  for (const auto& layer : samples) medians->push_back(Median(layer));
  return Status();
}

constexpr size_t kLeastRuns = 5;

// Timed runs of one of the two libraries, after an untimed one.
Status TimeTurn(NetworkRunner* runner, QuietRuns* quiet, std::vector<double>* samples) {
  HONE_RETURN_IF_ERROR(runner->Run());
  for (size_t i = 0; i < kRunsOfTurn; ++i) {
    HONE_ASSIGN_OR_RETURN(samples->emplace_back(), quiet->Time([&] { return runner->Run(); }));
  }
  return Status();
}

// `pace` may be null.
Status TimeRuns(const TimeRequest& request, NetworkRunner* runner, NetworkRunner* pace, QuietRuns* quiet,
                TimeReply* reply) {
  Clock* clock = RealClock();
  LoadMeter load;
  load.Start();
  const double begin = clock->NowSeconds();
  for (bool pace_first = false;; pace_first = !pace_first) {
    if (pace == nullptr) {
      HONE_ASSIGN_OR_RETURN(reply->samples.emplace_back(), quiet->Time([&] { return runner->Run(); }));
    } else {
      if (pace_first) HONE_RETURN_IF_ERROR(TimeTurn(pace, quiet, &reply->pace));
      HONE_RETURN_IF_ERROR(TimeTurn(runner, quiet, &reply->samples));
      if (!pace_first) HONE_RETURN_IF_ERROR(TimeTurn(pace, quiet, &reply->pace));
    }
    const double spent = clock->NowSeconds() - begin - quiet->wasted_seconds();
    const size_t runs = reply->samples.size();
    if (runs >= static_cast<size_t>(request.iterations) && spent >= request.min_seconds) break;
    if (request.max_seconds > 0 && spent >= request.max_seconds && runs >= kLeastRuns) break;
  }
  reply->lost_seconds = load.Lost();
  return Status();
}

}  // namespace

Result<TimeReply> TimeNetwork(const TimeRequest& request) {
  HONE_ASSIGN_OR_RETURN(const LibraryFolder folder, ReadLibraryFolder(request.dir));
  HONE_ASSIGN_OR_RETURN(const graph::Graph graph, graph::ReadGraph(folder.GraphPath(), plugin::LoadNamed));
  const auto inputs = BenchInputs(graph, request.seed);
  Clock* clock = RealClock();
  const int64_t resident = ResidentBytes();
  const double start = clock->NowSeconds();
  const ThreadCores cores;
  TimeReply reply;
  {
    HONE_ASSIGN_OR_RETURN(const RunningNetwork subject, RunningNetwork::Start(folder, inputs));
    reply.start_seconds = clock->NowSeconds() - start;
    NetworkRunner& runner = *subject.runner;
    const HoneNetInfo& info = subject.net->info();
    reply.threads = info.threads;
    for (int i = 0; i < info.layer_count; ++i)
      reply.described.push_back({info.layers[i].name, info.layers[i].workload, info.layers[i].flop});
    if (request.outputs) reply.outputs = runner.Outputs();
    for (int64_t i = 1; i < request.warmup; ++i) HONE_RETURN_IF_ERROR(runner.Run());
    if (const int64_t now = ResidentBytes(); now > 0 && resident > 0) reply.resident_bytes = now - resident;
    RunningNetwork pace;
    if (!request.pace.empty()) {
      HONE_ASSIGN_OR_RETURN(const LibraryFolder other, ReadLibraryFolder(request.pace));
      cores.Restore();
      HONE_ASSIGN_OR_RETURN(pace, RunningNetwork::Start(other, inputs));
    }
    QuietRuns quiet(request.patience_seconds);
    HONE_RETURN_IF_ERROR(TimeRuns(request, &runner, pace.runner.get(), &quiet, &reply));
    for (int64_t i = 0; runner.OnDevice() && i < request.iterations; ++i) {
      const double before = clock->NowSeconds();
      HONE_RETURN_IF_ERROR(runner.RunWithCopies());
      reply.copies.push_back(clock->NowSeconds() - before);
    }
    // Only the first run is verified; a race between kernels or threads may appear only in a later one.
    if (runner.OnDevice() && request.outputs && runner.Outputs() != reply.outputs) {
      return Status::Corrupt("two runs on the same inputs gave different outputs: the kernels race");
    }
    if (request.profiled > 0) {
      HONE_RETURN_IF_ERROR(ProfileLayers(&runner, request.profiled, reply.described.size(), &quiet, &reply.layers));
    }
    reply.retaken = quiet.retaken();
  }
  if (request.peak_seconds <= 0) return reply;
  reply.peak_flops = runtime::MeasureFmaPeak(reply.threads, request.peak_seconds);
  const auto reads_bytes = [](const TimeReply::Layer& layer) {
    return layer.workload.find("(u8[") != std::string::npos || layer.workload.find("(i8[") != std::string::npos;
  };
  if (std::ranges::any_of(reply.described, reads_bytes)) {
    reply.peak_bytes = runtime::MeasureDot4Peak(reply.threads, request.peak_seconds);
  }
  return reply;
}

static void ListFields(Fields* f, TimeRequest* r) {
  HONE_VALUES(f, r->dir, r->pace, r->seed, r->warmup, r->iterations, r->min_seconds, r->max_seconds,
              r->patience_seconds, r->profiled, r->outputs, r->peak_seconds);
}

static void ListFields(Fields* f, TimeReply::Layer* layer) {
  HONE_VALUES(f, layer->name, layer->workload, layer->flop);
}

static void ListFields(Fields* f, TimeReply* r) {
  HONE_VALUES(f, r->samples, r->pace, r->copies, r->layers, r->outputs, r->peak_flops, r->peak_bytes, r->threads,
              r->start_seconds, r->lost_seconds, r->retaken, r->resident_bytes, r->described);
}

std::string RequestText(const TimeRequest& r) { return FieldsText(r, -1); }
Result<TimeRequest> ParseRequest(std::string_view text) { return ParseFields<TimeRequest>(text, "request"); }
std::string ReplyText(const TimeReply& r) { return FieldsText(r, -1); }
Result<TimeReply> ParseReply(std::string_view text) { return ParseFields<TimeReply>(text, "reply"); }

}  // namespace hone::library
