// The result of hone-bench: bench/NET.TARGET.json. Format (version 1); times are seconds, rates FLOP/s:
//   {"version": 1, "network": "resnet-18", "target": "cpu -triple=...", "batch": 1, "threads": 2,
//    "host": "...", "cpu": "...", "fingerprint": "...", "recorded": "2026-11-21T10:00:00Z", "peak_flops": 2.1e11,
//    "verification": {"max_error": 3e-7, "tolerance": 1e-4, "ok": true},
//    "libraries": [{"role": "tuned", "dir": "out/resnet18.cpu", "name": "resnet18", "digest": "...",
//                   "latency": {"median": .., "p10": .., "p90": .., "min": ..},
//                   "processes": [[0.0121, 0.0119, ..], ..],
//                   "layers": [{"node": "conv1", "workload": "conv2d(...) + bias + relu", "task": "conv2d-..",
//                               "source": "tuned", "seconds": .., "flop": .., "share": ..}, ..]}, ..],
//    "kernel_sum_seconds": .., "predicted_ratio": .., "kernels": {"recorded_seconds": .., "layer_seconds": ..}}
// `batch` is missing if no operator has a batch axis. `layout` follows it unless it is blocked. `kernels` and `inputs`
// are optional, as are a library's `pace` (as many samples as `processes`), `start_seconds`, `resident_bytes` and
// `with_copies`. The last has "latency" and "processes" of a library on a device, for runs that begin and end in the
// host's memory; the library's own ones have their data on the device. `latency`, `share` and `predicted_ratio` are
// derived, for other programs; a file in which they do not match is rejected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::report {

struct Latency {
  double median = 0, p10 = 0, p90 = 0, min = 0;  // seconds; 0 without samples
};

Latency LatencyOf(const std::vector<double>& samples);  // by QuantileLinear

struct BenchLayer {
  std::string node;      // its name in the graph
  std::string workload;  // canonical text
  std::string task;      // id; empty if the layer has nothing to tune
  std::string source;    // "tuned", "anchor", "default": of its configuration; "fixed" if there is nothing to tune
  double seconds = 0;    // median over the profiled runs
  int64_t flop = 0;
};

enum class BenchRole {
  kTuned,    // "tuned"
  kUntuned,  // "untuned": the baseline, every template's default
};

struct BenchLibrary {
  BenchRole role = BenchRole::kTuned;
  std::string dir;                             // as given to hone-bench
  std::string name;                            // libNAME.so, NAME.h
  std::string digest;                          // the library's
  std::vector<std::vector<double>> processes;  // all samples of each fresh process, in order
  std::vector<std::vector<double>> pace;       // of the other library: run beside each of them, in turns; may be empty
  std::vector<std::vector<double>> copies;     // on a device: the same with copies from and to it; else empty
  std::vector<BenchLayer> layers;              // in the order in which they run; empty if it was not profiled
  // From opening the library to the end of its first run, median of the processes; 0: unknown.
  double start_seconds = 0;
  int64_t resident_bytes = 0;  // memory of the process for it, including parameters, median as well; 0: unknown

  std::vector<double> Samples() const;  // all processes' samples
  Latency latency() const { return LatencyOf(Samples()); }
  Latency latency_with_copies() const;
  double LayerSeconds() const;  // sum over the layers
};

struct Verification {
  double max_error = 0;  // largest difference from the reference, relative to the reference's standard deviation.
                         // Infinity if the output is not a number; the file then holds null
  double tolerance = 0;  // the largest allowed max_error
  bool ok = false;
};

// The layers of the tuned library whose kernels have records; each kernel counts as often as it is used.
struct KernelSum {
  double recorded_seconds = 0;  // medians of tuning
  double layer_seconds = 0;     // medians of the same layers, profiled in the network
};

struct BenchFile {
  std::string network, target;  // as in the task list
  int64_t batch = 0;            // images in a run; 0: the network has no batch axis
  std::string layout;           // of the network (kLayoutNames); empty: blocked
  int threads = 1;
  std::string host, cpu, fingerprint;
  std::string recorded;                 // ISO 8601
  std::string inputs;                   // digest of all that was measured, and how; empty: unknown
  double peak_flops = 0;                // fused multiply-adds of all threads, measured in the same run; 0: unknown
  double peak_bytes = 0;                // the same for products of bytes by dot4; 0: unknown, or no layer has them
  Verification verification;            // for all libraries
  std::vector<BenchLibrary> libraries;  // at most one per role, always a tuned one
  // The prediction from tuning: the sum of the recorded medians of the tuned kernels, each times its uses, and of the
  // profiled times of layers without records; 0: unknown.
  double kernel_sum_seconds = 0;
  KernelSum kernels;  // the part that is comparable with the network; zeros: unknown

  const BenchLibrary* Find(BenchRole role) const;
  // The peak that applies to a workload's kernel: that of bytes if it multiplies bytes. 0: unknown.
  double PeakOf(const std::string& workload) const;
  std::string What() const;       // "resnet-18, batch 1, nhwc, 2 threads"
  double PredictedRatio() const;  // kernel_sum_seconds / the tuned library's median; 0: unknown
};

// Ends with a newline. REQUIRES: finite numbers, except max_error.
std::string BenchFileText(const BenchFile& bench);

// Returns kInvalid with `path` and the place for a syntax error, a missing or unknown key, a repeated role, no tuned
// library, a library without samples, a time that is not above 0, or a newer version.
Result<BenchFile> ParseBenchFile(std::string_view text, const std::string& path);
Result<BenchFile> ReadBenchFile(const std::string& path);

}  // namespace hone::report
