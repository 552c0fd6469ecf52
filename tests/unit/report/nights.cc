#include "nights.h"

#include <fmt/format.h>

#include <cmath>

#include "base/statistics.h"

namespace hone::report {
namespace {

using namespace nightly;

// Between -1 and 1, a function of the numbers.
double Noise(int a, int b, int c = 0) {
  const double x = std::sin(12.9898 * a + 78.233 * b + 37.719 * c + 4.1) * 43758.5453;
  return 2 * (x - std::floor(x)) - 1;
}

std::string Day(int night, int minute) {
  // Months of 30 days suffice.
  const int day = night + 1;
  return fmt::format("2026-{:02}-{:02}T03:{:02}:00Z", 1 + day / 28, 1 + day % 28, minute);
}

Subject SubjectOf(double level, int job, int night, int salt, int kernels, const char* digest) {
  Subject subject;
  subject.digest = digest;
  for (int i = 0; i < 7; ++i) subject.processes.push_back(level * (1 + 0.006 * Noise(job * 7 + i, night, salt)));
  const double median = Median(subject.processes);
  double weights = 0;
  for (int k = 0; k < kernels; ++k) weights += 1.0 / (k + 2);
  for (int k = 0; k < kernels; ++k) {
    subject.layers.push_back({fmt::format("layer{}.{}.conv{}", k / 4 + 1, k / 2 % 2, k % 2 + 1),
                              median * (1.0 / (k + 2) / weights) * (1 + 0.01 * Noise(night, k, salt))});
  }
  return subject;
}

Night NightOf(int job, int n, const NightsWanted& wanted) {
  const bool last = n + 1 == wanted.nights;
  const bool second_machine = n >= wanted.nights / 3;
  const double machine = (second_machine ? 0.93 : 1) * (1 + 0.004 * Noise(n, 5));
  const double base = 0.006 * (job + 1) * machine;
  double factor = 1;
  if (job == 0 && n + 8 >= wanted.nights) factor = 1.05;
  if (job == 1 && n + 9 >= wanted.nights) factor = 0.95;
  Night night{.recorded = Day(n, job + 1), .host = "bench-1", .night = Day(n, 0)};
  night.fingerprint = fmt::format("cpu=A CPU; cores=2; governor=performance; kernel=6.{}", second_machine ? 2 : 1);
  night.tools = fmt::format("codegen={}", 3 + second_machine);
  if (job == 2 && n == wanted.nights / 2) {
    night.failure = "the library crashed in process 3: signal 11";
    night.library.digest = "abcdef0123456789";
    return night;
  }
  night.library = SubjectOf(base * factor, job, n, 1, wanted.kernels, factor == 1 ? "aaaa" : "bbbb");
  night.reference = SubjectOf(base, job, n, 2, wanted.kernels, "aaaa");
  night.canary = SubjectOf(0.0071 * machine, 99, n, 3, 0, "cccc");
  if (n % 17 == 9) night.environment = "the canary, which is never rebuilt, runs +6.0 % from its level";
  night.comparison = Compare(night.library.processes, night.reference.processes, {1, 1.001, 0.999, 1, 1.002});
  if (factor != 1) {
    night.repeat = Repeat{night.library.processes, night.reference.processes, night.comparison.change};
    if (last) night.environment = "";
  } else {
    night.comparison.change = Change::kNone;
  }
  return night;
}

NightlyData Unconcluded(const NightsWanted& wanted) {
  NightlyData data;
  const char* networks[] = {"resnet18", "mobilenet_v2", "squeezenet_v1.1", "vgg16",      "resnet50",
                            "resnet34", "inception_v3", "mobilenet",       "resnet3d18", "tiny"};
  for (int j = 0; j < wanted.jobs; ++j) {
    NightlyJob job;
    job.job = fmt::format("{}{}.cpu", networks[j % 10], j < 10 ? "" : fmt::format("-{}", j / 10));
    for (int n = 0; n < wanted.nights; ++n) job.nights.push_back(NightOf(j, n, wanted));
    Acceptance accepted;
    accepted.recorded = Day(wanted.nights / 2, 30);
    accepted.by = "me@bench-1";
    accepted.reason = "first reference";
    accepted.network = networks[j % 10];
    accepted.target = "cpu";
    accepted.name = networks[j % 10];
    for (const char* file : {"lib{}.so", "{}.params", "{}.graph.json"}) {
      accepted.files[fmt::format(fmt::runtime(file), accepted.name)] = std::string(32, static_cast<char>('1' + j));
    }
    accepted.digest = ArtifactDigest(accepted.files, accepted.name);
    job.accepted = {accepted};
    data.jobs.push_back(std::move(job));
  }
  return data;
}

}  // namespace

NightlyData SampleNights(const NightsWanted& wanted) {
  NightlyData data = Unconcluded(wanted);
  Conclude(&data);
  return data;
}

NightlyData HostileNights(const std::string& hostile) {
  NightlyData data = Unconcluded({3, 12, 4});
  data.problems = {hostile};
  for (NightlyJob& job : data.jobs) {
    job.job = hostile + job.job;
    job.page = "#";
    for (size_t i = 0; i < job.nights.size(); ++i) {
      Night& night = job.nights[i];
      night.host = night.tools = night.library.digest = night.comparison.why = hostile;
      night.recorded = hostile + night.recorded;
      night.fingerprint = hostile + (i < 4 ? "a" : "b");
      if (!night.failure.empty()) night.failure = hostile;
      if (!night.environment.empty()) night.environment = hostile;
      for (Subject* subject : {&night.library, &night.reference}) {
        for (Layer& layer : subject->layers) layer.node = hostile + layer.node;
      }
    }
    for (Acceptance& a : job.accepted) a.by = a.reason = a.digest = a.recorded = hostile;
  }
  Conclude(&data);
  return data;
}

}  // namespace hone::report
