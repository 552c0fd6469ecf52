#include "op/conv/conv3d.h"

#include "op/conv/conv_direct.h"
#include "op/conv/conv_direct_space.h"
#include "op/conv/conv_grouped.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/gpu/conv_tiles.h"

namespace hone::op {
namespace {

std::vector<const Template*> CpuConv3dTemplates(const Workload& w, const Target& target) {
  const Conv2dShape s = ConvVolume::Of(w).s;
  if (s.groups == 1 || DirectLayer::MergedGroups(s, target.ChannelBlock()) > 0) return {&Conv3dDirect()};
  return {&Conv3dGrouped()};
}

}  // namespace

const Operator& Conv3d() {
  static const TunedOperator op(
      "conv3d", CpuConv3dTemplates, GpuConvTilesTemplates,
      {{kCpuFamily, {&Conv3dDirect(), &Conv3dGrouped()}}, {kGpuFamily, {&GpuConvTiles(), &GpuConvPlain()}}});
  return op;
}

}  // namespace hone::op
