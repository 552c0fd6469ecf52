// conv2d(f32[N,C,H,W], f32[O,C/groups,KH,KW], stride=1x1, pad=0,0,0,0, dilation=1x1, groups=1, in=nchw, layout=)
// + epilogue.
//
// The tensors are blocked; `in=nchw` declares the input plain (a network's first layer), `layout` all tensors plain or
// channels last. The output is [N,O,OH,OW] with OH = floor((H + top + bottom - ((KH-1)*dilation + 1)) / stride) + 1,
// and OW likewise.
#include "op/gpu/conv2d.h"

#include "op/conv/conv2d_shape.h"
#include "op/conv/conv2d_winograd.h"
#include "op/conv/conv_bytes.h"
#include "op/conv/conv_direct.h"
#include "op/conv/conv_unblocked.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/gpu/conv_tiles.h"
#include "op/numerics.h"
#include "op/operators.h"

namespace hone::op {

// One of two ways to compute a workload: over blocks of channels, or without.
template <auto kBlocked, auto kUnblocked>
static Result<Computation> ByLayout(const Workload& w, const Target& target, const Algorithm& algorithm) {
  if (Unblocked(w, target.ChannelBlock())) return kUnblocked(w, target, algorithm);
  const bool bytes = !w.inputs[0].type.is_float();
  if (bytes && algorithm == Algorithm()) return ComputeBytes(w, target, algorithm);
  return bytes && algorithm.name != "lanes" ? NotComputedBy(algorithm, w) : kBlocked(w, target, algorithm);
}

static Result<Computation> Nothing(const Workload& w, const Target&, const Algorithm& algorithm) {
  return NotComputedBy(algorithm, w);
}

// For groups without a sketch.
static std::vector<const Template*> CpuConv2dTemplates(const Workload& w, const Target& target) {
  const Conv2dShape s = Conv2dShape::Of(w);
  const int lanes = target.ChannelBlock();
  if (Unblocked(w, lanes) || !w.inputs[0].type.is_float()) return {};  // sketches alone
  if ((s.depthwise() && !s.plain_input) || DirectApplies(s, lanes) || GroupedLanesApplies(s, lanes)) return {};
  return {&Conv2dGrouped()};
}

static std::vector<OtherAlgorithm> OtherConv2dAlgorithms(const Workload& w, const Target& target) {
  const bool blocked = target.family() == kCpuFamily && !Unblocked(w, target.ChannelBlock());
  if (!blocked) return {};
  const Conv2dShape s = Conv2dShape::Of(w);
  const bool lanes = (s.depthwise() && !s.plain_input) || GroupedLanesApplies(s, target.ChannelBlock());
  if (lanes) return {{"lanes", {"lanes", {{"pad", 0}}}}};
  if (!w.inputs[0].type.is_float() || !DirectApplies(s, target.ChannelBlock())) return {};
  std::vector<OtherAlgorithm> algorithms = SkipAlgorithms(w, target);
  for (OtherAlgorithm& more : WinogradAlgorithms(w, target)) algorithms.push_back(std::move(more));
  return algorithms;
}

static std::vector<OtherAlgorithm> OtherConv3dAlgorithms(const Workload& w, const Target& target) {
  const bool blocked = target.family() == kCpuFamily && !Unblocked(w, target.ChannelBlock());
  if (!blocked || !w.inputs[0].type.is_float() || !DirectApplies(ConvVolume::Of(w).s, target.ChannelBlock())) return {};
  return SkipAlgorithms(w, target);
}

static std::vector<const Template*> CpuConv3dTemplates(const Workload& w, const Target& target) {
  if (Unblocked(w, target.ChannelBlock()) || !w.inputs[0].type.is_float()) return {};
  const Conv2dShape s = ConvVolume::Of(w).s;
  if (DirectApplies(s, target.ChannelBlock())) return {};
  return {&Conv3dGrouped()};
}

static std::vector<const Template*> GpuTemplates(const Workload& w, const Target& target) {
  if (Unblocked(w, target.ChannelBlock())) return {};
  return w.op == "conv2d" ? GpuConv2dTemplates(w, target) : GpuConvTilesTemplates(w, target);
}

const Operator& Conv2d() {
  static const TunedOperator op(
      "conv2d", CpuConv2dTemplates, GpuTemplates,
      {{kCpuFamily, {&Conv2dGrouped()}}, {kGpuFamily, AllGpuConv2dTemplates()}},
      {{kCpuFamily, "direct", {}, ByLayout<ComputeDirect, ComputeUnblocked>},
       {kCpuFamily, "skip", {"columns"}, ByLayout<ComputeDirect, Nothing>},
       {kCpuFamily, "winograd", {"m", "tiles"}, ByLayout<ComputeWinograd, Nothing>},
       {kCpuFamily, "lanes", {"pad"}, ByLayout<ComputeLanes, Nothing>},
       {kCpuFamily, "grouped", {}, ByLayout<ComputeGrouped, Nothing>},
       {kGpuFamily, "direct", {}, ByLayout<ComputeGpuDirect, ComputeUnblocked>},
       {kGpuFamily, "pixels", {}, ByLayout<ComputeGpuPixels, Nothing>},
       {kGpuFamily, "gemm", {"k", "parts"}, ByLayout<ComputeGpuGemm, Nothing>},
       {kGpuFamily, kTf32Gemm, {"k", "parts", "filters", "pixels"}, ByLayout<ComputeGpuGemm, Nothing>},
       {kGpuFamily, "winograd", {"m"}, ByLayout<ComputeGpuWinograd, Nothing>}},
      OtherConv2dAlgorithms);
  return op;
}

// conv3d(f32[N,C,D,H,W], f32[O,C/groups,KD,KH,KW], stride=1x1x1, pad=0,.. (front,top,left,back,bottom,right),
// dilation=1x1x1, groups=1, in=blocked) + epilogue -> [N,O,OD,OH,OW]. Blocked; in=ncdhw: a plain input.
const Operator& Conv3d() {
  static const TunedOperator op("conv3d", CpuConv3dTemplates, GpuTemplates,
                                {{kCpuFamily, {&Conv3dGrouped()}}, {kGpuFamily, {&GpuConvTiles()}}},
                                {{kCpuFamily, "direct", {}, ByLayout<ComputeDirect, ComputeUnblocked>},
                                 {kCpuFamily, "skip", {"columns"}, ByLayout<ComputeDirect, Nothing>},
                                 {kCpuFamily, "grouped", {}, ByLayout<ComputeGrouped, Nothing>},
                                 {kGpuFamily, "direct", {}, ByLayout<ComputeGpuPixels, ComputeUnblocked>},
                                 {kGpuFamily, "pixels", {}, ByLayout<ComputeGpuPixels, Nothing>}},
                                OtherConv3dAlgorithms);
  return op;
}

}  // namespace hone::op
