#include "search/autotvm/autotvm_space.h"

#include <map>
#include <tuple>

#include "base/text.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kMaxExtent = 1 << 20;

// The knobs of each template in order: NAME/PARTS EXTENT is a split, NAME VALUE.. a choice. NamesOf() defines the
// extents; EXPLICIT is 0 and 1, or only 1.
const std::map<std::string, std::string>& Table() {
  static const std::string small_batch = "tile_k/2 K", large_batch = "tile_x/4 M, tile_y/4 N, tile_k/3 K";
  static const std::map<std::string, std::string> table = {
      {"conv2d_nchw.cuda",
       "tile_f/4 CO, tile_y/4 OH, tile_x/4 OW, tile_rc/2 CI, tile_ry/2 KH, tile_rx/2 KW, "
       "auto_unroll_max_step 0 512 1500, unroll_explicit EXPLICIT"},
      {"conv2d_nchw_winograd.cuda",
       "tile_b/4 ONE, tile_y/4 CO, tile_x/4 TILES, tile_rc/2 CI, auto_unroll_max_step 0 128 1500, "
       "unroll_explicit EXPLICIT"},
      {"depthwise_conv2d_nchw.cuda",
       "tile_f/4 C, tile_y/4 OH, tile_x/4 OW, auto_unroll_max_step 0 256 1500, unroll_explicit EXPLICIT"},
      {"dense_small_batch.gpu", small_batch},
      {"dense_small_batch.cuda", small_batch},
      {"dense_large_batch.gpu", large_batch},
      {"dense_large_batch.cuda", large_batch},
      {"batch_matmul.cuda",
       "tile_y/3 BATCH_M, tile_x/3 BATCH_N, tile_k/2 BATCH_K, auto_unroll_max_step 8 16 32 64, "
       "unroll_explicit EXPLICIT"},
  };
  return table;
}

// The table's extents for one shape. A missing one means that the template does not support the shape.
using Extents = std::map<std::string, int64_t>;

Sizes Two(const Sizes& given) { return given.size() == 1 ? Sizes{given[0], given[0]} : given; }

// The time to enumerate an extent's factorisations grows with the extent.
Status CheckExtent(int64_t extent) {
  if (extent < 1) return Status::Invalid("an extent of {}", extent);
  if (extent > kMaxExtent) return Status::Unsupported("an extent of {}; at most {}", extent, kMaxExtent);
  return Status();
}

Status AddConvolution(const AutoTvmShape& shape, Extents* extents) {
  const Sizes &data = shape.tensors[0], &weights = shape.tensors[1];
  const Sizes strides = Two(shape.strides), dilation = Two(shape.dilation);
  Sizes pad = Two(shape.padding);
  if (pad.size() == 2) pad = {pad[0], pad[1], pad[0], pad[1]};
  if (strides.size() != 2 || dilation.size() != 2 || pad.size() != 4) {
    return Status::Invalid("strides and dilation are two numbers, padding is two or four");
  }
  const std::vector<std::tuple<const char*, int64_t, Sizes>> given = {
      {"stride", 1, strides}, {"dilation", 1, dilation}, {"padding", 0, pad}};
  for (const auto& [what, least, numbers] : given) {
    for (int64_t v : numbers) {
      if (v < least || v > kMaxExtent) return Status::Invalid("a {} of {}", what, v);
    }
  }
  const int64_t kh = weights[2], kw = weights[3];
  const int64_t reach_h = data[2] + pad[0] + pad[2] - ((kh - 1) * dilation[0] + 1);
  const int64_t reach_w = data[3] + pad[1] + pad[3] - ((kw - 1) * dilation[1] + 1);
  if (reach_h < 0 || reach_w < 0) return Status::Invalid("the window is larger than the padded input");
  const int64_t oh = reach_h / strides[0] + 1, ow = reach_w / strides[1] + 1;
  HONE_RETURN_IF_ERROR(CheckExtent(oh));
  HONE_RETURN_IF_ERROR(CheckExtent(ow));
  const int64_t m = data[2] % 8 == 0 ? 4 : 2;  // of Winograd
  extents->insert({{"CI", data[1]},
                   {"CO", weights[0]},
                   {"C", weights[0] * weights[1]},  // for a depthwise convolution: [C, multiplier, KH, KW]
                   {"KH", kh},
                   {"KW", kw},
                   {"OH", oh},
                   {"OW", ow},
                   {"TILES", data[0] * ((oh + m - 1) / m) * ((ow + m - 1) / m)}});
  return Status();
}

Result<Extents> ExtentsOf(const AutoTvmShape& shape) {
  // AutoTVM's filter leaves only one factorisation of Winograd's tile_b = (m + KW - 1)^2, that of 1, for every KW.
  Extents extents = {{"ONE", 1}};
  const size_t axes = shape.tensors.empty() ? 0 : shape.tensors[0].size();
  if (shape.tensors.size() < 2 || shape.tensors[1].size() != axes) return extents;
  const Sizes &a = shape.tensors[0], &b = shape.tensors[1];
  if (axes == 4) HONE_RETURN_IF_ERROR(AddConvolution(shape, &extents));
  if (axes == 2) extents.insert({{"M", a[0]}, {"N", b[0]}, {"K", a[1]}});
  if (axes == 3) extents.insert({{"BATCH_M", a[1]}, {"BATCH_N", b[1]}, {"BATCH_K", a[2]}});
  return extents;
}

Status AddKnob(const std::string& text, const AutoTvmShape& shape, const Extents& extents, Space* space) {
  std::vector<std::string> words = SplitWords(text);
  const size_t slash = words[0].find('/');
  const std::string name = words[0].substr(0, slash);
  if (slash != std::string::npos) {
    const auto extent = extents.find(words[1]);
    if (extent == extents.end()) {
      return Status::Invalid("not for this shape: it has no {}", words[1]);
    }
    HONE_RETURN_IF_ERROR(CheckExtent(extent->second));
    const auto parts = static_cast<int>(*ParseInt(words[0].substr(slash + 1)));
    space->Add(Knob::Split(name, extent->second, parts, kMaxExtent));
    return Status();
  }
  Sizes numbers;
  if (words[1] == "EXPLICIT") {
    numbers = shape.unroll_always_explicit ? Sizes{1} : Sizes{0, 1};
  } else {
    for (size_t i = 1; i < words.size(); ++i) numbers.push_back(*ParseInt(words[i]));
  }
  space->Add(Knob::Choice(name, numbers));
  return Status();
}

}  // namespace

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
  const Result<Extents> extents = ExtentsOf(shape);
  if (!extents.ok()) return refused(extents.status());
  Space space(template_name);
  for (const std::string& knob : Split(found->second, ',')) {
    if (const Status status = AddKnob(knob, shape, *extents, &space); !status.ok()) return refused(status);
  }
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
    std::swap(shape.tensors[1][1], shape.tensors[1][2]);  // there the second one is transposed
  }
  shape.strides = workload.Numbers("stride", {1, 1});
  shape.padding = workload.Numbers("pad", {0, 0, 0, 0});
  shape.dilation = workload.Numbers("dilation", {1, 1});
  return shape;
}

}  // namespace hone::search
