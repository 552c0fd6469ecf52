#include "search/feature/store_features.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "search/feature/store_accesses.h"

namespace hone::search {
namespace {

constexpr double kLineBytes = 64;
constexpr size_t kBuffers = 5, kSteps = 10;
constexpr size_t kPositions = 8;  // inner, middle, outer of elements; the same of reductions; mixed; no loop
constexpr size_t kMixed = 6, kNoLoop = 7;

double Product(const std::vector<StoreLoop>& loops, size_t begin = 0, size_t end = SIZE_MAX) {
  double product = 1;
  for (size_t l = begin; l < std::min(end, loops.size()); ++l) product *= static_cast<double>(loops[l].length);
  return product;
}

// All accesses of one statement to one buffer.
struct BufferUse {
  std::vector<const StoreAccess*> accesses;
  bool reads = false, writes = false;
  double bytes = 0, unique_bytes = 0, lines = 0, unique_lines = 0, stride = 0;

  bool Depends(size_t loop) const {
    return std::ranges::any_of(accesses, [loop](const StoreAccess* a) { return a->uses[loop]; });
  }
};

double ElementBytes(const ir::Buffer& buffer) { return buffer->type.element_bytes(); }

class StoreRows {
 public:
  explicit StoreRows(const ir::Function& function) : stores_(CollectStores(function)) {
    for (const StoreStatement& store : stores_) {
      for (const StoreLoop& loop : store.loops) {
        on_gpu_ |= ir::IsBlockLoop(loop.kind) || ir::IsThreadLoop(loop.kind);
        members_[loop.id].push_back(&store);
      }
    }
  }

  std::vector<float> All() {
    std::map<const ir::BufferNode*, size_t> order;
    std::vector<const StoreStatement*> last;
    std::vector<std::vector<double>> operations;
    for (const StoreStatement& store : stores_) {
      const auto [at, added] = order.emplace(store.buffer.get(), last.size());
      if (added) {
        last.push_back(nullptr);
        operations.emplace_back(kOperationKinds, 0);
      }
      last[at->second] = &store;
      for (size_t k = 0; k < kOperationKinds; ++k) {
        operations[at->second][k] += store.operations[k] * Product(store.loops);
      }
    }
    for (size_t s = 0; s < last.size(); ++s) AddRow(*last[s], operations[s]);
    return std::move(row_);
  }

 private:
  void Log(double x) { row_.push_back(static_cast<float>(std::log2(std::max(x, 0.0) + 1))); }
  void OneHot(size_t which, size_t count) {
    for (size_t i = 0; i < count; ++i) row_.push_back(i == which ? 1 : 0);
  }

  void AddRow(const StoreStatement& store, const std::vector<double>& operations) {
    const size_t begin = row_.size();
    for (const double count : operations) Log(count);
    for (const ir::ForKind kind : {ir::ForKind::kVectorized, ir::ForKind::kUnrolled, ir::ForKind::kParallel}) {
      AddKind(store, kind);
    }
    row_.push_back(on_gpu_ ? 1 : 0);
    using enum ir::ForKind;
    for (const ir::ForKind kind : {kBlockX, kBlockY, kBlockZ, kThreadX, kThreadY, kThreadZ, kVThread}) {
      double length = on_gpu_ ? 1 : 0;
      for (const StoreLoop& loop : store.loops) {
        if (loop.kind == kind) length = static_cast<double>(loop.length);
      }
      Log(length);
    }
    std::vector<BufferUse> uses = Uses(store);
    AddBuffers(store, uses);
    AddIntensity(store, uses);
    const size_t loops = store.loops.size();
    const double bytes = store.is_local ? static_cast<double>(store.buffer->size) * ElementBytes(store.buffer) : 0;
    const double outside = store.is_local ? Product(store.loops, 0, store.allocated) : 0;
    Log(bytes);
    Log(bytes * outside);
    Log(outside);
    Log(store.is_local ? Product(store.loops, store.allocated) : 0);
    Log(Product(store.loops));
    Log(static_cast<double>(loops));
    Log(static_cast<double>(store.unroll));
    HONE_CHECK(row_.size() == begin + kStoreColumns);
  }

  void AddKind(const StoreStatement& store, ir::ForKind kind) {
    double count = 0, product = 1, innermost = 0;
    size_t position = kNoLoop;
    const std::vector<bool>& element = store.accesses.back().uses;
    // Places of the loop among those of its kind: whether it is of elements or of reductions.
    const auto position_of = [&](size_t loop) {
      size_t before = 0, after = 0;
      for (size_t l = 0; l < store.loops.size(); ++l) {
        if (element[l] == element[loop]) (l < loop ? before : after) += l != loop;
      }
      return (element[loop] ? 0 : 3) + (after == 0 ? 0u : before == 0 ? 2u : 1u);
    };
    bool elements = false, reductions = false;
    for (size_t l = 0; l < store.loops.size(); ++l) {
      if (store.loops[l].kind != kind) continue;
      ++count;
      innermost = static_cast<double>(store.loops[l].length);
      product *= innermost;
      position = position_of(l);
      (element[l] ? elements : reductions) = true;
    }
    if (elements && reductions) position = kMixed;
    Log(count);
    Log(count > 0 ? product : 0);
    Log(innermost);
    OneHot(position, kPositions);
  }

  // The bytes that all stores under a loop touch in one of its iterations.
  double BytesBetween(int loop) const {
    std::map<const ir::BufferNode*, double> most;
    for (const StoreStatement* store : members_.at(loop)) {
      size_t depth = 0;
      while (store->loops[depth].id != loop) ++depth;
      for (const StoreAccess& access : store->accesses) {
        double& bytes = most[access.buffer.get()];
        bytes = std::max(bytes, access.Elements(store->loops, depth + 1) * ElementBytes(access.buffer));
      }
    }
    double sum = 0;
    for (const auto& [buffer, bytes] : most) sum += bytes;
    return sum;
  }

  static std::vector<BufferUse> Uses(const StoreStatement& store) {
    std::vector<BufferUse> uses;
    for (const StoreAccess& access : store.accesses) {
      auto use =
          std::ranges::find_if(uses, [&](const BufferUse& u) { return u.accesses[0]->buffer.same_as(access.buffer); });
      if (use == uses.end()) use = uses.insert(uses.end(), BufferUse());
      use->accesses.push_back(&access);
      (access.write ? use->writes : use->reads) = true;
    }
    for (BufferUse& use : uses) Measure(store, &use);
    std::ranges::stable_sort(uses, [](const BufferUse& a, const BufferUse& b) {
      return a.lines != b.lines ? a.lines > b.lines : a.bytes > b.bytes;
    });
    return uses;
  }

  static void Measure(const StoreStatement& store, BufferUse* use) {
    const double element = ElementBytes(use->accesses[0]->buffer);
    double invariant = 1;  // iterations of the innermost loops in which the address stays
    for (size_t l = store.loops.size(); l-- > 0;) {
      for (const StoreAccess* access : use->accesses) {
        const auto stride = static_cast<double>(access->strides[l]);
        if (stride > 0 && (use->stride == 0 || stride < use->stride)) use->stride = stride;
      }
      if (use->stride > 0) break;
      if (!use->Depends(l)) invariant *= static_cast<double>(store.loops[l].length);
    }
    double run = kLineBytes;
    for (const StoreAccess* access : use->accesses) {
      use->unique_bytes = std::max(use->unique_bytes, access->Elements(store.loops, 0) * element);
      run = std::min(run, access->Run(store.loops) * element);
    }
    const double product = Product(store.loops);
    use->bytes = product * element;
    use->lines = std::max(1.0, product / invariant * std::min(1.0, use->stride * element / kLineBytes));
    use->unique_lines = std::max(1.0, use->unique_bytes / run);
  }

  struct Reuse {
    size_t kind = 2;  // by a loop, by another store, no reuse
    double iterations = 0, bytes = 0, count = 0;
  };
  Reuse ReuseOf(const StoreStatement& store, const BufferUse& use) const {
    for (size_t l = store.loops.size(); l-- > 0;) {
      const StoreLoop& loop = store.loops[l];
      const double inside = Product(store.loops, l + 1);
      if (!use.Depends(l)) return {0, inside, BytesBetween(loop.id), static_cast<double>(loop.length)};
      double others = 0;
      for (const StoreStatement* other : members_.at(loop.id)) {
        others += other != &store && std::ranges::any_of(other->accesses, [&](const StoreAccess& a) {
                    return a.buffer.same_as(use.accesses[0]->buffer);
                  });
      }
      if (others > 0) return {1, inside, BytesBetween(loop.id), others};
    }
    return {};
  }

  void AddBuffers(const StoreStatement& store, const std::vector<BufferUse>& uses) {
    for (size_t b = 0; b < kBuffers; ++b) {
      if (b >= uses.size()) {
        row_.resize(row_.size() + 18, 0);
        continue;
      }
      const BufferUse& use = uses[b];
      const Reuse reuse = ReuseOf(store, use);
      OneHot(use.reads && use.writes ? 2 : use.writes ? 1 : 0, 3);
      const double amounts[] = {use.bytes, use.unique_bytes, use.lines, use.unique_lines};
      for (const double amount : amounts) Log(amount);
      OneHot(reuse.kind, 3);
      Log(reuse.iterations);
      Log(reuse.bytes);
      Log(reuse.count);
      for (const double amount : amounts) Log(reuse.count > 0 ? amount / reuse.count : 2 * amount);
      Log(use.stride);
    }
  }

  void AddIntensity(const StoreStatement& store, const std::vector<BufferUse>& uses) {
    double each = 0;
    for (size_t k = 0; k < kOperationsOfAType; ++k) each += store.operations[k] * (k == kMultiplyAdd ? 2 : 1);
    std::vector<std::pair<double, double>> levels;  // operations, operations a byte; from the innermost loop
    for (size_t depth = store.loops.size() + 1; depth-- > 0;) {
      double bytes = 0;
      for (const BufferUse& use : uses) {
        double most = 0;
        for (const StoreAccess* access : use.accesses) most = std::max(most, access->Elements(store.loops, depth));
        bytes += most * ElementBytes(use.accesses[0]->buffer);
      }
      const double operations = each * Product(store.loops, depth);
      levels.push_back({operations, bytes > 0 ? operations / bytes : 0});
    }
    size_t at = 0;
    for (size_t step = 1; step <= kSteps; ++step) {
      const double wanted = levels.back().first * static_cast<double>(step) / kSteps;
      while (at + 1 < levels.size() && levels[at].first < wanted) ++at;
      double intensity = levels[at].second;
      if (at > 0 && levels[at].first > levels[at - 1].first) {
        const double share = (wanted - levels[at - 1].first) / (levels[at].first - levels[at - 1].first);
        intensity = levels[at - 1].second + std::min(share, 1.0) * (levels[at].second - levels[at - 1].second);
      }
      Log(intensity);
    }
  }

  const std::vector<StoreStatement> stores_;
  std::map<int, std::vector<const StoreStatement*>> members_;  // the stores under each loop
  bool on_gpu_ = false;
  std::vector<float> row_;
};

}  // namespace

std::vector<float> StoreFeatures(const ir::Function& function) { return StoreRows(function).All(); }

}  // namespace hone::search
