#include "sketch/gpu_sums.h"

#include <algorithm>
#include <utility>

#include "search/space/rules.h"
#include "sketch/gpu_sum_tiles.h"
#include "sketch/lines.h"
#include "sketch/stage_cycles.h"
#include "target/cuda_arch.h"

namespace hone::sketch {
namespace {

constexpr int64_t kLeastParts = 2, kMostParts = 32;  // of a reduction
constexpr int64_t kLongReduction = 128;              // steps; a shorter one is not divided
constexpr int64_t kMostPartBytes = 1 << 28;          // of all parts' sums together

// Powers of two, and divisors of the extent up to `most`: fewer threads than twice the extent.
std::vector<int64_t> ThreadValues(int64_t extent, int64_t most) {
  std::vector<int64_t> values;
  for (int64_t threads = 1; threads <= most; ++threads) {
    const bool even = threads > 4 && extent % threads == 0, power = (threads & (threads - 1)) == 0;
    if ((even || power) && (threads == 1 || threads < 2 * extent)) values.push_back(threads);
  }
  return values;
}

void AddRules(const GpuSums& s, const Target& target, const GpuSumReader& reader, Sketch* sketch) {
  const auto rule = [&](const char* name, std::function<search::Rejection(const GpuSumPoint&)> reject) {
    return search::Rule{name, [reader, reject = std::move(reject)](const Config& c) { return reject(reader.Read(c)); }};
  };
  // The kernel that stores a copy may have more threads, but those of the sums must fill a warp as well.
  const search::Rule warp = rule("warp", [warp = s.limits.warp_size](const GpuSumPoint& p) {
    return search::Unless(p.Threads() >= warp, "{} threads a block, a warp has {}", p.Threads(), warp);
  });
  const search::Rule copy = rule("copy", [](const GpuSumPoint& p) {
    return search::Unless(p.shared || p.stages == 1, "without copies there are no stages");
  });
  const int64_t bytes = 4 * ElementsOf(s.nest.out.shape());
  const search::Rule parts = rule("parts", [depth = s.Depth(), bytes](const GpuSumPoint& p) -> search::Rejection {
    if (!p.divided) return search::Unless(p.part == 1, "without parts there is no size of them");
    const int64_t size = p.step * p.part, count = depth / size;
    if (count * bytes > kMostPartBytes)
      return fmt::format("the sums of {} parts need {} MB", count, count * bytes >> 20);
    return search::Unless(depth % size == 0 && count >= kLeastParts && count <= kMostParts, "{} of {} are a part", size,
                          depth);
  });
  sketch->rules = {search::DeviceRule(target, sketch->use), warp, copy, parts};
  sketch->rules.push_back(rule("tile", [s](const GpuSumPoint& p) -> search::Rejection {
    for (size_t i = 0; i < 3; ++i) {
      const int64_t most = s.tiled[i] ? 2 * s.Extent(*s.tiled[i]) : 2;
      const int64_t whole = p.shares[i].whole();
      if (whole > 1 && whole >= most && p.shares[i].mine() > 1) {
        return fmt::format("{} of {} along {}", whole, most / 2, kThreadAxes[i]);
      }
    }
    return {};
  }));
  const search::Rule threads = rule("threads", [limits = s.limits](const GpuSumPoint& p) {
    return search::Unless(p.Threads() <= limits.max_threads_per_block, "{} threads", p.Threads());
  });
  const search::Rule registers = rule("registers", [limits = s.limits](const GpuSumPoint& p) {
    const int64_t need = search::TileRegisters(p.Rows(), p.Columns(), p.unroll, /*fetched=*/8);
    return search::Unless(need <= limits.registers_per_thread && p.Rows() * p.Columns() * p.unroll <= search::kMostBody,
                          "{} registers", need);
  });
  sketch->cores = {{{"threads_x", "threads_y", "threads_z"}, {warp, threads}},
                   {{"own_x", "own_y", "own_z", "spread_x", "spread_y", "spread_z", "unroll"}, {registers}},
                   {{"stages", "copy"}, {copy}},
                   {{"reduce", "step", "part"}, {parts}}};
}

}  // namespace

std::optional<Sketch> GpuSumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                  const Target& target) {
  const std::optional<GpuSums> found = GpuSumsOf(output, constants, target.limits);
  if (!found) return {};
  const GpuSums& s = *found;
  Sketch sketch;
  sketch.name = "gpu_sums";
  int64_t most_threads = 1;
  const auto numbers = [&](const std::string& name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const auto words = [&](const char* name, const Names& values) {
    sketch.decisions.push_back(search::Knob::Words(name, values));
  };
  for (size_t i = 0; i < 3; ++i) {
    if (!s.tiled[i]) continue;
    const int64_t extent = s.Extent(*s.tiled[i]);
    const std::string at(1, kThreadAxes[i]);
    const std::vector<int64_t> threads =
        ThreadValues(extent, std::min(target.limits.max_block[i], i == 0 ? int64_t{256} : 32));
    most_threads *= threads.back();
    numbers("threads_" + at, threads);
    numbers("own_" + at,
            search::NoLarger(extent, i == 2 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1, 2, 4, 8}));
    numbers("spread_" + at,
            search::NoLarger(extent, i == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 2, 4}));
  }
  if (most_threads < target.limits.warp_size) return {};
  numbers("step", search::NoLarger(2 * s.Depth() - 1, {1, 2, 4, 8, 16, 32}));
  numbers("unroll", {1, 2, 4, 8});
  numbers("stages", HasAsyncCopies(target.cpu) ? std::vector<int64_t>{1, 2, 3, 4} : std::vector<int64_t>{1, 2});
  if (!s.window.empty()) words("window", {"inside", "outside"});
  words("copy", s.nest.source.defined() ? Names{"shared", "cache", "padded"} : Names{"shared", "cache"});
  if (s.Depth() >= 2 * kLeastParts && s.nest.Steps() >= kLongReduction) {
    words("reduce", {"whole", "parts"});
    numbers("part", search::NoLarger(s.Depth() / kLeastParts, {1, 2, 4, 8, 16, 32, 64}));
  }
  AddGpuSumLines(s, &sketch);
  const GpuSumReader reader(sketch.decisions);
  sketch.use = [s, reader](const Config& config) { return GpuSumUse(s, reader.Read(config)); };
  sketch.cost = [s, reader](const Config& config) { return GpuSumCost(s, reader.Read(config)); };
  AddRules(s, target, reader, &sketch);
  return sketch;
}

}  // namespace hone::sketch
