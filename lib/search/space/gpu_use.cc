#include "search/space/gpu_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/integers.h"

namespace hone::search {
namespace {

// The values of one knob grouped by their share of the threads.
using Groups = std::vector<std::pair<int64_t, std::vector<uint32_t>>>;

struct ThreadTable {
  struct Row {
    uint64_t until = 0;  // number of points in this row and all before it
    size_t group[3] = {0, 0, 0};
  };
  std::vector<uint64_t> radix;  // of all knobs, in the space's order
  std::vector<size_t> chosen;   // positions of the thread knobs
  std::vector<Groups> groups;
  std::vector<Row> rows;

  PointIndex Draw(Rng& rng) const {
    const uint64_t at = rng.UniformInt(rows.back().until);
    const Row& row = *std::ranges::upper_bound(rows, at, {}, &Row::until);
    PointIndex index = 0, place = 1;
    for (size_t k = 0; k < radix.size(); ++k) {
      uint64_t digit = 0;
      const size_t which = std::ranges::find(chosen, k) - chosen.begin();
      if (which < chosen.size()) {
        const std::vector<uint32_t>& digits = groups[which][row.group[which]].second;
        digit = digits[rng.UniformInt(digits.size())];
      } else {
        digit = rng.UniformInt(radix[k]);
      }
      index += place * digit;
      place *= radix[k];
    }
    return index;
  }
};

Groups GroupByPart(const Knob& knob, size_t part) {
  std::map<int64_t, std::vector<uint32_t>> by;
  for (size_t d = 0; d < knob.size(); ++d) by[knob.value(d).numbers[part]].push_back(static_cast<uint32_t>(d));
  return {by.begin(), by.end()};
}

constexpr int kTries = 400;  // number of points among which a default is chosen

double Score(const GpuUse& use, const DeviceLimits& limits) {
  const double all = static_cast<double>(use.Blocks()) * static_cast<double>(use.Threads());
  const double fill = std::min(1.0, all / (512.0 * static_cast<double>(limits.multiprocessors)));
  const double block = std::min(1.0, static_cast<double>(use.Threads()) / 128.0);
  // With more than every GPU has, fewer blocks run on a multiprocessor at the same time.
  const double usual = static_cast<double>(DeviceLimits().shared_bytes_per_block);
  const double room = std::min(1.0, usual / static_cast<double>(std::max<int64_t>(use.shared_bytes, 1)));
  return fill * block * room * std::min(use.reuse, 4.0);
}

}  // namespace

std::optional<std::string> ExceedsDevice(const GpuUse& use, const DeviceLimits& limits) {
  constexpr const char* kAxis[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    if (use.threads[i] > limits.max_block[i]) {
      return fmt::format("threads_{}: {}, the device has {}", kAxis[i], use.threads[i], limits.max_block[i]);
    }
  }
  const int64_t threads = use.Threads();
  if (threads > limits.max_threads_per_block) {
    return fmt::format("threads: {} in a block, the device has {}", threads, limits.max_threads_per_block);
  }
  if (threads < limits.warp_size) return fmt::format("warp: {} threads are less than {}", threads, limits.warp_size);
  if (use.shared_bytes > limits.shared_bytes_per_block) {
    return fmt::format("shared_memory: {} bytes, the device has {}", use.shared_bytes, limits.shared_bytes_per_block);
  }
  if (use.MostRegisters() > limits.registers_per_thread) {
    return fmt::format("registers: about {} a thread, the device has {}", use.MostRegisters(),
                       limits.registers_per_thread);
  }
  if (use.registers * threads > limits.registers_per_block) {
    return fmt::format("registers_per_block: about {} for {} threads, the device has {}", use.registers * threads,
                       threads, limits.registers_per_block);
  }
  if (use.vthreads > kMostVThreads) return fmt::format("vthreads: {}, at most {}", use.vthreads, kMostVThreads);
  if (use.body > kMostBody) return fmt::format("code: {} multiply-adds in a row, at most {}", use.body, kMostBody);
  for (int i = 0; i < 3; ++i) {
    if (use.blocks[i] > limits.max_grid[i]) {
      return fmt::format("grid_{}: {} blocks, the device has {}", kAxis[i], use.blocks[i], limits.max_grid[i]);
    }
  }
  return std::nullopt;
}

// With more iterations in a row, the compiler loads ahead.
int64_t TileRegisters(int64_t a, int64_t b, int64_t unroll, int64_t fetched) {
  return RoundUp(a * b + (a + b) * (10 + 3 * std::min<int64_t>(unroll, 8)) / 8 + fetched + kOtherRegisters, 8);
}

double TileReuse(int64_t a, int64_t b) { return static_cast<double>(a * b) / static_cast<double>(a + b); }

Rule DeviceRule(const Target& target, GpuUseOf use) {
  return {"device", [limits = target.limits, use = std::move(use)](const Config& config) {
            return ExceedsDevice(use(config), limits);
          }};
}

void SampleByThreads(const std::vector<std::string>& names, size_t part, const DeviceLimits& limits, Space* space) {
  HONE_CHECK(names.size() <= 3);
  auto table = std::make_shared<ThreadTable>();  // shared, so that copies of a space do not copy the tables
  for (const Knob& knob : space->knobs()) table->radix.push_back(knob.size());
  for (const std::string& name : names) {
    for (size_t k = 0; k < space->knobs().size(); ++k) {
      if (space->knobs()[k].name() != name) continue;
      table->chosen.push_back(k);
      table->groups.push_back(GroupByPart(space->knobs()[k], part));
    }
  }
  HONE_CHECK(table->chosen.size() == names.size());
  while (table->groups.size() < 3) table->groups.push_back({{1, {0}}});  // without a knob: a share of 1
  uint64_t until = 0;
  for (size_t x = 0; x < table->groups[0].size(); ++x) {
    for (size_t y = 0; y < table->groups[1].size(); ++y) {
      for (size_t z = 0; z < table->groups[2].size(); ++z) {
        const auto &gx = table->groups[0][x], &gy = table->groups[1][y], &gz = table->groups[2][z];
        const int64_t threads = gx.first * gy.first * gz.first;
        if (gx.first > limits.max_block[0] || gy.first > limits.max_block[1] || gz.first > limits.max_block[2])
          continue;
        if (threads > limits.max_threads_per_block || threads < limits.warp_size) continue;
        until += gx.second.size() * gy.second.size() * gz.second.size();
        table->rows.push_back({until, {x, y, z}});
      }
    }
  }
  if (until == 0) return;  // nothing is legal; the rules say why
  space->SetSampler([table](Rng& rng) { return table->Draw(rng); });
}

Result<Config> GpuDefault(const Space& space, const Target& target, const GpuUseOf& use) {
  Rng rng(1);
  std::optional<Config> best;
  double most = -1;
  for (int i = 0; i < kTries; ++i) {
    const std::optional<PointIndex> index = space.SampleLegal(rng);
    if (!index) break;
    Config config = space.At(*index);
    const double score = Score(use(config), target.limits);
    if (score <= most) continue;
    most = score;
    best = std::move(config);
  }
  if (best) return *best;
  return Status::Invalid("{}: no legal point was found for {}", space.template_name(), target.Text());
}

}  // namespace hone::search
