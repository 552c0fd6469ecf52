#include "search/autotvm/autotvm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "search/autotvm/set_order.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;
using Words = std::vector<std::string>;

constexpr int64_t kMaxExtent = 1 << 20;

struct Conv {
  int64_t n, ci, h, w, co, kh, kw, oh, ow;
};

Sizes Two(const Sizes& given) { return given.size() == 1 ? Sizes{given[0], given[0]} : given; }

// Enumerating the factorisations of an extent takes time that grows with it.
Status CheckExtent(int64_t extent) {
  if (extent < 1) return Status::Invalid(fmt::format("an extent of {}", extent));
  if (extent > kMaxExtent) return Status::Unsupported(fmt::format("an extent of {}; at most {}", extent, kMaxExtent));
  return Status();
}

Result<Conv> ConvOf(const AutoTvmShape& shape) {
  if (shape.tensors.size() < 2 || shape.tensors[0].size() != 4 || shape.tensors[1].size() != 4) {
    return Status::Invalid("a convolution has data and weights of four axes each");
  }
  const Sizes &data = shape.tensors[0], &weights = shape.tensors[1];
  const Sizes strides = Two(shape.strides), dilation = Two(shape.dilation);
  Sizes pad = Two(shape.padding);
  if (pad.size() == 2) pad = {pad[0], pad[1], pad[0], pad[1]};
  if (strides.size() != 2 || dilation.size() != 2 || pad.size() != 4) {
    return Status::Invalid("strides and dilation are two numbers, padding is two or four");
  }
  for (int64_t v : strides) {
    if (v < 1 || v > kMaxExtent) return Status::Invalid(fmt::format("a stride of {}", v));
  }
  for (int64_t v : dilation) {
    if (v < 1 || v > kMaxExtent) return Status::Invalid(fmt::format("a dilation of {}", v));
  }
  for (int64_t v : pad) {
    if (v < 0 || v > kMaxExtent) return Status::Invalid(fmt::format("a padding of {}", v));
  }
  Conv c{data[0], data[1], data[2], data[3], weights[0], weights[2], weights[3], 0, 0};
  const int64_t reach_h = c.h + pad[0] + pad[2] - ((c.kh - 1) * dilation[0] + 1);
  const int64_t reach_w = c.w + pad[1] + pad[3] - ((c.kw - 1) * dilation[1] + 1);
  if (reach_h < 0 || reach_w < 0) return Status::Invalid("the window is larger than the padded input");
  c.oh = reach_h / strides[0] + 1;
  c.ow = reach_w / strides[1] + 1;
  HONE_RETURN_IF_ERROR(CheckExtent(c.oh));
  HONE_RETURN_IF_ERROR(CheckExtent(c.ow));
  return c;
}

int64_t Tiles(const Conv& c, int64_t m) { return c.n * ((c.oh + m - 1) / m) * ((c.ow + m - 1) / m); }

SplitOptions InnerAtMost(int64_t limit) {
  return {.filter = [limit](const Sizes& parts) { return parts.back() <= limit; }};
}

// All words for each of `axes` axes, the last axis fastest, `vec` at most once.
Knob Annotation(const std::string& name, int axes, const Words& words) {
  std::vector<Words> all = {{}};
  for (int a = 0; a < axes; ++a) {
    std::vector<Words> longer;
    for (const Words& begin : all) {
      for (const std::string& word : words) {
        longer.push_back(begin);
        longer.back().push_back(word);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [](const Words& w) { return std::count(w.begin(), w.end(), "vec") > 1; });
  return Knob::Annotate(name, std::move(all));
}

const Words kTryUnroll = {"none", "unroll"};
const Words kTryUnrollVec = {"none", "unroll", "vec"};

void AddUnroll(Space* s, const AutoTvmShape& shape, const Sizes& steps) {
  s->Add(Knob::Choice("auto_unroll_max_step", steps));
  s->Add(Knob::Choice("unroll_explicit", shape.unroll_always_explicit ? Sizes{1} : Sizes{0, 1}));
}

Status CudaDirect(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  s->Add(Knob::Split("tile_f", c.co, 4));
  s->Add(Knob::Split("tile_y", c.oh, 4));
  s->Add(Knob::Split("tile_x", c.ow, 4));
  s->Add(Knob::Split("tile_rc", c.ci, 2));
  s->Add(Knob::Split("tile_ry", c.kh, 2));
  s->Add(Knob::Split("tile_rx", c.kw, 2));
  AddUnroll(s, shape, {0, 512, 1500});
  return Status();
}

Status CudaWinograd(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  const int64_t m = c.h % 8 == 0 ? 4 : 2;
  HONE_RETURN_IF_ERROR(CheckExtent(Tiles(c, m)));
  // AutoTVM's filter leaves only this factorisation of (m + KW - 1)^2, for every KW.
  s->Add(Knob::Split("tile_b", 1, 4, {.policy = SplitPolicy::kCandidate, .candidates = {{-1, 1, 1, 1}}}));
  s->Add(Knob::Split("tile_y", c.co, 4));
  s->Add(Knob::Split("tile_x", Tiles(c, m), 4));
  s->Add(Knob::Split("tile_rc", c.ci, 2));
  AddUnroll(s, shape, {0, 128, 1500});
  return Status();
}

// Output channels of a depthwise convolution: weights are [C, multiplier, KH, KW].
Result<int64_t> DepthwiseChannels(const AutoTvmShape& shape) {
  const int64_t channels = shape.tensors[1][0] * shape.tensors[1][1];
  HONE_RETURN_IF_ERROR(CheckExtent(channels));
  return channels;
}

Status CudaDepthwise(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  HONE_ASSIGN_OR_RETURN(const int64_t channels, DepthwiseChannels(shape));
  s->Add(Knob::Split("tile_f", channels, 4));
  s->Add(Knob::Split("tile_y", c.oh, 4));
  s->Add(Knob::Split("tile_x", c.ow, 4));
  AddUnroll(s, shape, {0, 256, 1500});
  return Status();
}

Status X86Conv(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  s->Add(Knob::Split("tile_ic", c.ci, 2));
  s->Add(Knob::Split("tile_oc", c.co, 2));
  SplitOptions verbose = InnerAtMost(64);
  verbose.policy = SplitPolicy::kCandidate;
  for (int64_t inner : VerboseFactors(c.ow)) verbose.candidates.push_back({-1, inner});
  s->Add(Knob::Split("tile_ow", c.ow, 2, verbose));
  if (c.kh == 1 && c.kw == 1) {
    s->Add(Knob::Choice("tile_oh", c.oh > 1 ? Sizes{1, 2} : Sizes{1}));
  } else {
    s->Add(Knob::Words("unroll_kw", {"true", "false"}));
  }
  return Status();
}

Status X86Depthwise(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  HONE_ASSIGN_OR_RETURN(const int64_t channels, DepthwiseChannels(shape));
  s->Add(Knob::Split("tile_ic", c.ci, 2));
  s->Add(Knob::Split("tile_oc", channels, 2));
  s->Add(Knob::Split("tile_ow", c.ow, 2, InnerAtMost(64)));
  s->Add(Knob::Words("unroll_kw", {"true", "false"}));
  return Status();
}

Status SpatialPack(const AutoTvmShape& shape, int parts, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  s->Add(Knob::Split("tile_co", c.co, parts));
  s->Add(Knob::Split("tile_oh", c.oh, parts));
  s->Add(Knob::Split("tile_ow", c.ow, parts));
  // Positions of n, co, oh, ow, ci, kh, kw, vh, vw, vc.
  s->Add(Knob::Reorder("reorder_0", {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 9, 7, 8}}));
  s->Add(Annotation("ann_reduce", 2, kTryUnroll));
  s->Add(Annotation("ann_spatial", 3, kTryUnrollVec));
  return Status();
}

Status ArmSpatialPack(const AutoTvmShape& shape, Space* s) { return SpatialPack(shape, 2, s); }
Status MaliSpatialPack(const AutoTvmShape& shape, Space* s) { return SpatialPack(shape, 3, s); }

Status MaliWinograd(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  const bool strided = Two(shape.strides) != Sizes{1, 1} || Two(shape.dilation) != Sizes{1, 1};
  if (c.kh != 3 || c.kw != 3 || strided) return Status::Invalid("a window of 3 x 3 with strides and dilation of 1");
  Sizes dividing = {1, 2, 4, 8, 16};
  std::erase_if(dividing, [&](int64_t block) { return c.co % block != 0; });
  s->Add(Knob::Choice("tile_bna", dividing));
  s->Add(Knob::Choice("tile_bnb", {1, 2, 4, 8, 16}));
  s->Add(Knob::Split("tile_t1", c.ci, 2, {.max_factor = 128}));
  s->Add(Knob::Split("tile_t2", c.co, 2, {.max_factor = 128}));
  s->Add(Knob::Split("c_unroll", c.ci, 2, {.max_factor = 8}));
  s->Add(Knob::Choice("yt", {1, 2, 4, 8, 16, 32}));
  return Status();
}

Status ArmWinograd(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  HONE_RETURN_IF_ERROR(CheckExtent(Tiles(c, 4)));
  s->Add(Knob::Split("tile_p", Tiles(c, 4), 2, InnerAtMost(16)));
  s->Add(Knob::Split("tile_k", c.co, 2, InnerAtMost(16)));
  s->Add(Knob::Split("tile_c", c.ci, 2, InnerAtMost(16)));
  s->Add(Annotation("ann_reduce", 1, kTryUnroll));
  s->Add(Annotation("ann_spatial", 2, kTryUnrollVec));
  return Status();
}

Status ArmDepthwise(const AutoTvmShape& shape, Space* s) {
  HONE_ASSIGN_OR_RETURN(const Conv c, ConvOf(shape));
  HONE_ASSIGN_OR_RETURN(const int64_t channels, DepthwiseChannels(shape));
  s->Add(Knob::Split("tile_c", channels, 2));
  s->Add(Knob::Split("tile_h", c.oh, 2));
  s->Add(Knob::Split("tile_w", c.ow, 2));
  s->Add(Annotation("ann", 3, kTryUnrollVec));
  return Status();
}

Status CheckDense(const AutoTvmShape& shape) {
  if (shape.tensors.size() >= 2 && shape.tensors[0].size() == 2 && shape.tensors[1].size() == 2) return Status();
  return Status::Invalid("a dense layer has data and weights of two axes each");
}

Status DenseSmallBatch(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  s->Add(Knob::Split("tile_k", shape.tensors[0][1], 2));
  return Status();
}

Status DenseLargeBatch(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  s->Add(Knob::Split("tile_x", shape.tensors[0][0], 4));
  s->Add(Knob::Split("tile_y", shape.tensors[1][0], 4));
  s->Add(Knob::Split("tile_k", shape.tensors[0][1], 3));
  return Status();
}

Status DenseInt8(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  const int64_t k = shape.tensors[0][1];
  if (k % 4 != 0) return Status::Invalid(fmt::format("sums of {}; their length is a multiple of 4", k));
  s->Add(Knob::Split("tile_y", shape.tensors[0][0], 4));
  s->Add(Knob::Split("tile_x", shape.tensors[1][0], 4));
  s->Add(Knob::Split("tile_k", k / (k % 16 == 0 ? 16 : 4), 2));
  s->Add(Knob::Choice("auto_unroll_max_step", {0, 512, 1500}));
  return Status();
}

Status DenseTensorCore(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  const int64_t m = shape.tensors[0][0], n = shape.tensors[1][0], k = shape.tensors[0][1];
  // Rows of a fragment; the first one fits this shape.
  Sizes rows;
  if (m % 32 == 0 && n % 8 == 0) {
    rows = {32, 16, 8};
  } else if (m % 16 == 0 && n % 16 == 0) {
    rows = {16, 8, 32};
  } else if (m % 8 == 0 && n % 32 == 0) {
    rows = {8, 16, 32};
  }
  const bool fits = shape.four_bits ? m % 8 == 0 && n % 8 == 0 && k % 32 == 0 : !rows.empty() && k % 16 == 0;
  if (!fits) return Status::Invalid(fmt::format("{} x {} x {} has no fragments", m, n, k));
  for (const char* warps : {"block_row_warps", "block_col_warps", "warp_row_tiles", "warp_col_tiles"}) {
    s->Add(Knob::Choice(warps, {1, 2, 4}));
  }
  s->Add(Knob::Choice("chunk", {1, 2, 4, 8}));
  s->Add(Knob::Choice("offset", {0, 8}));
  s->Add(Knob::Choice("offsetCS", {0, 8}));
  s->Add(Knob::Choice("vec", {1, 2, 4, 8}));
  if (!shape.four_bits) s->Add(Knob::Choice("wmma_m", rows));
  return Status();
}

Status MaliDense(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  s->Add(Knob::Split("tile_y", shape.tensors[0][0], 3));
  s->Add(Knob::Split("tile_x", shape.tensors[1][0], 3));
  s->Add(Knob::Split("c_unroll", shape.tensors[0][1], 2, {.max_factor = 64}));
  return Status();
}

Status DenseNoPack(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  s->Add(Knob::Split("tile_y", shape.tensors[0][0], 2));
  s->Add(Knob::Split("tile_x", shape.tensors[1][0], 2));
  s->Add(Knob::Split("tile_k", shape.tensors[0][1], 2));
  return Status();
}

Status DensePack(const AutoTvmShape& shape, Space* s) {
  HONE_RETURN_IF_ERROR(CheckDense(shape));
  s->Add(Knob::Split("tile_y", shape.tensors[0][0], 3));
  s->Add(Knob::Split("tile_x", shape.tensors[1][0], 3));
  s->Add(Knob::Split("tile_k", shape.tensors[0][1], 2));
  s->Add(Knob::Split("tile_inner", shape.tensors[0][0], 2, InnerAtMost(16)));
  return Status();
}

Status BatchMatmul(const AutoTvmShape& shape, Space* s) {
  if (shape.tensors.size() < 2 || shape.tensors[0].size() != 3 || shape.tensors[1].size() != 3) {
    return Status::Invalid("a batch of products has two tensors of three axes each");
  }
  s->Add(Knob::Split("tile_y", shape.tensors[0][1], 3));
  s->Add(Knob::Split("tile_x", shape.tensors[1][1], 3));
  s->Add(Knob::Split("tile_k", shape.tensors[0][2], 2));
  AddUnroll(s, shape, {8, 16, 32, 64});
  return Status();
}

using Fill = Status (*)(const AutoTvmShape&, Space*);
const std::map<std::string, Fill>& Table() {
  static const std::map<std::string, Fill> table = {
      {"conv2d_nchw.cuda", CudaDirect},
      {"conv2d_nchw_winograd.cuda", CudaWinograd},
      {"depthwise_conv2d_nchw.cuda", CudaDepthwise},
      {"dense_small_batch.gpu", DenseSmallBatch},
      {"dense_small_batch.cuda", DenseSmallBatch},
      {"dense_large_batch.gpu", DenseLargeBatch},
      {"dense_large_batch.cuda", DenseLargeBatch},
      {"dense_int8.cuda", DenseInt8},
      {"dense_tensorcore.cuda", DenseTensorCore},
      {"batch_matmul.cuda", BatchMatmul},
      {"conv2d_NCHWc.x86", X86Conv},
      {"depthwise_conv2d_NCHWc.x86", X86Depthwise},
      {"dense_nopack.x86", DenseNoPack},
      {"dense_pack.x86", DensePack},
      {"conv2d_nchw_spatial_pack.arm_cpu", ArmSpatialPack},
      {"conv2d_nchw_winograd.arm_cpu", ArmWinograd},
      {"depthwise_conv2d_nchw.arm_cpu", ArmDepthwise},
      {"conv2d_nchw_spatial_pack.mali", MaliSpatialPack},
      {"conv2d_nchw_winograd.mali", MaliWinograd},
      {"dense.mali", MaliDense},
  };
  return table;
}

}  // namespace

const std::vector<std::string>& AutoTvmTemplates() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, fill] : Table()) all.push_back(name);
    return all;
  }();
  return names;
}

Result<Space> AutoTvmSpace(const std::string& template_name, const AutoTvmShape& shape) {
  const auto found = Table().find(template_name);
  if (found == Table().end()) {
    return Status::NotFound("`" + template_name + "`: no space of AutoTVM of this name is known here");
  }
  const auto refused = [&](const Status& why) { return Status(why.kind(), template_name + ": " + why.message()); };
  for (const Sizes& tensor : shape.tensors) {
    for (int64_t extent : tensor) {
      if (const Status status = CheckExtent(extent); !status.ok()) return refused(status);
    }
  }
  Space space(template_name);
  const Status status = found->second(shape, &space);
  if (!status.ok()) return refused(status);
  return space;
}

Result<AutoTvmShape> AutoTvmShapeOf(const Workload& workload) {
  if (workload.chain() || (workload.op != "conv2d" && workload.op != "dense" && workload.op != "matmul")) {
    return Status::Unsupported("`" + workload.OperatorText() +
                               "`: AutoTVM's spaces are those of conv2d, dense and matmul");
  }
  AutoTvmShape shape;
  for (const TensorType& input : workload.inputs) shape.tensors.push_back(input.shape);
  if (workload.op == "matmul") {
    const bool batches = shape.tensors[0].size() == 3 && shape.tensors[1].size() == 3;
    if (!batches) return Status::Unsupported("AutoTVM's batch_matmul has two tensors of three axes each");
    std::swap(shape.tensors[1][1], shape.tensors[1][2]);  // there the second one lies transposed
  }
  shape.strides = workload.Numbers("stride", {1, 1});
  shape.padding = workload.Numbers("pad", {0, 0, 0, 0});
  shape.dilation = workload.Numbers("dilation", {1, 1});
  return shape;
}

}  // namespace hone::search
