// Whether one library is faster than another, or whether noise alone may have made the difference.
//
// Runs within a process resemble one another and do not predict the next process, so the processes are compared, each
// by the lower quartile of its runs, with the estimate and the interval of base/rank_test.h. The interval has 99.9 %
// confidence: a page that is made every night must not claim a difference once a quarter by chance.
#pragma once

#include <cstddef>
#include <string>

#include "report/bench_file.h"

namespace hone::report {

inline constexpr size_t kLeastProcesses = 7;  // with fewer, no outcome is rare enough for that confidence
inline constexpr size_t kMostProcesses = 30;  // the first ones count; base/rank_test.h takes no more

struct Speedup {
  enum class Verdict {
    kFaster,
    kSlower,
    kNoDifference,  // the interval contains 1, or the difference is below 2 %
    kBusy,          // the interval is wider than 5 % to either side
    kTooFew         // fewer than kLeastProcesses of a library
  };
  Verdict verdict = Verdict::kTooFew;
  double ratio = 0;          // time of the baseline / time of the library
  double low = 0, high = 0;  // its interval; the whole range of ratios if there are too few processes
};

// REQUIRES: both have samples.
Speedup CompareLibraries(const BenchLibrary& library, const BenchLibrary& baseline);

// Whether more processes could settle what is open: the machine was busy, there are too few, or the interval contains 1
// and is wider than 2 % to either side.
bool IsOpen(const Speedup& speedup);

// "faster", "slower", "no-difference", "busy", "too-few": for programs.
const char* VerdictName(Speedup::Verdict verdict);

// For people, after the time of the library: "1.42 times as fast as untuned (1.39 to 1.45)", "no difference from
// untuned shown (0.98 to 1.01)", "machine busy: 0.72 to 1.26 times as fast as untuned, not trustworthy", "1.42 times as
// fast as untuned in 3 processes, too few to exclude noise". `other` names the baseline.
std::string SpeedupText(const Speedup& speedup, const std::string& other);
// In few words, for a title: "1.42 times as fast as untuned", "no difference from untuned shown", "machine busy".
std::string SpeedupTitle(const Speedup& speedup, const std::string& other);
// For a table: "1.42", "1.42?" if it is not trustworthy, "-" if no difference is shown.
std::string SpeedupCell(const Speedup& speedup);

}  // namespace hone::report
