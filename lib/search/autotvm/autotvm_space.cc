#include "search/autotvm/autotvm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "search/autotvm/set_order.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;
using Words = std::vector<std::string>;

constexpr int64_t kMaxExtent = 1 << 20;

constexpr char kDenseLargeBatch[] = "tile_x/4 M, tile_y/4 N, tile_k/3 K";
// Positions of n, co, oh, ow, ci, kh, kw, vh, vw, vc.
constexpr char kReorder[] = "reorder_0~ 0123456789 0123456978, ";
constexpr char kSpatialAnnotations[] = "ann_reduce*2 none unroll, ann_spatial*3 none unroll vec";

// The knobs of each template in order: NAME/PARTS EXTENT [LIMIT] is a split whose inner part is at most LIMIT; NAME/set
// EXTENT LIMIT a split in two with tails, in the order of set_order.h; NAME*AXES WORD.. all words for each axis; NAME~
// ORDER.. an order of axes; NAME VALUE.. a choice. Names() defines the extents and lists in capitals.
const std::map<std::string, std::string>& Table() {
  static const std::map<std::string, std::string> table = {
      {"conv2d_nchw.cuda",
       "tile_f/4 CO, tile_y/4 OH, tile_x/4 OW, tile_rc/2 CI, tile_ry/2 KH, tile_rx/2 KW, "
       "auto_unroll_max_step 0 512 1500, unroll_explicit EXPLICIT"},
      {"conv2d_nchw_winograd.cuda",
       "tile_b/4 ONE, tile_y/4 CO, tile_x/4 TILES, tile_rc/2 CI, auto_unroll_max_step 0 128 1500, "
       "unroll_explicit EXPLICIT"},
      {"depthwise_conv2d_nchw.cuda",
       "tile_f/4 C, tile_y/4 OH, tile_x/4 OW, auto_unroll_max_step 0 256 1500, unroll_explicit EXPLICIT"},
      {"dense_small_batch.gpu", "tile_k/2 K"},
      {"dense_small_batch.cuda", "tile_k/2 K"},
      {"dense_large_batch.gpu", kDenseLargeBatch},
      {"dense_large_batch.cuda", kDenseLargeBatch},
      {"dense_int8.cuda", "tile_y/4 M, tile_x/4 N, tile_k/2 CHUNKS, auto_unroll_max_step 0 512 1500"},
      {"dense_tensorcore.cuda",
       "block_row_warps 1 2 4, block_col_warps 1 2 4, warp_row_tiles 1 2 4, warp_col_tiles 1 2 4, chunk 1 2 4 8, "
       "offset 0 8, offsetCS 0 8, vec 1 2 4 8, wmma_m FRAGMENT_ROWS"},
      {"batch_matmul.cuda",
       "tile_y/3 BATCH_M, tile_x/3 BATCH_N, tile_k/2 BATCH_K, auto_unroll_max_step 8 16 32 64, "
       "unroll_explicit EXPLICIT"},
      {"conv2d_NCHWc.x86",
       "tile_ic/2 CI, tile_oc/2 CO, tile_ow/set OW 64, tile_oh ROWS_OF_1X1, unroll_kw UNROLL_WINDOW"},
      {"depthwise_conv2d_NCHWc.x86", "tile_ic/2 CI, tile_oc/2 C, tile_ow/2 OW 64, unroll_kw true false"},
      {"dense_nopack.x86", "tile_y/2 M, tile_x/2 N, tile_k/2 K"},
      {"dense_pack.x86", "tile_y/3 M, tile_x/3 N, tile_k/2 K, tile_inner/2 M 16"},
      {"conv2d_nchw_spatial_pack.arm_cpu",
       fmt::format("tile_co/2 CO, tile_oh/2 OH, tile_ow/2 OW, {}{}", kReorder, kSpatialAnnotations)},
      {"conv2d_nchw_winograd.arm_cpu",
       "tile_p/2 TILES_OF_4 16, tile_k/2 CO 16, tile_c/2 CI 16, ann_reduce*1 none unroll, "
       "ann_spatial*2 none unroll vec"},
      {"depthwise_conv2d_nchw.arm_cpu", "tile_c/2 C, tile_h/2 OH, tile_w/2 OW, ann*3 none unroll vec"},
      {"conv2d_nchw_spatial_pack.mali",
       fmt::format("tile_co/3 CO, tile_oh/3 OH, tile_ow/3 OW, {}{}", kReorder, kSpatialAnnotations)},
      {"conv2d_nchw_winograd.mali",
       "tile_bna BLOCKS, tile_bnb 1 2 4 8 16, tile_t1/2 CI 128, tile_t2/2 CO 128, c_unroll/2 CI 8, yt 1 2 4 8 16 32"},
      {"dense.mali", "tile_y/3 M, tile_x/3 N, c_unroll/2 K 64"},
  };
  return table;
}

// The values of the table's names for one shape. A missing name means that the template does not support the shape; an
// empty list leaves out the knob.
struct Names {
  // AutoTVM's filter leaves only one factorisation of Winograd's tile_b = (m + KW - 1)^2, that of 1, for every KW.
  std::map<std::string, int64_t> extents = {{"ONE", 1}};
  std::map<std::string, Words> lists;
};

Sizes Two(const Sizes& given) { return given.size() == 1 ? Sizes{given[0], given[0]} : given; }

// The time to enumerate an extent's factorisations grows with the extent.
Status CheckExtent(int64_t extent) {
  if (extent < 1) return Status::Invalid(fmt::format("an extent of {}", extent));
  if (extent > kMaxExtent) return Status::Unsupported(fmt::format("an extent of {}; at most {}", extent, kMaxExtent));
  return Status();
}

Status NameConvolution(const AutoTvmShape& shape, Names* names) {
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
      if (v < least || v > kMaxExtent) return Status::Invalid(fmt::format("a {} of {}", what, v));
    }
  }
  const int64_t kh = weights[2], kw = weights[3];
  const int64_t reach_h = data[2] + pad[0] + pad[2] - ((kh - 1) * dilation[0] + 1);
  const int64_t reach_w = data[3] + pad[1] + pad[3] - ((kw - 1) * dilation[1] + 1);
  if (reach_h < 0 || reach_w < 0) return Status::Invalid("the window is larger than the padded input");
  const int64_t oh = reach_h / strides[0] + 1, ow = reach_w / strides[1] + 1;
  HONE_RETURN_IF_ERROR(CheckExtent(oh));
  HONE_RETURN_IF_ERROR(CheckExtent(ow));
  const auto tiles = [&](int64_t m) { return data[0] * ((oh + m - 1) / m) * ((ow + m - 1) / m); };
  names->extents.insert({{"CI", data[1]},
                         {"CO", weights[0]},
                         {"C", weights[0] * weights[1]},  // for a depthwise convolution: [C, multiplier, KH, KW]
                         {"KH", kh},
                         {"KW", kw},
                         {"OH", oh},
                         {"OW", ow},
                         {"TILES", tiles(data[2] % 8 == 0 ? 4 : 2)},
                         {"TILES_OF_4", tiles(4)}});
  const bool one = kh == 1 && kw == 1;
  names->lists["ROWS_OF_1X1"] = !one ? Words{} : oh > 1 ? Words{"1", "2"} : Words{"1"};
  names->lists["UNROLL_WINDOW"] = one ? Words{} : Words{"true", "false"};
  if (kh == 3 && kw == 3 && strides == Sizes{1, 1} && dilation == Sizes{1, 1}) {
    for (int64_t block : {1, 2, 4, 8, 16}) {
      if (weights[0] % block == 0) names->lists["BLOCKS"].push_back(std::to_string(block));
    }
  }
  return Status();
}

void NameDense(const AutoTvmShape& shape, Names* names) {
  const int64_t m = shape.tensors[0][0], k = shape.tensors[0][1], n = shape.tensors[1][0];
  names->extents.insert({{"M", m}, {"N", n}, {"K", k}});
  if (k % 4 == 0) names->extents["CHUNKS"] = k / (k % 16 == 0 ? 16 : 4);
  if (shape.four_bits) {
    if (m % 8 == 0 && n % 8 == 0 && k % 32 == 0) names->lists["FRAGMENT_ROWS"] = {};
  } else if (k % 16 != 0) {
    return;
  } else if (m % 32 == 0 && n % 8 == 0) {  // the first one fits this shape
    names->lists["FRAGMENT_ROWS"] = {"32", "16", "8"};
  } else if (m % 16 == 0 && n % 16 == 0) {
    names->lists["FRAGMENT_ROWS"] = {"16", "8", "32"};
  } else if (m % 8 == 0 && n % 32 == 0) {
    names->lists["FRAGMENT_ROWS"] = {"8", "16", "32"};
  }
}

Result<Names> NamesOf(const AutoTvmShape& shape) {
  Names names;
  names.lists["EXPLICIT"] = shape.unroll_always_explicit ? Words{"1"} : Words{"0", "1"};
  const size_t axes = shape.tensors.empty() ? 0 : shape.tensors[0].size();
  if (shape.tensors.size() < 2 || shape.tensors[1].size() != axes) return names;
  if (axes == 4) HONE_RETURN_IF_ERROR(NameConvolution(shape, &names));
  if (axes == 2) NameDense(shape, &names);
  if (axes == 3) {
    names.extents.insert(
        {{"BATCH_M", shape.tensors[0][1]}, {"BATCH_N", shape.tensors[1][1]}, {"BATCH_K", shape.tensors[0][2]}});
  }
  return names;
}

// All words for each of `axes` axes, the last axis fastest, `vec` at most once.
Knob Annotation(const std::string& name, int64_t axes, const Words& words) {
  std::vector<Words> all = {{}};
  for (int64_t a = 0; a < axes; ++a) {
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

Knob SplitKnob(const std::string& name, const std::string& parts, int64_t extent, int64_t limit) {
  if (parts != "set") return Knob::Split(name, extent, static_cast<int>(*ParseInt(parts)), limit);
  std::vector<Sizes> sizes;
  for (int64_t inner : VerboseFactors(extent)) {
    if (inner <= limit) sizes.push_back({-1, inner});
  }
  return Knob::SplitOf(name, std::move(sizes));
}

Status AddKnob(const std::string& text, const Names& names, Space* space) {
  Words words = SplitWords(text);
  const size_t mark = words[0].find_first_of("/*~");
  const std::string name = words[0].substr(0, mark);
  const char kind = mark == std::string::npos ? ' ' : words[0][mark];
  const std::string argument = kind == ' ' ? "" : words[0].substr(mark + 1);
  words.erase(words.begin());
  if (words[0][0] >= 'A' && words[0][0] <= 'Z') {
    const auto extent = names.extents.find(words[0]);
    if (kind == '/' && extent != names.extents.end()) {
      HONE_RETURN_IF_ERROR(CheckExtent(extent->second));
      space->Add(SplitKnob(name, argument, extent->second, words.size() > 1 ? *ParseInt(words[1]) : kMaxExtent));
      return Status();
    }
    const auto list = names.lists.find(words[0]);
    if (list == names.lists.end()) return Status::Invalid(fmt::format("not for this shape: it has no {}", words[0]));
    words = list->second;
  }
  if (words.empty()) return Status();
  Sizes numbers;
  std::vector<Sizes> orders;
  for (const std::string& word : words) {
    if (kind == '~') {
      orders.emplace_back();
      for (char axis : word) orders.back().push_back(axis - '0');
    } else if (const Result<int64_t> number = ParseInt(word); number.ok()) {
      numbers.push_back(*number);
    }
  }
  space->Add(kind == '*'        ? Annotation(name, *ParseInt(argument), words)
             : kind == '~'      ? Knob::Reorder(name, std::move(orders))
             : !numbers.empty() ? Knob::Choice(name, std::move(numbers))
                                : Knob::Words(name, words));
  return Status();
}

}  // namespace

const std::vector<std::string>& AutoTvmTemplates() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, knobs] : Table()) all.push_back(name);
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
  const Result<Names> names = NamesOf(shape);
  if (!names.ok()) return refused(names.status());
  Space space(template_name);
  for (const std::string& knob : Split(found->second, ',')) {
    if (const Status status = AddKnob(knob, *names, &space); !status.ok()) return refused(status);
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
