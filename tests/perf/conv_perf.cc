// How close compiled convolutions come to the machine's peak, of fused multiply-adds or of products of bytes: the
// default point and N random legal points of each workload, hot or cold, with pinned threads; the best of many runs
// each.
//
//   conv_perf [--points N] [--seconds S] [--threads N] [--template NAME] [--cold] [--set K=V,..] [WORKLOAD ..]
//   conv_perf --together [--seconds S] [--threads N] [--cold] WORKLOAD ..
//   conv_perf --defaults [--points N] [--seconds S] [--threads N] [--cold] WORKLOAD ..
//
// --cold: constants and activations as in a network (doc/internals/measuring.md), not as the last run left them. --set:
// the default point with these values of its knobs instead of random points; repeat it for further points. Shares are
// relative to the highest peak seen so far, so that a disturbed measurement of the peak does not flatter. Compile times
// are processor time of the compiling thread. --template: only this template's default and random points.
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/rng.h"
#include "measure/inputs.h"
#include "perf/flags.h"
#include "propose/propose.h"
#include "runtime/host/peak.h"
#include "semantics/semantics.h"
#include "unit/op/kernel_case.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int points = 16;
  double seconds = 0.1;  // per point
  int threads = 0;       // 0: all cores
  bool cold = false, together = false, defaults = false;
  std::string only;
  std::vector<std::string> settings;
  std::vector<std::string> workloads;
};

double ThreadMs() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

struct Timing {
  double microseconds = 0, lower_ms = 0, codegen_ms = 0, error = 0;
};

// A point to compile and check, and to time in turn with the others.
struct Case {
  Timing timing;
  std::vector<testing::KernelCase> kernel;  // one
};

Result<Case> Prepare(const Workload& workload, const Target& target, const Config& config, runtime::ThreadPool* pool,
                     const std::vector<Operand>& operands, const std::vector<std::string_view>& values,
                     const TensorData& reference, bool cold) {
  Case made;
  Timing& t = made.timing;
  double start_ms = ThreadMs();
  HONE_ASSIGN_OR_RETURN(testing::KernelCase kernel, testing::KernelCase::Create(workload, target, config, pool));
  double compile_ms = ThreadMs() - start_ms;
  HONE_RETURN_IF_ERROR(kernel.Load(operands, values));
  kernel.Run();
  const compile::CompiledKernel& c = kernel.compiled();
  // Wall times of the two parts serve only to divide the processor time.
  double lower_share = c.lower_seconds / (c.lower_seconds + c.codegen_seconds);
  t.lower_ms = compile_ms * lower_share;
  t.codegen_ms = compile_ms * (1 - lower_share);
  const std::vector<double> want = reference.Doubles(),
                            got = ToDoubles(reference.type.type, kernel.output_bytes().data(), reference.Elements());
  for (size_t i = 0; i < want.size(); ++i) {
    const double error = std::abs(got[i] - want[i]) / std::max(1.0, std::abs(want[i]));
    if (!(error <= t.error)) t.error = std::isnan(error) ? INFINITY : error;
  }
  if (cold) HONE_RETURN_IF_ERROR(kernel.MakeCold(int64_t{48} << 20));
  t.microseconds = 1e30;
  made.kernel.push_back(std::move(kernel));
  return made;
}

// In turn, a few runs each, so that a temporary disturbance affects all of them.
void TimeAll(std::vector<Case>* cases, runtime::ThreadPool* pool, double seconds, bool cold) {
  seconds *= static_cast<double>(cases->size());
  for (Clock::time_point begin = Clock::now(); Clock::now() - begin < std::chrono::duration<double>(seconds);) {
    for (Case& c : *cases) {
      for (int i = 0; i < 3; ++i) {
        if (cold) c.kernel[0].NextCold(), c.kernel[0].TouchData(pool);
        Clock::time_point start = Clock::now();
        c.kernel[0].Run();
        const double us = std::chrono::duration<double>(Clock::now() - start).count() * 1e6;
        c.timing.microseconds = std::min(c.timing.microseconds, us);
      }
    }
  }
}

// A point with some knobs changed: "rows=14,order=vectors".
Result<Config> WithSettings(Config config, const std::string& text) {
  for (const std::string& setting : Split(text, ',')) {
    std::vector<std::string> pair = Split(setting, '=');
    for (KnobValue& v : config.values) {
      if (pair.size() != 2 || v.name != pair[0]) continue;
      if (v.words.empty()) {
        HONE_ASSIGN_OR_RETURN(int64_t number, ParseInt(pair[1]));
        v.numbers = {number};
      } else {
        v.words = {pair[1]};
      }
    }
  }
  return config;
}

// The operands of a workload, with the right output.
struct Operands {
  std::vector<Operand> operands;
  std::vector<TensorData> values;
  TensorData reference;

  Operands(const op::Operator& op, const Workload& workload, const Target& target)
      : operands(op.Operands(workload, target)) {
    std::vector<void*> pointers;
    for (const Operand& operand : operands) values.push_back(measure::MakeInput(operand));
    for (TensorData& v : values) pointers.push_back(v.bytes.data());
    op.Reference(workload, target, pointers);
    reference = values.back();
    std::ranges::fill(values.back().bytes, '\xff');  // NaN
  }
  std::vector<std::string_view> Bytes() const {
    std::vector<std::string_view> bytes;
    for (const TensorData& v : values) bytes.push_back(v.view());
    return bytes;
  }
};

Status RunTogether(const Options& options, const Target& target, runtime::ThreadPool* pool) {
  std::vector<Case> cases;
  for (const std::string& text : options.workloads) {
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
    HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
    HONE_ASSIGN_OR_RETURN(const Config config, propose::DefaultConfig(workload, target));
    const Operands data(*op, workload, target);
    HONE_ASSIGN_OR_RETURN(
        Case c, Prepare(workload, target, config, pool, data.operands, data.Bytes(), data.reference, options.cold));
    cases.push_back(std::move(c));
  }
  TimeAll(&cases, pool, options.seconds, options.cold);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Timing& t = cases[i].timing;
    fmt::print("{:9.1f} us {:6.3f} of the first | error {:.1e} | {}\n", t.microseconds,
               t.microseconds / cases[0].timing.microseconds, t.error, options.workloads[i]);
  }
  return Status::Ok();
}

Status RunWorkload(const std::string& text, const Options& options, const Target& target, runtime::ThreadPool* pool) {
  HONE_ASSIGN_OR_RETURN(Workload workload, op::ParseChecked(text));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, propose::ProposersOf(workload, target));
  HONE_ASSIGN_OR_RETURN(search::TaskSpace space, propose::MakeTaskSpace(proposers));
  Clock::time_point start = Clock::now();
  std::optional<std::vector<PointIndex>> legal = space.LegalIndices(2000000);
  double listing = std::chrono::duration<double>(Clock::now() - start).count();
  start = Clock::now();
  const Operands data(*op, workload, target);
  double reference_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print("{}\n  space {} points, {} legal (listed in {:.3f} s), reference {:.3f} s\n", text, space.size(),
             legal ? legal->size() : 0, listing, reference_seconds);

  HONE_ASSIGN_OR_RETURN(Config config, propose::DefaultConfig(proposers));
  search::TaskSpace all = std::move(space);
  space = {};
  for (size_t i = 0; i < proposers.size(); ++i) {
    if (!options.only.empty() && options.only != proposers[i].name()) continue;
    if (!options.only.empty()) {
      HONE_ASSIGN_OR_RETURN(config, proposers[i].Default(all.spaces()[i]));
    }
    space.Add(all.spaces()[i]);
  }
  std::vector<Config> configs = {config};
  for (size_t i = 0; i < proposers.size() && options.defaults; ++i) {
    HONE_ASSIGN_OR_RETURN(const Config other, proposers[i].Default(all.spaces()[i]));
    if (other.Text() != config.Text()) configs.push_back(other);
  }
  for (const std::string& text : options.settings) {
    HONE_ASSIGN_OR_RETURN(Config changed, WithSettings(config, text));
    for (const search::Space& s : space.spaces()) {
      if (s.template_name() != changed.template_name) continue;
      if (std::optional<std::string> why = s.Reject(changed)) fmt::print("  {}: {}\n", text, *why);
    }
    configs.push_back(std::move(changed));
  }
  Rng rng(1);
  for (int i = 0; i < options.points && options.settings.empty(); ++i) {
    std::optional<PointIndex> index = space.SampleLegal(rng);
    if (index) configs.push_back(space.At(*index));
  }
  const bool bytes = workload.inputs[0].type.bits == 8;
  double peak = 0, best = 1e30, lower = 0, codegen = 0, flop = semantics::Flop(workload), best_share = -1;
  Config best_config;
  std::vector<double> shares;
  constexpr size_t kTogether = 10;
  std::vector<Case> cases;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (i % kTogether == 0) {
      cases.clear();
      for (size_t j = i; j < std::min(i + kTogether, configs.size()); ++j) {
        HONE_ASSIGN_OR_RETURN(Case c, Prepare(workload, target, configs[j], pool, data.operands, data.Bytes(),
                                              data.reference, options.cold));
        cases.push_back(std::move(c));
      }
      peak = std::max(peak, bytes ? runtime::MeasureDot4Peak(pool, 0.05) : runtime::MeasureFmaPeak(pool, 0.05));
      TimeAll(&cases, pool, options.seconds, options.cold);
    }
    const Timing& t = cases[i % kTogether].timing;
    double share = flop / t.microseconds / 1e-6 / peak;
    shares.push_back(share);
    lower += t.lower_ms, codegen += t.codegen_ms;
    fmt::print("  {} {:8.1f} us {:7.1f} GFLOPS {:5.1f} % | {:.1f} + {:.1f} ms | error {:.1e} | {}\n",
               i == 0 ? "default" : "       ", t.microseconds, flop / t.microseconds / 1e3, 100 * share, t.lower_ms,
               t.codegen_ms, t.error, configs[i].Text());
    std::fflush(stdout);
    if (share > best_share) best = t.microseconds, best_share = share, best_config = configs[i];
  }
  std::sort(shares.begin(), shares.end());
  double n = static_cast<double>(configs.size());
  fmt::print("  best    {:8.1f} us {:5.1f} % (median point {:.1f} %), mean compile {:.1f} + {:.1f} ms\n  {}\n", best,
             100 * best_share, 100 * shares[shares.size() / 2], lower / n, codegen / n, best_config.ToJson());
  return Status::Ok();
}

int Main(int argc, char** argv) {
  perf::Flags flags("conv_perf [--points N] [--seconds S] [--threads N] [--cold] [--set K=V,..] .. [WORKLOAD ..]", argc,
                    argv);
  Options options;
  options.points = static_cast<int>(flags.Number("--points", options.points, 0));
  options.seconds = flags.Real("--seconds", options.seconds);
  options.threads = static_cast<int>(flags.Number("--threads", options.threads, 0));
  options.cold = flags.Has("--cold");
  options.together = flags.Has("--together");
  options.defaults = flags.Has("--defaults");
  options.settings = flags.All("--set");
  options.only = flags.Text("--template");
  options.workloads = flags.Words();
  if (options.workloads.empty()) {
    options.workloads = {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu",
                         "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1,1,1,1) + bias + relu",
                         "conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1,1,1,1) + bias + relu"};
  }
  Result<Target> target = HostTarget();
  if (target.ok() && options.threads > 0) target->threads = options.threads;
  Result<runtime::ThreadPool> pool = target.ok() ? runtime::ThreadPool::Create(target->threads, true) : target.status();
  if (!pool.ok()) return fmt::print(stderr, "conv_perf: {}\n", pool.status().message()), 1;
  fmt::print("{}\nFMA peak {:.1f} GFLOPS\n", target->Text(), runtime::MeasureFmaPeak(&*pool, 0.2) / 1e9);
  if (options.together) {
    const Status status = RunTogether(options, *target, &*pool);
    if (!status.ok()) return fmt::print(stderr, "conv_perf: {}\n", status.message()), 1;
    return 0;
  }
  for (const std::string& text : options.workloads) {
    Status status = RunWorkload(text, options, *target, &*pool);
    if (!status.ok()) return fmt::print(stderr, "conv_perf: {}: {}\n", text, status.message()), 1;
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) { return hone::Main(argc, argv); }
