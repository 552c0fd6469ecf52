// conv3d(f32[N,C,D,H,W], f32[O,C/groups,KD,KH,KW], stride=1x1x1, pad=0,.. (front,top,left,back,bottom,right),
// dilation=1x1x1, groups=1, in=blocked) + epilogue -> [N,O,OD,OH,OW]. Blocked; in=ncdhw: a plain input.
#include "op/conv/conv_direct.h"
#include "op/conv/conv_grouped.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/gpu/conv_tiles.h"
#include "op/operators.h"

namespace hone::op {
namespace {

std::vector<const Template*> CpuConv3dTemplates(const Workload& w, const Target& target) {
  const Conv2dShape s = ConvVolume::Of(w).s;
  if (DirectApplies(s, target.ChannelBlock())) return {&Conv3dDirect()};
  return {&Conv3dGrouped()};
}

}  // namespace

const Operator& Conv3d() {
  static const TunedOperator op(
      "conv3d", CpuConv3dTemplates, GpuConvTilesTemplates,
      {{kCpuFamily, {&Conv3dDirect(), &Conv3dGrouped()}}, {kGpuFamily, {&GpuConvTiles(), &GpuConvPlain()}}},
      {{kCpuFamily, "direct", {}, ComputeDirect},
       {kCpuFamily, "grouped", {}, ComputeGrouped},
       {kGpuFamily, "pixels", {}, ComputeGpuPixels}});
  return op;
}

}  // namespace hone::op
