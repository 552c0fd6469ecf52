// Times points on a device, in this process: `gpu_points TARGET POINTS WORKLOAD..`. For each template and each rule of
// sketches that applies to the workload, whether its tasks use it or not: the default, and the best of POINTS random
// ones, in microseconds and relative to the first line's. Each point is checked against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "agree/gpu_workloads.h"
#include "compile/compile.h"
#include "measure/machine.h"
#include "unit/op/gpu_case.h"

namespace {

using namespace hone;  // a separate program

// Seconds of one run.
Result<double> TimeOf(runtime::Device* device, const Workload& w, const Target& target, const Candidate& candidate) {
  compile::CompileOptions options;
  options.newest_cuda = measure::NewestCode(target);
  HONE_ASSIGN_OR_RETURN(const auto kernel, compile::CompileKernel(w, target, candidate, options));
  Artifact artifact{kernel.format, kernel.object, {kernel.kernel}};
  if (kernel.has_prepare) artifact.entries.push_back(kernel.prepare);
  HONE_ASSIGN_OR_RETURN(const auto module, device->Load(artifact));
  std::vector<std::vector<float>> operands = hone::testing::MakeGpuOperands(w, target, 1);
  std::vector<std::unique_ptr<runtime::DeviceBuffer>> given, prepared;
  for (const std::vector<float>& operand : operands) {
    HONE_ASSIGN_OR_RETURN(auto buffer, device->Allocate(static_cast<int64_t>(4 * operand.size())));
    HONE_RETURN_IF_ERROR(device->CopyIn(buffer.get(), operand.data(), static_cast<int64_t>(4 * operand.size())));
    given.push_back(std::move(buffer));
  }
  for (const PreparedConstant& constant : kernel.prepared) {
    HONE_ASSIGN_OR_RETURN(auto buffer, device->Allocate(4 * constant.elements));
    prepared.push_back(std::move(buffer));
  }
  const auto arguments = [&](const std::vector<ArgSource>& from) {
    runtime::DeviceArguments buffers;
    for (const ArgSource& source : from) {
      auto& kind = source.kind == ArgSource::Kind::kPrepared ? prepared : given;
      buffers.push_back(kind[static_cast<size_t>(source.index)].get());
    }
    return buffers;
  };
  if (kernel.has_prepare) HONE_RETURN_IF_ERROR(module->Run(kernel.prepare.symbol, arguments(kernel.prepare_args)));
  const runtime::DeviceArguments run = arguments(kernel.kernel_args);
  HONE_ASSIGN_OR_RETURN(const double once, module->Time(kernel.kernel.symbol, {}, {run}));
  HONE_RETURN_IF_ERROR(
      device->CopyOut(operands.back().data(), *given.back(), static_cast<int64_t>(4 * operands.back().size())));
  if (const std::string differs = hone::testing::DiffersFromReference(w, target, operands); !differs.empty()) {
    return Status::Corrupt(differs);
  }
  const auto runs = static_cast<int64_t>(std::clamp(0.01 / once, 1.0, 200.0));
  double best = once;
  for (int sample = 0; sample < 3; ++sample) {
    HONE_ASSIGN_OR_RETURN(const double seconds,
                          module->Time(kernel.kernel.symbol, {}, runtime::DeviceRuns({run}, runs)));
    best = std::min(best, seconds / static_cast<double>(runs));
  }
  return best;
}

void Compare(runtime::Device* device, const std::string& text, const Target& target, int points) {
  const auto w = op::ParseChecked(text);
  if (!w.ok()) return fmt::print("{}\n", w.status().message());
  fmt::print("{}\n", text);
  double first = 0;
  for (const agree::GpuSource& source : agree::GpuSourcesOf(*w, target)) {
    const Result<Config> by_default = source.preferred();
    double preferred = NAN, best = NAN;
    std::string at, wrong;
    Rng rng(1);
    for (int i = 0; i <= points; ++i) {
      if (i == 0 && !by_default.ok()) continue;
      const auto index = i == 0 ? by_default->index : source.space.SampleLegal(rng);
      if (!index) break;
      const Config config = source.space.At(*index);
      const auto candidate = source.candidate(config);
      const auto seconds = candidate.ok() ? TimeOf(device, *w, target, *candidate) : Result<double>(candidate.status());
      if (!seconds.ok()) {
        wrong = config.Text() + ": " + seconds.status().message();
        continue;
      }
      if (i == 0) preferred = *seconds;
      if (!(*seconds >= best)) best = *seconds, at = config.Text();
    }
    if (first == 0) first = preferred;
    fmt::print("  {:24} default {:9.1f} ({:.2f})  best {:9.1f} ({:.2f})  {}\n", source.name, 1e6 * preferred,
               preferred / first, 1e6 * best, best / first, at);
    if (by_default.ok()) fmt::print("    default: {}\n", by_default->Text());
    if (!wrong.empty()) fmt::print("    {}\n", wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = hone::Target::Parse(argc > 1 ? argv[1] : "opencl");
  if (!target.ok() || argc < 4) {
    fmt::print(stderr, "gpu_points TARGET POINTS WORKLOAD..\n{}\n", target.status().message());
    return 1;
  }
  const auto device = hone::measure::OpenDevice(*target);
  if (!device.ok()) {
    fmt::print(stderr, "{}\n", device.status().message());
    return 1;
  }
  for (int i = 3; i < argc; ++i) Compare(device->get(), argv[i], *target, std::atoi(argv[2]));
  return 0;
}
