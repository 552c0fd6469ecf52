// The legal points of the rule `sums`.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/sum_tiles.h"

namespace hone::sketch {
namespace {

constexpr int64_t kUnrolled = 640;  // multiply-adds of a tile; compile time grows with them, speed does not
constexpr int64_t kPanelBytes = 1 << 19;
constexpr double kCopyBytes = 1 << 22;  // in each task: threads share the last cache
constexpr double kMostCycles = 1.3, kMostCopy = 0.15;

// How many pieces of code there are for one tile: those for tails count.
int64_t Bodies(const SumLoops& l, const SumPoint& p) {
  int64_t bodies = l.Extent(l.rows) % p.rows == 0 ? 1 : 2;
  if (l.outer_rows && l.Extent(*l.outer_rows) % p.outer_rows != 0) bodies *= 2;
  if (l.VectorCount() % p.vectors != 0 || l.Extent(l.vectors) % l.VectorWidth() != 0) bodies *= 2;
  return bodies;
}

// Whether tasks of `block` tiles come out even. Lowering cuts a tail off only where the counter of a single loop shows
// it: inside of a task that has everything, or if threads share no other loop and a task has one tile.
bool ComesOutEven(int64_t extent, int64_t tile, int64_t block, bool single) {
  return block * tile >= extent || extent % (block * tile) == 0 || (single && block == 1);
}

// Registers for the sums, one vector of each tensor that has them, and the broadcast values, which taps share.
int64_t RegistersOf(const SumLoops& l, const SumPoint& p) {
  const double taps = p.taps ? static_cast<double>(l.Extent(l.window.back())) : 0;
  int64_t broadcasts = std::max<int64_t>(std::llround(BroadcastsOf(l, p) * taps), 1);
  if (l.by_element && BroadcastsOf(l, p) > 0) broadcasts = std::max(broadcasts, p.rows * p.outer_rows);
  return p.rows * p.outer_rows * p.vectors + (p.vectors + broadcasts) * l.factor_registers + l.mask_registers;
}

search::Rejection Uneven(const SumLoops& l, const SumPoint& p) {
  const int64_t rows = p.RowParts(l), vectors = p.VectorParts(l), others = p.others_apart ? l.OtherTasks() : 1;
  return search::Unless(
      ComesOutEven(l.Extent(l.block_axis()), p.BlockTile(l), p.block_rows, vectors * others == 1) &&
          ComesOutEven(l.Extent(l.vectors), p.vectors * l.VectorWidth(), p.block_vectors, rows * others == 1),
      "tasks do not come out even");
}

// The reach of the best tiles and tasks. Rules are relative to it, so that each sum has a legal point. Computed at the
// first use: most programs only want to know which sketches there are.
class Limits {
 public:
  explicit Limits(const SumLoops& l) : l_(l) {}

  struct Reach {
    double imbalance = 1.3;  // idle threads may cost 30 % more time, or more if they do so at all points
    double cycles = INFINITY;
  };
  const Reach& Get() {
    std::call_once(once_, [this] { Find(); });
    return reach_;
  }
  // TileCycles relative to the best tile. REQUIRES: the sums fit into the registers.
  double RelativeCycles(const SumPoint& p) {
    const double best = Get().cycles;
    return cycles_.at({p.rows, p.outer_rows, p.vectors}) / best;
  }

 private:
  void Find() {
    double best = l_.threads;
    ForEachTile([&](const SumPoint& tile) {
      best = std::min(best, BestImbalance(tile));
      cycles_[{tile.rows, tile.outer_rows, tile.vectors}] = TileCycles(l_, tile);
    });
    reach_.imbalance = std::max(reach_.imbalance, 1.02 * best);
    ForEachTile([&](const SumPoint& tile) {
      if (BestImbalance(tile) <= reach_.imbalance) reach_.cycles = std::min(reach_.cycles, TileCycles(l_, tile));
    });
  }

  void ForEachTile(const std::function<void(const SumPoint&)>& f) const {
    SumPoint tile;
    for (const int64_t rows : l_.RowValues()) {
      for (tile.rows = rows; const int64_t outer : l_.OuterRowValues()) {
        for (tile.outer_rows = outer; const int64_t vectors : l_.VectorValues()) {
          tile.vectors = vectors;
          if (RegistersOf(l_, tile) <= l_.registers) f(tile);
        }
      }
    }
  }

  double BestImbalance(SumPoint p) const {
    double best = l_.threads;
    for (const int64_t rows : l_.BlockRowValues()) {
      for (const int64_t vectors : l_.BlockVectorValues()) {
        for (const bool apart : {false, true}) {
          p.block_rows = rows, p.block_vectors = vectors, p.others_apart = apart;
          if (!Uneven(l_, p)) best = std::min(best, ImbalanceOf(l_, p));
        }
      }
    }
    return best;
  }

  const SumLoops l_;
  std::once_flag once_;
  Reach reach_;
  std::map<std::array<int64_t, 3>, double> cycles_;  // of each tile
};

}  // namespace

void AddSumRules(const SumLoops& l, Sketch* sketch) {
  const SumReader reader(sketch->decisions);
  const auto add = [&](const char* name, std::function<search::Rejection(const SumPoint&)> rule) {
    sketch->rules.push_back({name, [reader, rule = std::move(rule)](const Config& c) { return rule(reader.Read(c)); }});
  };
  add("block", [l](const SumPoint& p) {
    const auto whole = [](int64_t extent, int64_t tile, int64_t block) {
      return block == extent || block * tile < extent;
    };
    return search::Unless(whole(l.Extent(l.block_axis()), p.BlockTile(l), p.block_rows) &&
                              whole(l.VectorCount(), p.vectors, p.block_vectors),
                          "a task has more tiles than there are");
  });
  add("even", [l](const SumPoint& p) { return Uneven(l, p); });
  const auto registers = [l](const SumPoint& p) {
    const int64_t need = RegistersOf(l, p);
    return search::Unless(need <= l.registers, "needs {} of {} registers", need, l.registers);
  };
  add("registers", [registers](SumPoint p) {
    p.taps = false;
    return registers(p);
  });
  const auto limits = std::make_shared<Limits>(l);
  add("cycles", [limits](const SumPoint& p) {
    const double share = limits->RelativeCycles(p);
    return search::Unless(share <= kMostCycles, "this tile takes {:.2f} times the cycles of the best one", share);
  });
  add("parallel", [l, limits](const SumPoint& p) {
    return search::TooUneven(ImbalanceOf(l, p), limits->Get().imbalance, l.threads);
  });
  sketch->cores = {{{"rows", "outer_rows", "vectors", "block_rows", "block_vectors", "others"}, sketch->rules}};
  if (!l.window.empty()) add("registers", registers);
  add("order", [l](const SumPoint& p) {
    const int64_t tiles = CeilDiv(CeilDiv(l.VectorCount(), p.vectors), p.VectorParts(l));
    return search::Unless(p.order == TileOrder::kRowsInside || tiles > 1,
                          "one tile of vectors a task: order changes nothing");
  });
  add("code size", [l](const SumPoint& p) {
    const int64_t taps = p.taps ? l.Extent(l.window.back()) : 1;
    const int64_t sums = p.rows * p.outer_rows * p.vectors * p.unroll * taps * (1 + Bodies(l, p)) / 2;
    return search::Unless(sums <= kUnrolled, "{} unrolled multiply-adds, at most {}", sums, kUnrolled);
  });
  if (l.far) {
    add("panel", [l](const SumPoint& p) {
      return search::Unless(!p.panel || (p.order == TileOrder::kRowsInside && l.PanelBytes(p.vectors) <= kPanelBytes),
                            "a panel serves the rows of one tile of vectors, and has at most {} KB", kPanelBytes >> 10);
    });
  }
  if (l.nest.source.defined()) {
    add("copy", [l](const SumPoint& p) -> search::Rejection {
      const double share = p.copy_in_task ? CopyCycles(l, p) / IdealCycles(l) : 0, bytes = CopyBytes(l, p);
      if (p.copy_in_task && bytes > kCopyBytes) return fmt::format("a copy of {:.0f} KB for each thread", bytes / 1024);
      return search::Unless(share <= kMostCopy, "copying the source would cost {:.0f} % of the work", 100 * share);
    });
  }
}

}  // namespace hone::sketch
