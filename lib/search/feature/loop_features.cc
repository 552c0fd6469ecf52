#include "search/feature/loop_features.h"

#include <algorithm>
#include <cmath>

#include "search/feature/loop_touches.h"

namespace hone::search {

static float LogScaled(double x) { return static_cast<float>(x >= 0 ? std::log2(x + 1) : -std::log2(1 - x)); }

// The order of the one-hot columns.
constexpr ir::ForKind kKinds[] = {ir::ForKind::kBlockX,   ir::ForKind::kBlockY,     ir::ForKind::kBlockZ,
                                  ir::ForKind::kThreadX,  ir::ForKind::kThreadY,    ir::ForKind::kThreadZ,
                                  ir::ForKind::kUnrolled, ir::ForKind::kVectorized, ir::ForKind::kParallel,
                                  ir::ForKind::kSerial,   ir::ForKind::kVThread};

using Points = std::vector<double>;

static void AppendCurve(const Points& x, const Points& y, int samples, std::vector<float>* row) {
  size_t at = 0;
  for (int s = 0; s < samples; ++s) {
    while (at + 1 < x.size() && x[at + 1] <= s + 1e-6) ++at;
    row->push_back(static_cast<float>(y[at]));
    row->push_back(static_cast<float>(s - x[at]));
  }
}

std::vector<float> ItervarFeatures(const ir::Function& function) {
  std::vector<float> row;
  for (const LoopTouches& loop : CollectTouches(function)) {
    row.push_back(LogScaled(static_cast<double>(loop.length)));
    row.push_back(static_cast<float>(loop.nest));
    row.push_back(LogScaled(loop.top_down));
    row.push_back(LogScaled(loop.bottom_up));
    for (const ir::ForKind kind : kKinds) row.push_back(loop.kind == kind ? 1.f : 0.f);
    for (const int count : {loop.additions, loop.multiplications, loop.divisions}) row.push_back(LogScaled(count));
    for (const auto& [name, touch] : loop.touches) {
      for (const double v : {static_cast<double>(touch.stride), -1.0, touch.count, touch.reuse, touch.thread_count,
                             touch.thread_reuse}) {
        row.push_back(LogScaled(v));
      }
    }
  }
  return row;
}

std::vector<float> CurveFeatures(const ir::Function& function, int samples) {
  const std::vector<LoopTouches> loops = CollectTouches(function);
  int deepest = 0;
  for (const LoopTouches& loop : loops) deepest = std::max(deepest, loop.nest);
  std::map<std::string, std::string> last;  // buffer -> its last access
  for (const LoopTouches& loop : loops) {
    if (loop.nest != deepest) continue;
    for (const auto& [name, touch] : loop.touches) {
      // Occurrences are numbered and loops are in order, so the later one replaces the earlier.
      last[touch.buffer] = name;
    }
  }
  std::vector<float> row;
  for (const auto& [buffer, access] : last) {
    Points reuse = {0}, count = {0}, top_down = {0};
    for (const LoopTouches& loop : loops) {
      const auto touch = loop.touches.find(access);
      if (touch == loop.touches.end()) continue;
      reuse.push_back(std::log2(touch->second.reuse));
      count.push_back(std::log2(touch->second.count));
      top_down.push_back(std::log2(std::max(loop.top_down, 1.0)));
    }
    for (Points* points : {&reuse, &count, &top_down}) std::sort(points->begin(), points->end());
    AppendCurve(count, reuse, samples, &row);
    AppendCurve(reuse, count, samples, &row);
    AppendCurve(count, top_down, samples, &row);
    AppendCurve(top_down, count, samples, &row);
  }
  return row;
}

void AppendOtherKnobs(const Config& config, std::vector<float>* row) {
  for (const KnobValue& value : config.values) {
    if (value.kind != KnobKind::kOther) continue;
    for (const int64_t number : value.numbers) row->push_back(static_cast<float>(number));
  }
}

}  // namespace hone::search
