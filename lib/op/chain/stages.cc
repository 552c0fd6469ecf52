#include <fmt/format.h>

#include <utility>

#include "op/chain/chain.h"
#include "op/conv/conv2d_te.h"
#include "op/pool/pool_te.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {

const std::vector<std::string> kAxes = {"n", "co", "oh", "ow", "ci"};

static std::vector<Expr> AsExprs(const Vars& vars) { return {vars.begin(), vars.end()}; }

ChainStages::ChainStages(const Workload& chain, const Target& target)
    : parts_(chain.Parts()), lanes_(target.ChannelBlock()) {
  for (const Workload& part : parts_) {
    if (part.op != "conv2d") {
      Pool();
      continue;
    }
    const Conv2dShape s = Conv2dShape::Of(part);
    if (s.groups == 1) {
      Convolution(s);
    } else {
      Depthwise(s);
    }
  }
}

const Workload& ChainStages::Begin(const std::vector<int64_t>& data_shape) {
  const size_t i = members_.size();
  if (i == 0) data_ = te::Placeholder("data", data_shape);
  ChainMember member;
  member.name = i + 1 == parts_.size() ? "out" : "m" + std::to_string(i);
  member.source = i == 0 ? data_ : members_.back().out;
  members_.push_back(std::move(member));
  return parts_[i];
}

void ChainStages::Finally(const std::vector<int64_t>& stored, int64_t channels, const Tensor& acc) {
  const size_t i = members_.size() - 1;
  ChainMember& m = members_.back();
  const Workload& w = parts_[i];
  m.acc = acc;
  m.epilogue = MakeEpilogueTensors(w, stored, channels, static_cast<int>(lanes_),
                                   [i](const std::string& name) { return MemberOperandName(name, i); });
  m.out = te::Compute(m.name, stored, kAxes, [&](const Vars& x) {
    return BlockedEpilogue(w, m.epilogue, m.acc(AsExprs(x)), x, channels, static_cast<int>(lanes_));
  });
}

void ChainStages::Convolution(const Conv2dShape& s) {
  std::vector<int64_t> data_shape = {s.n, CeilDiv(s.c, lanes_), s.h, s.w, lanes_};
  if (s.plain_input) data_shape = {s.n, s.c, s.h, s.w};
  const Workload& w = Begin(data_shape);
  ChainMember& m = members_.back();
  const size_t i = members_.size() - 1;
  m.raw = te::Placeholder(MemberOperandName("weight", i), w.inputs[1].shape);
  m.block = s.plain_input ? s.c : lanes_;
  m.weight = WholeBlocks(m.raw, RoundUp(s.o, lanes_), RoundUp(s.c, m.block));
  Tensor source = m.source;
  if (s.pt > 0 || s.pl > 0 || s.ph() > s.h || s.pw() > s.w) {
    m.pad = source = MakePad(source, {s.pt, s.pl}, {s.ph(), s.pw()});
  }
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw"), c = te::ReduceAxis(s.c, "c");
  const int64_t ocs = CeilDiv(s.o, lanes_);
  const std::vector<int64_t> shape = {s.n, ocs, s.oh, s.ow, lanes_};
  Tensor acc = te::Compute(m.name + ".acc", shape, kAxes, [&](const Vars& x) {
    Expr y = x[2] * s.sh + kh.var * s.dh, column = x[3] * s.sw + kw.var * s.dw;
    Expr block = s.plain_input ? Expr(0) : c.var / lanes_, lane = s.plain_input ? Expr(c.var) : c.var % lanes_;
    Expr value = s.plain_input ? source(x[0], lane, y, column) : source(x[0], block, y, column, lane);
    return te::Sum(value * m.weight(x[1] * lanes_ + x[4], c.var, kh.var, kw.var), {c, kh, kw});
  });
  Finally(shape, s.o, acc);
}

void ChainStages::Depthwise(const Conv2dShape& s) {
  const int64_t blocks = CeilDiv(s.c, lanes_);
  const Workload& w = Begin({s.n, blocks, s.h, s.w, lanes_});
  ChainMember& m = members_.back();
  m.raw = te::Placeholder(MemberOperandName("weight", members_.size() - 1), w.inputs[1].shape);
  m.weight = WholeBlocks(m.raw, blocks * lanes_, 1);
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  const std::vector<int64_t> shape = {s.n, blocks, s.oh, s.ow, lanes_};
  Tensor acc = te::Compute(m.name + ".acc", shape, kAxes, [&](const Vars& x) {
    Expr y = x[2] * s.sh + kh.var * s.dh - s.pt, column = x[3] * s.sw + kw.var * s.dw - s.pl;
    Expr inside =
        BothOf(WithinExtent(y, -s.pt, s.ph() - 1 - s.pt, s.h), WithinExtent(column, -s.pl, s.pw() - 1 - s.pl, s.w));
    Expr product = m.source(x[0], x[1], y, column, x[4]) * m.weight(x[1] * lanes_ + x[4], Expr(0), kh.var, kw.var);
    return te::Sum(ZeroOutside(inside, product), {kh, kw});
  });
  Finally(shape, s.c, acc);
}

void ChainStages::Pool() {
  const Workload& w = Begin(BlockedShape(parts_[members_.size()].inputs[0].shape, lanes_));
  ChainMember& m = members_.back();
  PoolStages stages = MakePoolStages(w, m.source, m.name + ".", m.name);
  m.acc = stages.acc, m.columns = stages.columns, m.out = stages.out;
}

Computation ChainStages::MakeComputation() const {
  std::vector<Tensor> inputs = {data_};
  for (const ChainMember& m : members_) {
    if (m.raw.defined()) inputs.push_back(m.raw);
    inputs = m.epilogue.After(std::move(inputs));
  }
  return {std::move(inputs), {members_.back().out}};
}

Candidate ChainStages::MakeCandidate(const std::vector<int64_t>& ocv, const std::vector<Step>& steps) const {
  Candidate candidate;
  for (size_t i = 0; i < members_.size(); ++i) {
    const ChainMember& m = members_[i];
    if (!m.raw.defined()) continue;
    const int64_t width = ocv[i] * lanes_;
    std::vector<std::string> parts = {fmt::format("d0/{}", width), "d1", "d2", "d3", fmt::format("d0%{}", width)};
    if (m.block > 0) {
      parts[1] = fmt::format("d1/{}", m.block);
      parts.insert(parts.end() - 1, fmt::format("d1%{}", m.block));
    }
    candidate.steps.push_back(Relayout(m.weight.name(), parts, m.raw.name() + ".packed"));
  }
  candidate.steps.insert(candidate.steps.end(), steps.begin(), steps.end());
  return candidate;
}

Result<Computation> ComputeChain(const Workload& chain, const Target& target, const Algorithm&) {
  return ChainStages(chain, target).MakeComputation();
}

std::vector<Step> RowTileSteps(const Config& c, bool rows_outer) {
  std::vector<std::string> order = {"n", "oh.b", "oh.t", "co.o", "oh.r", "ow.o", "ow.i", "co.i", "ci"};
  if (rows_outer) std::swap(order[3], order[4]);
  return {
      Split("out", "oh", {c.Number("row_block")}, {"oh.b", "oh.s"}),
      Split("out", "oh.s", {c.Number("row_tile")}, {"oh.t", "oh.r"}),
      Split("out", "co", {c.Number("ocv")}, {"co.o", "co.i"}),
      Split("out", "ow", {c.Number("tile_ow")}, {"ow.o", "ow.i"}),
      Reorder("out", order),
      Fuse("out", {"n", "oh.b"}, "task"),
      Parallel("out", "task"),
  };
}

std::vector<Step> ChannelSplits(const Config& c) {
  return {Split("out", "oh", {c.Number("row_block")}, {"oh.b", "oh.r"}),
          Split("out", "co", {c.Number("co_block")}, {"co.b", "co.r"}),
          Split("out", "co.r", {c.Number("ocv")}, {"co.o", "co.i"})};
}

std::vector<Step> ChannelTasks() {
  return {Reorder("out", {"n", "oh.b", "co.b", "co.o", "co.i", "oh.r", "ow.o", "ow.i", "ci"}),
          Fuse("out", {"n", "oh.b", "co.b"}, "task"), Parallel("out", "task")};
}

static void AddTile(const ChainMember& m, const std::vector<std::string>& unrolled, std::vector<Step>* steps) {
  AppendUnrolls(steps, m.name, unrolled);
  Append(steps, {Vectorize(m.name, "ci"), ComputeAt(m.acc.name(), m.name, "ow.o"), SetScope(m.acc.name(), "register")});
}

void AddConvTile(const ChainMember& m, int64_t unroll_ic, std::vector<Step>* steps) {
  AddTile(m, {"ow.i", "co.i"}, steps);
  const std::string& acc = m.acc.name();
  Append(steps, {Split(acc, "c", {m.block / unroll_ic, unroll_ic}, {"io", "ic.o", "ic.i"}),
                 Reorder(acc, {"n", "io", "kh", "kw", "ic.o", "ic.i", "oh", "ow", "co", "ci"}), Vectorize(acc, "ci")});
  AppendUnrolls(steps, acc, {"ic.i", "oh", "ow", "co"});
}

void AddWindowTile(const ChainMember& m, bool unroll_kw, std::vector<Step>* steps) {
  AddTile(m, {"ow.i"}, steps);
  const std::string& acc = m.acc.name();
  Append(steps, {Reorder(acc, {"n", "co", "kh", "kw", "oh", "ow", "ci"}), Vectorize(acc, "ci")});
  AppendUnrolls(steps, acc, {"oh", "ow"});
  if (unroll_kw) steps->push_back(Unroll(acc, "kw"));
}

void AddDepthwise(const ChainMember& m, const Conv2dShape& s, const Config& c, std::vector<Step>* steps) {
  const int64_t tile = c.Number("dw_tile");
  steps->push_back(Split(m.name, "ow", {tile}, {"ow.o", "ow.i"}));
  AddWindowTile(m, UnrollsColumns(s, tile), steps);
}

void AddStoredConv(const ChainMember& m, int64_t ocv, int64_t columns, int64_t unroll_ic, const std::string& place,
                   std::vector<Step>* steps) {
  Append(steps, {Split(m.name, "co", {ocv}, {"co.o", "co.i"}), Split(m.name, "ow", {columns}, {"ow.o", "ow.i"}),
                 Reorder(m.name, {"n", "co.o", "oh", "ow.o", "ow.i", "co.i", "ci"})});
  AddConvTile(m, unroll_ic, steps);
  steps->push_back(ComputeAt(m.name, "out", place));
}

}  // namespace hone::op
