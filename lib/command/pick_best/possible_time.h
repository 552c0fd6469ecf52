// Whether a recorded time is possible at all. The measuring child compares times with the machine's measured peak, but
// records do not hold that peak, and anybody may have written them. This is the bound that follows from the records
// alone: it only finds times that no machine of the kind can reach, such as a nanosecond for a convolution.
#pragma once

#include <optional>
#include <string>

#include "target/target.h"
#include "task/outcome.h"
#include "task/workload.h"

namespace hone::command {

// No machine with this fingerprint does more FLOP/s in kernels for `target`; 0 if nothing is known.
// - CPUs: the target's threads, each with its vectors, kMostFlopPerLane and kMostHertz.
// - CUDA: kMostFlopPerMultiprocessor and kMostHertz for the target's multiprocessors, but at least
//   kUsualMultiprocessors, since kernels for a small device also run on a large one.
// - OpenCL devices may have any width, and simulated times have no machine: unknown.
double MostFlops(const Target& target, const std::string& fingerprint);

inline constexpr double kMostHertz = 10e9;     // no CPU or GPU has reached it, even overclocked in liquid helium
inline constexpr double kMostFlopPerLane = 8;  // in a cycle: four multiply-adds; CPUs have up to two with two additions
inline constexpr double kMostFlopPerMultiprocessor = 256;  // in a cycle: 128 multiply-adds
inline constexpr double kUsualMultiprocessors = 512;

// Why nobody can have measured the median of this trial of `workload`: it is not a positive finite number, or implies
// more than `most_flops` FLOP/s (0: no bound), beyond the roofline slack of the protocol. Nothing if it is possible, or
// if this Hone does not know how much its algorithm computes. `workload` is null if it is unknown.
std::optional<std::string> WhyImpossible(const Workload* workload, const Target& target, double most_flops,
                                         const Outcome& outcome);

}  // namespace hone::command
