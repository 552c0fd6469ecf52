// The example's operator beside a plain copy of as many bytes and plain -O3 C loops, interleaved in one run:
// `yuv_perf PLUGIN.so [BEST.json | CONFIG_INDEX]..`. Prints bandwidths: bytes read and written, divided by the best and
// the median time. BEST.json: best/rgb_to_yuv.cpu.json of a work folder; what was tuned, and beside it what is built
// untuned. Without points: all.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "op/plugin.h"
#include "pipeline/best_file.h"
#include "runtime/host/thread_pool.h"
#include "unit/op/kernel_case.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kHeight = 1080, kWidth = 1920;
constexpr int kRounds = 41;

struct Point {
  std::string name;
  hone::Config config;
};

// The points that the arguments name.
hone::Result<std::vector<Point>> Points(const std::vector<std::string>& arguments, const hone::Workload& workload,
                                        const hone::Target& target, const hone::search::TaskSpace& space) {
  std::vector<Point> points;
  for (const std::string& argument : arguments) {
    if (!argument.ends_with(".json")) {
      HONE_ASSIGN_OR_RETURN(const int64_t index, hone::ParseInt(argument));
      if (index < 0 || static_cast<uint64_t>(index) >= space.size()) {
        return hone::Status::Invalid(fmt::format("{}: the space has {} points", argument, space.size()));
      }
      points.push_back({argument, space.At(static_cast<uint64_t>(index))});
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const hone::pipeline::BestFile best, hone::pipeline::ReadBestFile(argument));
    const auto entry = std::find_if(best.tasks.begin(), best.tasks.end(),
                                    [&](const auto& e) { return e.workload == workload.Text() && e.config; });
    if (entry == best.tasks.end()) {
      return hone::Status::Invalid(argument + ": nothing was tuned for " + workload.Text());
    }
    points.push_back({"tuned", *entry->config});
    HONE_ASSIGN_OR_RETURN(const hone::Config untuned, hone::op::DefaultConfig(workload, target));
    points.push_back({"untuned", untuned});
  }
  for (uint64_t i = 0; arguments.empty() && i < space.size(); ++i) points.push_back({std::to_string(i), space.At(i)});
  return points;
}

// What it is compared with: each thread of the pool copies its share, in a loop over floats or by memcpy; a plain loop.
struct Copy {
  const float* in;
  float* out;
  int64_t floats;
};
constexpr int64_t kPart = 1920 * 3 * 4;

void CopyRange(void* closure, int64_t begin, int64_t end, char*) {
  const Copy& c = *static_cast<Copy*>(closure);
  for (int64_t i = begin * kPart; i < end * kPart && i < c.floats; ++i) c.out[i] = c.in[i];
}

void MemcpyRange(void* closure, int64_t begin, int64_t end, char*) {
  const Copy& c = *static_cast<Copy*>(closure);
  const int64_t last = end * kPart < c.floats ? end * kPart : c.floats;
  std::memcpy(c.out + begin * kPart, c.in + begin * kPart, static_cast<size_t>(last - begin * kPart) * sizeof(float));
}

// `range`: CopyRange or MemcpyRange.
void CopyRows(decltype(CopyRange)* range, hone::runtime::ThreadPool* pool, const float* in, float* out,
              int64_t floats) {
  Copy copy{in, out, floats};
  const HoneParallel parallel = pool->parallel();
  parallel.launch(parallel.pool, range, &copy, (floats + kPart - 1) / kPart);
}

void YuvLoop(const float* __restrict in, float* __restrict out, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i) {
    const float r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
    out[3 * i] = 0.257F * r + 0.504F * g + 0.098F * b;
    out[3 * i + 1] = -0.148F * r - 0.291F * g + 0.439F * b;
    out[3 * i + 2] = 0.439F * r - 0.368F * g - 0.071F * b;
  }
}

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: yuv_perf PLUGIN.so [BEST.json | CONFIG_INDEX]..\n");
    return 2;
  }
  if (const hone::Status status = hone::op::LoadPlugin(argv[1]); !status.ok()) {
    fmt::print(stderr, "{}\n", status.message());
    return 1;
  }
  const auto workload = hone::op::ParseChecked(fmt::format("rgb_to_yuv(f32[{},{},3])", kHeight, kWidth));
  const hone::Target target = *hone::HostTarget();
  hone::runtime::ThreadPool pool = *hone::runtime::ThreadPool::Create(target.threads, true);
  const hone::search::TaskSpace space = *hone::op::MakeTaskSpace(*workload, target);
  hone::testing::OperandData data = *hone::testing::MakeOperandData(*workload, target, 1);
  const auto points = Points({argv + 2, argv + argc}, *workload, target, space);
  if (!points.ok()) {
    fmt::print(stderr, "{}\n", points.status().message());
    return 1;
  }
  std::vector<hone::testing::KernelCase> kernels;
  kernels.reserve(points->size());
  std::vector<Contestant> all;
  const int64_t floats = kHeight * kWidth * 3;
  std::vector<float> in(data.values[0]), out(static_cast<size_t>(floats));
  all.push_back({"plain copy, all threads", [&] { CopyRows(CopyRange, &pool, in.data(), out.data(), floats); }, {}});
  all.push_back({"memcpy, all threads", [&] { CopyRows(MemcpyRange, &pool, in.data(), out.data(), floats); }, {}});
  all.push_back({"memcpy, one thread", [&] { std::memcpy(out.data(), in.data(), floats * sizeof(float)); }, {}});
  all.push_back({"C loop -O3, one thread", [&] { YuvLoop(in.data(), out.data(), floats / 3); }, {}});
  for (const Point& point : *points) {
    auto kernel = hone::testing::KernelCase::Create(*workload, target, point.config, &pool);
    if (!kernel.ok() || !kernel->Load(data).ok()) {
      fmt::print(stderr, "{}: {}\n", point.config.Text(), kernel.status().message());
      continue;
    }
    kernels.push_back(std::move(*kernel));
    auto* k = &kernels.back();
    all.push_back({fmt::format("{} {}", point.name, point.config.Text()), [k] { k->Run(); }, {}});
  }
  const int rounds = points->size() > 8 ? 9 : kRounds;
  for (int r = 0; r < rounds; ++r) {
    for (Contestant& c : all) {
      const Clock::time_point start = Clock::now();
      c.run();
      c.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  std::stable_sort(all.begin() + 4, all.end(), [](const Contestant& a, const Contestant& b) {
    return *std::min_element(a.seconds.begin(), a.seconds.end()) <
           *std::min_element(b.seconds.begin(), b.seconds.end());
  });
  double copy = 0;
  for (Contestant& c : all) {
    std::sort(c.seconds.begin(), c.seconds.end());
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(floats);
    const double best = bytes / c.seconds[0] * 1e-9, median = bytes / c.seconds[c.seconds.size() / 2] * 1e-9;
    if (copy == 0) copy = median;
    fmt::print("{:6.2f} GB/s at best, {:6.2f} median, {:5.1f} % of the plain copy's median  {}\n", best, median,
               100 * median / copy, c.name);
  }
  return 0;
}
