#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "op/chain/chain.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/shapes.h"

namespace hone::op {

constexpr double kMostTileCycles = 1.2;  // relative to the best tile's
constexpr double kMostFactor = 1.2;      // factor of tasks, unless the best has more

constexpr int64_t kUnrolledStage = 640;  // limit of unrolled multiply-adds

ConvTiles ConvTiles::Of(const Workload& convolution, const Target& target) {
  ConvTiles t;
  t.s = Conv2dShape::Of(convolution);
  t.lanes = target.ChannelBlock();
  t.blocks = CeilDiv(t.s.o, t.lanes);
  t.registers = target.vector_registers;
  return t;
}

std::vector<int64_t> ConvTiles::Ocv() const { return DivisorsAmong(blocks, {1, 2, 3, 4}); }

std::vector<int64_t> ConvTiles::Columns() const { return EvenParts(s.ow, registers - 4); }

std::vector<int64_t> ConvTiles::Unrolls() const { return DivisorsAmong(s.plain_input ? s.c : lanes, {1, 3, 4, 8}); }

int64_t ConvTiles::DefaultUnroll() const { return NoLarger(4, Unrolls()).back(); }

double ConvTiles::Cycles(int64_t ocv, int64_t columns) const {
  double cycles = 0;
  for (auto [width, count] : Pieces(s.ow, columns)) {
    cycles += D(count * (blocks / ocv)) * StepCycles(D(ocv), D(width), D(width), registers);
  }
  return cycles;
}

ConvTiles::Tile ConvTiles::Best() const {
  Tile best;
  double fewest = INFINITY;
  for (int64_t v : Ocv()) {
    for (int64_t w : Columns()) {
      if (Registers(v, w) > registers) continue;
      if (const double cycles = Cycles(v, w); cycles < fewest) fewest = cycles, best = {v, w};
    }
  }
  return best;
}

RowWindow RowWindow::Of(const semantics::Window& w) {
  return {w.out[0], w.in[0], w.stride[0], w.before[0], (w.kernel[0] - 1) * w.dilation[0] + 1};
}

int64_t RowWindow::Rows(int64_t rows) const { return std::min(in, (rows - 1) * stride + reach); }

double RowWindow::Recompute(int64_t row_block) const {
  int64_t made = 0;
  for (int64_t y = 0; y < out; y += row_block) {
    const int64_t last = std::min(y + row_block, out) - 1;
    const int64_t begin = std::max<int64_t>(0, y * stride - before);
    const int64_t end = std::min(in, last * stride - before + reach);
    made += std::max<int64_t>(0, end - begin);
  }
  return std::max(1.0, D(made) / D(in));
}

double ChainTasks::Factor(int64_t row_block, int64_t channel_block) const {
  const int64_t tasks = images * CeilDiv(rows.out, row_block) * CeilDiv(blocks, channel_block);
  const double size = D(row_block * channel_block);
  const double imbalance = Imbalance(tasks, size, D(images * rows.out * blocks), threads);
  return imbalance * (1 + share * (rows.Recompute(row_block) - 1));
}

std::vector<int64_t> ChainTasks::RowBlocks() const {
  const int64_t t = std::max(threads, 1);
  return PartsFor(rows.out, {1, t, 2 * t, 4 * t, 8 * t, 16 * t});
}

std::vector<int64_t> ChainTasks::ChannelBlocks() const {
  const int64_t t = std::max(threads, 1);
  return PartsFor(blocks, {1, t, 2 * t, 4 * t});
}

std::vector<int64_t> ChainTasks::ChannelBlocks(int64_t ocv) const {
  std::vector<int64_t> values = ChannelBlocks();
  std::erase_if(values, [&](int64_t b) { return b % ocv != 0; });
  return values;
}

double ChainTasks::Limit(int64_t ocv) const {
  double best = INFINITY;
  for (int64_t r : RowBlocks()) {
    for (int64_t c : ChannelBlocks(ocv)) best = std::min(best, Factor(r, c));
  }
  return std::max(kMostFactor, best * 1.02);
}

int64_t ChainTasks::LeastScratch(int64_t ocv, const std::function<int64_t(int64_t)>& bytes) const {
  const double limit = Limit(ocv);
  int64_t least = INT64_MAX;
  for (int64_t r : RowBlocks()) {
    for (int64_t c : ChannelBlocks(ocv)) {
      if (Factor(r, c) <= limit) least = std::min(least, bytes(r));
    }
  }
  return least;
}

ChainTasks::Blocks ChainTasks::Best(int64_t ocv, const std::function<int64_t(int64_t)>& bytes) const {
  Blocks best;
  double least = INFINITY;
  for (int64_t r : RowBlocks()) {
    for (int64_t c : ChannelBlocks(ocv)) {
      double score = Factor(r, c) + 1e-3 * D(CeilDiv(rows.out, r) * CeilDiv(blocks, c));
      // Data that does not fit nearby is written to and read from the next cache.
      score += 0.2 * std::max(0.0, std::log2(D(bytes(r)) / (0.6 * D(kChainScratchBytes))));
      if (score < least) least = score, best = {r, c};
    }
  }
  return best;
}

int64_t ChainTasks::BestRows() const {
  return Best(1, [](int64_t) { return 1; }).rows;
}

// A tile's code exists three times: inside, and at each border.
bool UnrollsColumns(const Conv2dShape& s, int64_t tile) { return 3 * tile * s.kw <= kUnrolledStage; }

std::vector<int64_t> WindowTiles(const Conv2dShape& s, int registers) {
  std::vector<int64_t> values = EvenParts(s.ow, std::min(registers / 2, 14));
  std::erase_if(values, [&](int64_t v) { return v > 1 && !UnrollsColumns(s, v); });
  if (values.size() > 3) values.resize(3);
  if (values.empty()) values = {1};
  return values;
}

void AddTileKnobs(const ConvTiles& t, Space* space) {
  space->Add(search::Knob::Choice("ocv", t.Ocv()));
  space->Add(search::Knob::Choice("tile_ow", t.Columns()));
  space->AddRule({"registers", [t](const Config& c) {
                    const int64_t need = t.Registers(c.Number("ocv"), c.Number("tile_ow"));
                    return Unless(need <= t.registers, "{} x {} accumulators need {} of {} registers", c.Number("ocv"),
                                  c.Number("tile_ow"), need, t.registers);
                  }});
  const ConvTiles::Tile best = t.Best();
  space->AddRule({"cycles", [t, fewest = t.Cycles(best.ocv, best.columns)](const Config& c) {
                    const double cycles = t.Cycles(c.Number("ocv"), c.Number("tile_ow"));
                    return Unless(cycles <= kMostTileCycles * fewest,
                                  "this tile takes {:.2f} times the cycles of the best one", cycles / fewest);
                  }});
}

void AddTaskRule(const ChainTasks& tasks, bool by_channels, Space* space) {
  space->AddRule({"parallel", [tasks, by_channels](const Config& c) {
                    const double factor =
                        tasks.Factor(c.Number("row_block"), by_channels ? c.Number("co_block") : tasks.blocks);
                    return Unless(factor <= kMostFactor || factor <= tasks.Limit(by_channels ? c.Number("ocv") : 1),
                                  "rows made twice and the busiest of {} threads: {:.2f} times the average work",
                                  tasks.threads, factor);
                  }});
}

void AddScratchRules(const ChainTasks& tasks, const std::function<int64_t(int64_t, int64_t)>& bytes, Space* space) {
  space->AddRule({"co block", [](const Config& c) {
                    return Unless(c.Number("co_block") % c.Number("ocv") == 0,
                                  "tiles of ocv={} do not come out even in tasks of {} blocks", c.Number("ocv"),
                                  c.Number("co_block"));
                  }});
  space->AddRule({"scratch", [tasks, bytes](const Config& c) -> Rejection {
                    const int64_t ocv = c.Number("ocv"), made = bytes(c.Number("row_block"), ocv);
                    if (made <= 2 * kChainScratchBytes) return {};
                    if (made <= tasks.LeastScratch(ocv, [&](int64_t r) { return bytes(r, ocv); })) return {};
                    return fmt::format("{} KB between the members for each thread", made >> 10);
                  }});
}

}  // namespace hone::op
