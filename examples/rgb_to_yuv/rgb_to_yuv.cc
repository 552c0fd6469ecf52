// User-defined operators: convert an image from RGB to YUV, pixel by pixel. This file contains all of them.
//   rgb_to_yuv         an image [height, width, 3]; it has a template each for CPUs and GPUs, with choices worth trying
//   rgb_to_yuv_planes  an image [3, height, width]; it has no template: Hone derives schedules for CPUs
// doc/tutorial/own-operator.md walks through it.
#include <algorithm>

#include "plugin/plugin.h"

namespace {

using hone::Config;
using hone::Result;
using hone::Status;
using hone::Target;
using hone::Workload;
namespace semantics = hone::semantics;
namespace ir = hone::ir;
namespace op = hone::op;
namespace search = hone::search;
namespace te = hone::te;

constexpr double kYuv[3][3] = {{0.257, 0.504, 0.098}, {-0.148, -0.291, 0.439}, {0.439, -0.368, -0.071}};

// ---- Its meaning, against which kernels are checked: shapes, values in double precision, FLOP.

Result<semantics::Shape> Shape(const Workload& w) {
  const semantics::Shape& image = w.inputs[0].shape;
  if (image.size() == 3 && image[2] == 3) return image;
  return Status::Invalid("rgb_to_yuv takes an image [height, width, 3], not " + w.inputs[0].Text());
}

void Evaluate(const Workload&, const std::vector<const semantics::Values*>& inputs, const semantics::Shape&, int,
              semantics::Values* out) {
  const semantics::Values& rgb = *inputs[0];
  for (size_t i = 0; i < out->size(); ++i) {
    const double* pixel = rgb.data() + i / 3 * 3;
    const double* row = kYuv[i % 3];
    (*out)[i] = row[0] * pixel[0] + row[1] * pixel[1] + row[2] * pixel[2];
  }
}

double Flop(const Workload&, const semantics::Shape& image) {
  return 5.0 * static_cast<double>(semantics::Product(image));
}

// ---- The same as tensor expressions, from which kernels are made.

Result<op::Computation> Compute(const Workload& w, const Target&) {
  const semantics::Shape& image = w.inputs[0].shape;
  const te::Tensor rgb = te::Placeholder("data", image);
  const te::Tensor out = te::Compute("out", image, {"y", "x", "c"}, [&](const std::vector<ir::Var>& at) {
    const auto row = [&](int c) {
      const auto term = [&](int k) { return ir::Imm(rgb.type(), kYuv[c][k]) * rgb(at[0], at[1], ir::Expr(k)); };
      return term(0) + term(1) + term(2);
    };
    return ir::MakeSelect(at[2] < 1, row(0), ir::MakeSelect(at[2] < 2, row(1), row(2)));
  });
  return op::Computation{{rgb}, {out}};
}

// ---- The same for planes.

Result<semantics::Shape> PlanesShape(const Workload& w) {
  const semantics::Shape& image = w.inputs[0].shape;
  if (image.size() == 3 && image[0] == 3) return image;
  return Status::Invalid("rgb_to_yuv_planes takes an image [3, height, width], not " + w.inputs[0].Text());
}

void EvaluatePlanes(const Workload&, const std::vector<const semantics::Values*>& inputs, const semantics::Shape&, int,
                    semantics::Values* out) {
  const semantics::Values& rgb = *inputs[0];
  const size_t plane = out->size() / 3;
  for (size_t i = 0; i < out->size(); ++i) {
    const size_t pixel = i % plane;
    const double* row = kYuv[i / plane];
    (*out)[i] = row[0] * rgb[pixel] + row[1] * rgb[plane + pixel] + row[2] * rgb[2 * plane + pixel];
  }
}

Result<op::Computation> ComputePlanes(const Workload& w, const Target&) {
  const semantics::Shape& image = w.inputs[0].shape;
  const te::Tensor rgb = te::Placeholder("data", image);
  const te::Tensor out = te::Compute("out", image, {"c", "y", "x"}, [&](const std::vector<ir::Var>& at) {
    const auto row = [&](int c) {
      const auto term = [&](int k) { return ir::Imm(rgb.type(), kYuv[c][k]) * rgb(ir::Expr(k), at[1], at[2]); };
      return term(0) + term(1) + term(2);
    };
    return te::IfThenElse(at[0] < 1, row(0), te::IfThenElse(at[0] < 2, row(1), row(2)));
  });
  return op::Computation{{rgb}, {out}};
}

// ---- On CPUs: tasks of some rows each, vectors of pixels, the three channels unrolled.

Result<search::Space> CpuSpace(const Workload& w, const Target& target) {
  search::Space space("rgb_to_yuv_cpu");
  std::vector<int64_t> rows, pixels;
  for (int64_t r = 1; r <= std::min<int64_t>(w.inputs[0].shape[0], 256); r *= 2) rows.push_back(r);
  for (int64_t p = target.FloatLanes(); p >= 1; p /= 2) pixels.push_back(p);
  space.Add(search::Knob::Choice("rows", rows));
  space.Add(search::Knob::Choice("pixels", pixels));
  space.Add(search::Knob::Choice("unroll", {1, 2, 4, 8}));
  return space;
}

Result<std::vector<hone::Step>> CpuSteps(const Workload&, const Target&, const Config& config) {
  return std::vector<hone::Step>{
      hone::Split("out", "y", {config.Number("rows")}, {"task", "row"}),
      hone::Split("out", "x", {config.Number("unroll"), config.Number("pixels")}, {"x.o", "x.u", "x.v"}),
      hone::Reorder("out", {"x.u", "c", "x.v"}),
      hone::Vectorize("out", "x.v"),
      hone::Unroll("out", "c"),
      hone::Unroll("out", "x.u"),
      hone::Parallel("out", "task")};
}

// ---- On GPUs: each thread computes some pixels of the fused image; neighbouring threads take neighbouring pixels.

Result<search::Space> GpuSpace(const Workload&, const Target& target) {
  search::Space space("rgb_to_yuv_gpu");
  space.Add(search::Knob::Choice("threads", {32, 64, 128, 256, 512, 1024}));
  space.Add(search::Knob::Choice("pixels", {1, 2, 4}));
  const int64_t most = target.limits.max_threads_per_block, warp = target.limits.warp_size;
  space.AddRule({"threads", [most, warp](const Config& config) -> std::optional<std::string> {
                   const int64_t threads = config.Number("threads");
                   if (threads > most)
                     return std::to_string(threads) + " threads, the device has " + std::to_string(most);
                   if (threads < warp) return std::to_string(threads) + " threads are less than a warp";
                   return std::nullopt;
                 }});
  return space;
}

Result<std::vector<hone::Step>> GpuSteps(const Workload&, const Target&, const Config& config) {
  return std::vector<hone::Step>{
      hone::Fuse("out", {"y", "x"}, "pixel"),
      hone::Split("out", "pixel", {config.Number("pixels"), config.Number("threads")}, {"block", "p", "thread"}),
      hone::Bind("out", "block", "blockIdx.x"),
      hone::Reorder("out", {"thread", "p"}),
      hone::Bind("out", "thread", "threadIdx.x"),
      hone::Unroll("out", "p"),
      hone::Unroll("out", "c")};
}

}  // namespace

HONE_OPERATOR(rgb_to_yuv) {
  op->definition.shape = Shape;
  op->definition.evaluate = Evaluate;
  op->definition.flop = Flop;
  op->compute = Compute;
  op->templates = {{"rgb_to_yuv_cpu", 1, "cpu", CpuSpace, CpuSteps}, {"rgb_to_yuv_gpu", 1, "gpu", GpuSpace, GpuSteps}};
}

HONE_OPERATOR(rgb_to_yuv_planes) {
  op->definition.shape = PlanesShape;
  op->definition.evaluate = EvaluatePlanes;
  op->definition.flop = Flop;
  op->compute = ComputePlanes;
}
