#include "sketch/sum_tiles.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/integers.h"
#include "search/space/rules.h"
#include "target/architecture.h"
#include "target/arm_cores.h"
#include "target/byte_products.h"

namespace hone::sketch {
namespace {

enum SumDecision {
  kRows,
  kOuterRows,
  kVectors,
  kBlockRows,
  kBlockVectors,
  kOrder,
  kOthers,
  kReduce,
  kUnroll,
  kPrefetch,
  kCopy,
  kPanel,
  kDecisions,
};
constexpr std::array<const char*, kDecisions> kNames = {"rows",          "outer_rows", "vectors", "block_rows",
                                                        "block_vectors", "order",      "others",  "reduce",
                                                        "unroll",        "prefetch",   "copy",    "panel"};

// The innermost axes before the last one that fit.
std::vector<size_t> AxesFromInside(const SumNest& nest, const std::function<bool(size_t)>& fits) {
  std::vector<size_t> axes;
  for (size_t i = nest.last(); i-- > 0;) {
    if (nest.axes[i].extent > 1 && fits(i)) axes.push_back(i);
  }
  return axes;
}

}  // namespace

// Whether dot4 can take four neighbours along the axis: the sum has i8 constants, which are stored so that they lie
// side by side, times bytes that do.
static bool TakesFour(const SumNest& n, size_t axis) {
  const auto* body = n.sum.node()->body.as<ir::Reduce>()->body.as<ir::Binary>();
  const auto byte = [](const ir::Expr& e) {
    const auto* cast = e.as<ir::Cast>();
    return cast != nullptr && cast->value.as<ir::Access>() != nullptr && cast->value.type().bits == 8;
  };
  if (body == nullptr || body->kind != ir::ExprKind::kMul || !byte(body->a) || !byte(body->b)) return false;
  if (n.axes[axis].extent % 4 != 0 || n.reads.size() != 2) return false;
  size_t data = 0, weights = 0;
  for (const SumRead& read : n.reads) {
    if (read.constant && read.Uses(n.last()) && read.tensor.type() == DType::Int(8) && n.DigitsOf(read)) ++weights;
    bool beside = !read.constant && !read.Uses(n.last());
    for (size_t d = 0; d < read.indices.size(); ++d) {
      for (const Term& term : read.indices[d]) {
        if (term.axis != axis) continue;
        beside = beside && d + 1 == read.indices.size() && term.coefficient == 1 && term.divisor == 1 &&
                 term.modulus == INT64_MAX;
      }
    }
    data += beside && read.Uses(axis);
  }
  return data == 1 && weights == 1;
}

// x86-64 without VNNI has pairs of 16 bits, AArch64 without sdot single bytes. sdot takes signed bytes: for unsigned
// ones it needs the sums of the others.
static void SetRegisters(const Target& target, SumLoops* l) {
  const bool arm = Architecture(target.triple) == "aarch64";
  if (l->pairs) l->factor_registers = arm ? 4 : 2, l->mask_registers = arm ? 1 : 0;
  const bool is_unsigned = std::ranges::any_of(
      l->nest.reads, [](const SumRead& read) { return !read.constant && read.tensor.type().is_uint(); });
  const bool mixes = std::ranges::find(target.features, "i8mm") != target.features.end();
  if (arm && !l->pairs && is_unsigned && !mixes) l->factor_registers = 2, l->mask_registers = 1;
}

std::optional<SumLoops> SumLoopsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                   const Target& target) {
  std::optional<SumNest> nest = SumNestOf(out, constants);
  if (!nest) return {};
  SumLoops l{std::move(*nest)};
  const SumNest& n = l.nest;
  l.lanes = target.FloatLanes();
  l.threads = std::max(target.threads, 1);
  l.registers = target.vector_registers;
  l.by_element = ArmCoreIsInOrder(target.cpu) && out.type().element() == DType::Float(32);
  const std::vector<size_t> beside =
      AxesFromInside(n, [&](size_t i) { return n.IsLacked(i) && n.SameReads(i, n.last()); });
  const std::vector<size_t> rows =
      AxesFromInside(n, [&](size_t i) { return n.IsLacked(i) && !n.SameReads(i, n.last()); });
  l.vectors = n.axes[n.last()].extent > l.lanes || beside.empty() ? n.last() : beside[0];
  if (n.IsAsked(n.last()) || n.IsAsked(l.vectors)) return {};
  for (const SumRead& read : n.reads) {
    if (!read.constant) continue;
    for (const Digit& digit : n.DigitsOf(read).value_or(std::vector<Digit>())) {
      // A tile beyond the end of another digit would be stored in the next one's place.
      if (digit.axis == l.vectors && !digit.highest) return {};
    }
  }
  if (!rows.empty()) {
    l.rows = rows[0];
    if (rows.size() > 1 && n.SameReads(rows[1], rows[0])) l.outer_rows = rows[1];
  } else {
    l.rows = n.last() - 1;
    if (l.rows == l.vectors && l.rows-- == 0) return {};
  }
  for (size_t i = 0; i < n.last(); ++i) {
    if (i != l.rows && i != l.outer_rows && i != l.vectors) l.others.push_back(i);
  }
  for (size_t i = n.outputs; i < n.axes.size(); ++i) {
    if (n.axes[i].extent > 1) (n.IsWindow(i) ? l.window : l.channels).push_back(i);
  }
  if (l.channels.empty()) {
    l.channels.push_back(l.window.empty() ? n.axes.size() - 1 : l.window.back());
    if (!l.window.empty()) l.window.pop_back();
  }
  // Four taps of a window as four channels, if they have an axis of their own.
  if (!l.window.empty() && n.axes[l.window.back()].extent == 4 && TakesFour(n, l.window.back())) {
    l.channels.push_back(l.window.back());
    l.window.pop_back();
  }
  if (TakesFour(n, l.channels.back())) {
    l.products = 4, l.pairs = !HasByteProducts(target);
    SetRegisters(target, &l);
  }
  constexpr int64_t kFarBytes = 1024;
  for (size_t r = 0; r < n.reads.size() && l.vectors == n.last(); ++r) {
    const SumRead& read = n.reads[r];
    const bool stage = read.tensor.node()->kind != te::TensorKind::kPlaceholder;
    if (read.constant || stage || !read.Uses(n.last()) || read.Uses(l.rows)) continue;
    if (read.Uses(l.channels.back()) && read.bytes() * read.tensor.shape().back() >= kFarBytes) l.far = r;
  }
  return l;
}

int64_t SumLoops::VectorCount() const { return CeilDiv(Extent(vectors), VectorWidth()); }

int64_t SumLoops::OtherTasks() const {
  int64_t tasks = 1;
  for (size_t axis : others) tasks *= Extent(axis);
  return tasks;
}

int64_t SumLoops::ConstantBytes() const {
  double bytes = 0;
  for (const SumRead& read : nest.reads) {
    if (read.constant) bytes += static_cast<double>(read.bytes()) * read.Elements(nest.Extents());
  }
  return static_cast<int64_t>(bytes);
}

bool SumLoops::FarChannels() const {
  return std::any_of(nest.reads.begin(), nest.reads.end(), [&](const SumRead& read) {
    return !read.constant && !read.Uses(nest.last()) && !read.indices.back().empty() &&
           read.indices.back()[0].axis < nest.outputs;
  });
}

std::pair<const SumRead*, int64_t> SumLoops::FetchStride() const {
  if (nest.source.defined() || !window.empty() || channels.size() < 2) return {nullptr, 0};
  for (const SumRead& read : nest.reads) {
    if (read.constant) continue;
    int64_t stride = 1, found = 0;
    for (size_t d = read.indices.size(); d-- > 0; stride *= read.tensor.shape()[d]) {
      for (const Term& term : read.indices[d]) {
        if (term.axis == channels[0]) found = stride * term.coefficient;
      }
    }
    if (found > 0) return {&read, found};
  }
  return {nullptr, 0};
}

std::vector<int64_t> SumLoops::WithinRuns(size_t axis, std::vector<int64_t> values) const {
  const int64_t run = nest.Run(axis);
  std::erase_if(values, [&](int64_t value) { return run % value != 0; });
  return values;
}

std::vector<int64_t> SumLoops::RowValues() const {
  // The answer for each column is known if a tile has the whole row, or one column.
  if (nest.IsAsked(rows)) return {Extent(rows) + 2 <= registers ? Extent(rows) : 1};
  return WithinRuns(rows, search::EvenParts(Extent(rows), registers - 3));
}

std::vector<int64_t> SumLoops::OuterRowValues() const {
  if (!outer_rows || nest.IsAsked(*outer_rows)) return {1};
  return WithinRuns(*outer_rows, search::NoLarger(Extent(*outer_rows), {1, 2, 4, 7}));
}

std::vector<int64_t> SumLoops::VectorValues() const {
  std::vector<int64_t> values = {1, 2, 3, 4};
  // Few rows leave registers for more vectors.
  if (Extent(rows) * (outer_rows ? Extent(*outer_rows) : 1) <= 4) values.insert(values.end(), {6, 8});
  return WithinRuns(vectors, search::NoLarger(VectorCount(), values));
}

// How many tiles a task has: a few; or enough that each thread gets one, two or four tasks; or all.
static std::vector<int64_t> BlockValues(int64_t extent, int threads) {
  std::vector<int64_t> values = search::NoLarger(extent, {1, 2, 4, extent});
  for (const int64_t tasks : {1, 2, 4}) values.push_back(CeilDiv(extent, tasks * threads));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<int64_t> SumLoops::BlockRowValues() const { return BlockValues(Extent(block_axis()), threads); }

std::vector<int64_t> SumLoops::BlockVectorValues() const { return BlockValues(VectorCount(), threads); }

SumReader::SumReader(const std::vector<search::Knob>& decisions) : reader_(decisions, kNames) {}

SumPoint SumReader::Read(const Config& config) const {
  const auto number = [&](SumDecision decision) { return reader_.Number(config, decision); };
  const auto is = [&](SumDecision decision, std::string_view word) { return reader_.Is(config, decision, word); };
  SumPoint p;
  p.rows = number(kRows), p.outer_rows = number(kOuterRows), p.vectors = number(kVectors);
  p.block_rows = number(kBlockRows), p.block_vectors = number(kBlockVectors);
  if (is(kOrder, "vectors")) p.order = TileOrder::kVectorsInside;
  if (is(kOrder, "between")) p.order = TileOrder::kVectorsBetween;
  p.others_apart = !is(kOthers, "inside");
  p.taps = is(kReduce, "window.taps") || is(kReduce, "channels.taps");
  p.window_outside = !is(kReduce, "channels") && !is(kReduce, "channels.taps");
  p.unroll = number(kUnroll);
  p.prefetch = is(kPrefetch, "tile"), p.copy_in_task = is(kCopy, "task"), p.panel = is(kPanel, "tile");
  return p;
}

int64_t SumPoint::RowParts(const SumLoops& l) const {
  return CeilDiv(l.Extent(l.block_axis()), block_rows * BlockTile(l));
}

int64_t SumPoint::VectorParts(const SumLoops& l) const { return CeilDiv(l.VectorCount(), block_vectors * vectors); }

int64_t SumPoint::Tasks(const SumLoops& l) const {
  return RowParts(l) * VectorParts(l) * (others_apart ? l.OtherTasks() : 1);
}

}  // namespace hone::sketch
