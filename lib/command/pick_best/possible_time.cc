#include "command/pick_best/possible_time.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "op/operator.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "task/protocol.h"

namespace hone::command {

// Floats in the widest vectors that code for the target uses.
static double Lanes(const Target& target) {
  const auto has = [&](const char* feature) {
    return std::ranges::find(target.features, feature) != target.features.end();
  };
  // Another CPU may have more features than the target lists.
  const bool complete = StartsWith(target.triple, "x86_64") && StartsWith(target.cpu, "x86-64");
  return !complete || has("avx512f") ? 16 : has("avx") || has("avx2") ? 8 : 4;
}

double MostFlops(const Target& target, const std::string& fingerprint) {
  // Fingerprints begin with the kind of the machine that measured (measure::Machine::Environment).
  const std::string kind = target.kind->name();
  if (!StartsWith(fingerprint, kind + "=")) return 0;
  if (kind == "cpu") return kMostHertz * kMostFlopPerLane * Lanes(target) * target.threads;
  if (kind != "cuda") return 0;
  const auto multiprocessors = static_cast<double>(target.limits.multiprocessors);
  return kMostHertz * kMostFlopPerMultiprocessor * std::max(multiprocessors, kUsualMultiprocessors);
}

std::optional<std::string> WhyImpossible(const Workload* workload, const Target& target, double most_flops,
                                         const Outcome& outcome) {
  const double seconds = outcome.median;
  if (!std::isfinite(seconds) || !(seconds > 0)) return fmt::format("a time of {} seconds", FormatDouble(seconds));
  if (workload == nullptr || !(most_flops > 0)) return std::nullopt;
  const double flop = semantics::Flop(*workload), bound = most_flops * Protocol().roofline_slack;
  if (!(flop / seconds > bound)) return std::nullopt;  // no algorithm does more than that
  const Result<Candidate> candidate = propose::CandidateOf(*workload, target, outcome);
  if (!candidate.ok()) return std::nullopt;
  const Result<op::Computation> computation = op::Compute(*workload, target, candidate->algorithm);
  if (!computation.ok()) return std::nullopt;
  const double done = flop * computation->arithmetic;
  if (!(done / seconds > bound)) return std::nullopt;
  return fmt::format("{} for {}; the machine does at most {}", FormatSeconds(seconds), FormatSi(done, "FLOP"),
                     FormatSi(most_flops, "FLOP/s"));
}

}  // namespace hone::command
