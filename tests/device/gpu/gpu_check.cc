// Every GPU template on a real device against the reference: `gpu_check --target FILE [--points N] [--out FILE.json]`.
// FILE as hone-plan writes it (targets/cuda.json). A line a template; exits with 1 if any candidate was not right. Part of
// run-gpu-checks (packaging/cuda); candidates are compiled and run in children, as tuning does it.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/cpu.h"
#include "base/file.h"
#include "base/json.h"
#include "measure/child_measurer.h"
#include "measure/open_device.h"
#include "op/operator.h"
#include "session/child_builder.h"
#include "session/reference.h"

namespace {

using namespace hone;  // a program of its own

// Every operator with a template for GPUs, and odd shapes: primes, strides, dilation, groups, 1x1, a batch of 3.
constexpr const char* kWorkloads[] = {
    "conv2d(f32[1,64,28,28], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
    "conv2d(f32[1,3,61,61], f32[32,3,7,7], stride=2x2, pad=3,3,3,3) + bias + relu",
    "conv2d(f32[1,13,31,29], f32[37,13,3,3], pad=1,1,1,1) + bias",
    "conv2d(f32[3,16,15,17], f32[24,16,1,1]) + bias + relu",
    "conv2d(f32[1,16,23,23], f32[32,16,3,3], dilation=2x2, pad=2,2,2,2) + relu6",
    "conv2d(f32[2,12,17,19], f32[20,12,5,5], pad=2,2,2,2)",
    "conv2d(f32[1,8,17,17], f32[12,8,1,7], pad=0,3,0,3) + bias + relu",
    "conv2d(f32[1,32,28,28], f32[32,1,3,3], groups=32, pad=1,1,1,1) + bias + relu6",
    "conv2d(f32[3,17,19,19], f32[17,1,3,3], groups=17, stride=2x2, pad=1,1,1,1) + bias",
    "conv2d(f32[1,24,13,13], f32[36,8,3,3], groups=3, pad=1,1,1,1) + relu",
    "conv3d(f32[1,6,5,13,13], f32[10,6,3,3,3], pad=1,1,1,1,1,1)",
    "conv_transpose2d(f32[1,8,9,9], f32[8,12,3,3], stride=2x2)",
    "dense(f32[1,512], f32[1000,512]) + bias",
    "dense(f32[7,129], f32[61,129]) + bias + relu",
    "dense(f32[64,192], f32[96,192]) + bias",
    "matmul(f32[3,37,64], f32[3,64,41])",
    "max_pool2d(f32[1,17,31,31], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "avg_pool2d(f32[2,13,21,21], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "global_avg_pool(f32[1,512,7,7])",
    "softmax(f32[3,1000], axis=1)",
    "concat(f32[1,13,9,9], f32[1,29,9,9], axis=1)",
    "add(f32[2,13,14,15], f32[2,13,14,15]) + relu",
    "flatten(f32[2,13,7,7])",
    "transpose(f32[5,17,23], perm=2,0,1)",
    "layer_norm(f32[5,300], f32[300], f32[300])",
    "lrn(f32[1,17,9,9], size=5)",
    "reduce_mean(f32[3,40,50], axes=2)",
};

struct Count {
  int64_t points = 0, right = 0;
  std::map<std::string, int64_t> failed;  // by error kind
  std::string first;                      // failure: workload, config, what
};

class Checker {
 public:
  Checker(Target target, int points) : target_(std::move(target)), points_(points) {}

  Status Run() {
    HONE_RETURN_IF_ERROR(measure::DescribeDevice(target_).status());
    HONE_ASSIGN_OR_RETURN(worker_, measure::DefaultWorkerProgram());
    for (const char* text : kWorkloads) {
      fmt::print(stderr, "{}\n", text);
      const Status status = Check(text);
      if (status.ok()) continue;
      Fail(text, text, "refused", status.message());
      fmt::print(stderr, "  {}\n", status.message());
    }
    return Status();
  }

  // Exit code.
  int Report(const std::string& out) const {
    Json rows = Json::array();
    int64_t wrong = 0;
    for (const auto& [name, c] : counts_) {
      std::string failed;
      for (const auto& [kind, count] : c.failed) failed += fmt::format(", {} {}", count, kind);
      fmt::print("{}: {} of {} right{}{}\n", name, c.right, c.points, failed, c.first.empty() ? "" : "; " + c.first);
      rows.push_back({{"template", name}, {"points", c.points}, {"right", c.right}, {"failed", c.failed}, {"first", c.first}});
      wrong += c.points - c.right;
    }
    if (!out.empty()) {
      const Json json = {{"version", 1}, {"target", target_.Text()}, {"templates", rows}};
      if (const Status status = WriteFileAtomic(out, DumpJson(json)); !status.ok()) {
        fmt::print(stderr, "{}\n", status.message());
        return 1;
      }
    }
    return wrong == 0 ? 0 : 1;
  }

 private:
  void Fail(const std::string& name, const std::string& what, const std::string& kind, const std::string& text) {
    Count& count = counts_[name];
    ++count.failed[kind];
    if (count.first.empty()) count.first = what + ": " + text;
  }

  Status Check(const std::string& text) {
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
    HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
    HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create("hone-gpu-check"));
    measure::TaskSetup setup;
    setup.flop = op->Flop(workload);
    setup.target = target_.Text();
    setup.protocol.candidate_seconds = 0.01;  // it is about the values
    setup.protocol.timeout_seconds = 120;     // an OpenCL driver compiles the kernel within that
    HONE_RETURN_IF_ERROR(session::EnsureReference(workload, target_, dir.Join("reference"), &setup).status());
    measure::ChildMeasurer measurer(worker_, setup);
    HONE_ASSIGN_OR_RETURN(auto builder, session::ChildBuilder::Create(worker_, workload, target_,
                                                                      static_cast<int>(UsableCpus().size())));
    Rng rng(1);
    for (const op::Template* t : op->Templates(workload, target_)) {
      HONE_ASSIGN_OR_RETURN(const search::Space space, t->MakeSpace(workload, target_));
      std::vector<Config> configs;
      for (int i = 0; i < points_; ++i) {
        if (const auto index = space.SampleLegal(rng)) configs.push_back(space.At(*index));
        if (space.size() == 1) break;
      }
      HONE_ASSIGN_OR_RETURN(const auto built, builder->Build(configs));
      for (const measure::BuildResult& result : built) {
        Count& count = counts_[t->name()];
        ++count.points;
        const std::string what = fmt::format("{} {}", text, result.kernel.config.Text());
        if (!result.ok) {
          Fail(t->name(), what, "compile", result.error_text);
          continue;
        }
        HONE_ASSIGN_OR_RETURN(const Outcome outcome, measurer.Measure(result.kernel, 0));
        if (outcome.error == TrialError::kNone) {
          ++count.right;
        } else {
          Fail(t->name(), what, std::string(TrialErrorName(outcome.error)), outcome.error_text);
        }
      }
    }
    return Status();
  }

  Target target_;
  int points_;
  std::string worker_;
  std::map<std::string, Count> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string target_path, out;
  int points = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--target") target_path = argv[i + 1];
    if (flag == "--points") points = std::atoi(argv[i + 1]);
    if (flag == "--out") out = argv[i + 1];
  }
  const auto target = hone::ReadTargetFile(target_path);
  if (!target.ok() || points < 1) {
    fmt::print(stderr, "gpu_check --target FILE.json [--points N] [--out FILE.json]: {}\n", target.status().message());
    return 2;
  }
  Checker checker(*target, points);
  if (const hone::Status status = checker.Run(); !status.ok()) {
    fmt::print(stderr, "gpu_check: error: {}\n", status.message());
    return 1;
  }
  return checker.Report(out);
}
