// Lowered schedules for the tests of lib/lower, and matrix products to lower and run.
#pragma once

#include <fmt/format.h>

#include "common/expect.h"
#include "common/outline.h"
#include "interpreter/interpreter.h"
#include "ir/device_kernels.h"
#include "lower/lower.h"

namespace hone::lower {

using te::Tensor;
using Vars = std::vector<ir::Var>;

// Lowers `out` of `inputs` by `steps`, verified between passes.
inline Result<ir::Function> LowerSteps(const std::vector<Tensor>& inputs, const Tensor& out, const std::string& steps,
                                       bool gpu) {
  HONE_ASSIGN_OR_RETURN(schedule::Schedule s, schedule::Schedule::Create({out}));
  HONE_ASSIGN_OR_RETURN(std::vector<Step> parsed, ParseSteps(steps));
  HONE_RETURN_IF_ERROR(s.ApplyAll(parsed));
  std::vector<Tensor> args = inputs;
  args.push_back(out);
  LowerOptions options;
  options.gpu = gpu;
  options.verify = true;
  return Lower(s, args, options);
}

// The outline of the lowered body, or the error.
inline std::string LoweredText(const std::vector<Tensor>& inputs, const Tensor& out, const std::string& steps,
                               bool gpu) {
  Result<ir::Function> f = LowerSteps(inputs, out, steps, gpu);
  return f.ok() ? Outline(f->body) : f.status().message();
}

// out[i, j] = max(sum over k of a[i, k] * b[k, j], 0); transposed: a[k, i]. Values are small integers.
struct GpuProduct {
  GpuProduct(int64_t n, int64_t m, int64_t depth, bool transposed = false)
      : n(n), m(m), depth(depth), transposed(transposed) {
    a = transposed ? te::Placeholder("a", {depth, n}) : te::Placeholder("a", {n, depth});
    b = te::Placeholder("b", {depth, m});
    const ir::IterVar k = te::ReduceAxis(depth, "k");
    c = te::Compute("c", {n, m}, {"i", "j"}, [&](const Vars& x) {
      return te::Sum((transposed ? a(k.var, x[0]) : a(x[0], k.var)) * b(k.var, x[1]), {k});
    });
    out = te::Compute("out", {n, m}, {"i", "j"},
                      [&](const Vars& x) { return Max(c(x[0], x[1]), ir::Imm(DType::Float(32), 0)); });
  }
  Result<ir::Function> Lowered(const std::string& steps) const { return LowerSteps({a, b}, out, steps, true); }

  // Runs it in the interpreter in every order; returns the first error.
  std::string Run(const std::string& steps, std::string* text = nullptr) const {
    const Result<ir::Function> f = Lowered(steps);
    if (!f.ok()) return f.status().message();
    if (text) *text = ir::ToString(f->body);
    if (Result<ir::DeviceProgram> p = ir::SplitKernels(*f); !p.ok()) return p.status().message();
    std::vector<float> x(n * depth), y(depth * m), z(n * m);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) - 5;
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * 5 % 13) - 6;
    for (auto order : {ir::ParallelOrder::kForward, ir::ParallelOrder::kReversed, ir::ParallelOrder::kShuffled}) {
      std::fill(z.begin(), z.end(), -1e9f);
      const Status ran = ir::Run(*f, {{x.data(), n * depth}, {y.data(), depth * m}, {z.data(), n * m}}, {order, 5});
      if (!ran.ok()) return ran.message() + "\n" + ir::ToString(f->body);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < m; ++j) {
          float want = 0;
          for (int64_t k = 0; k < depth; ++k) want += x[transposed ? k * n + i : i * depth + k] * y[k * m + j];
          if (z[i * m + j] != std::max(want, 0.f))
            return fmt::format("out[{}, {}] is {}, not {}\n{}", i, j, z[i * m + j], want, ir::ToString(f->body));
        }
      }
    }
    return "";
  }

  int64_t n, m, depth;
  bool transposed;
  Tensor a, b, c, out;
};

}  // namespace hone::lower
