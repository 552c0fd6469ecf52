// A report of a small invented network for tests of lib/report.
#pragma once

#include "report/report_data.h"

namespace hone::report {

// An attack in the name of a node, a host or an error.
inline constexpr char kHostile[] = "</script><img src=x onerror=alert(1)>\"'&|`\x1b[31m\n\xff]]>";

// Tuned: two processes, median 10 ms; untuned 40 ms; peak 100 GFLOP/s; three layers of 5, 3 and 1 ms.
inline BenchFile SampleBench() {
  BenchFile bench;
  bench.network = "net";
  bench.target = "cpu -features=avx2";
  bench.batch = 1;
  bench.threads = 2;
  bench.host = "host";
  bench.cpu = "A CPU";
  bench.fingerprint = "cpu=A CPU";
  bench.recorded = "2026-11-21T10:00:00Z";
  bench.inputs = "0a1b";
  bench.peak_flops = 100e9;
  bench.verification = {2e-6, 1e-3, true};
  BenchLibrary tuned;
  tuned.dir = "out/net.cpu";
  tuned.name = "net";
  tuned.digest = "0123";
  tuned.processes = {{0.010, 0.009, 0.011}, {0.010, 0.012}};
  tuned.layers = {{"conv1", "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu", "conv2d-1", "tuned",
                   0.003, 150000000},
                  {"conv2", "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu", "conv2d-1", "tuned",
                   0.005, 150000000},
                  {"flatten", "flatten(f32[1,512,1,1])", "", "fixed", 0.001, 0}};
  BenchLibrary untuned = tuned;
  untuned.role = BenchRole::kUntuned;
  untuned.dir = "out/net.cpu.untuned";
  untuned.processes = {{0.040, 0.041, 0.039}};
  bench.libraries = {tuned, untuned};
  bench.kernel_sum_seconds = 0.009;
  bench.kernels = {0.008, 0.0085};
  return bench;
}

// Two tasks: "conv2d-1", four trials of which the third is the best, two failed; "dense-2" without a correct trial.
inline ReportData SampleReport() {
  ReportData data;
  data.job = "net.cpu";
  data.network = "net";
  data.target = "cpu -features=avx2";
  data.target_name = "cpu";
  data.bench_path = "bench/net.cpu.json";
  data.tasks_path = "tasks/net.cpu.tasks.json";
  data.best_path = "best/net.cpu.json";
  data.records_path = "records/cpu";
  data.out_path = "report/net.cpu";
  data.folder = "/home/user/hone/work";
  data.explain = "/home/user/hone/build/bin/hone-records explain /home/user/hone/work/best/net.cpu.json";
  data.bench = SampleBench();
  TaskFact conv;
  conv.id = "conv2d-1";
  conv.workload = data.bench.libraries[0].layers[0].workload;
  conv.weight = 2;
  conv.flop = 150000000;
  conv.source = "tuned";
  conv.from = conv.id;
  conv.config = "direct tile=[-1,14]";
  conv.algorithm = "Winograd F(4x4)";
  conv.seconds = 0.002;
  conv.trial = 2;
  conv.trials = {{0, TrialState::kOk, TrialError::kNone, 0.004},
                 {1, TrialState::kPruned, TrialError::kNone, 0.020},
                 {2, TrialState::kOk, TrialError::kNone, 0.002},
                 {3, TrialState::kFailed, TrialError::kCompile, 0},
                 {4, TrialState::kFailed, TrialError::kCompile, 0}};
  conv.trials[2].config.template_name = "transformed_m4";
  conv.failures = {{"compile", 2, "no registers left", 3, "hone-tune --explain 3", "hone-tune --trial 77"}};
  conv.stopped = "trials";
  conv.compile_seconds = 1;
  conv.measure_seconds = 2;
  conv.wall_seconds = 2.5;
  TaskFact dense;
  dense.id = "dense-2";
  dense.workload = "dense(f32[1,512], f32[1000,512]) + bias";
  dense.flop = 1024000;
  dense.source = "default";
  dense.trials = {{0, TrialState::kFailed, TrialError::kWrong, 0}};
  dense.failures = {{"wrong", 1, "element 3: 1 is not 2", 0, "hone-tune --explain 0", "hone-tune --trial 5"}};
  dense.wall_seconds = 0.5;
  data.tasks = {conv, dense};
  return data;
}
inline
    // The same with kHostile in every text from outside.
    ReportData
    HostileReport() {
  ReportData data = SampleReport();
  for (std::string* text :
       {&data.job, &data.network, &data.target, &data.target_name, &data.bench_path, &data.best_path,
        &data.records_path, &data.out_path, &data.folder, &data.explain, &data.bench.host, &data.bench.cpu,
        &data.bench.fingerprint, &data.bench.recorded, &data.bench.network}) {
    *text = kHostile;
  }
  for (BenchLibrary& library : data.bench.libraries) {
    library.dir = library.name = library.digest = kHostile;
    for (BenchLayer& layer : library.layers) layer.node = layer.workload = layer.task = kHostile;
  }
  for (TaskFact& task : data.tasks) {
    task.id = task.workload = task.config = task.algorithm = task.from = task.host = task.stopped = kHostile;
    for (FailureFact& failure : task.failures) failure.message = failure.explain = failure.repeat = kHostile;
  }
  return data;
}

}  // namespace hone::report
