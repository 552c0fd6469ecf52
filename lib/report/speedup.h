// Whether one library is faster than another, or whether noise alone may have made the difference.
//
// Runs within a process resemble one another and do not predict the next process, so the processes are compared, with
// the estimate and the interval of base/rank_test.h. A machine that shares its host is at one speed in one process and
// 35 % faster in the next. So each process runs both libraries in turns, one as its own and one as the pace, and counts
// by the median of the ratios of corresponding runs in neighbouring turns. Loading order and the placement of pages
// affect both libraries' processes alike, so they cancel. Where there is no pace, as on devices, a process counts by
// the lower quartile of its runs.
//
// The nightly gate takes the fastest run of each turn instead (nightly/samples.h), which varies less. It compares a
// library with an earlier build of itself; here the libraries differ, and the fastest runs hide if one is often slow.
//
// A page that is made every night must not claim a difference once a quarter by chance: for equal libraries, "faster"
// or "slower" must come out in at most 0.1 % of the measurements.
//
// NextProcesses adds processes until the comparison is settled, so one measurement is looked at several times, and each
// look can err. It is looked at only at kProcessCounts counts of processes, and the 0.1 % are divided evenly among
// these (Bonferroni): each interval has a confidence of 99.975 %.
//
// Rank statistics also presume that both groups of processes vary alike. With a pace they do, as both libraries run in
// each process. Without, and if one library varies more, an interval of 8 processes misses 1 in up to 0.8 % of
// measurements. So a difference must then be clear: the interval must lie at least half its width from 1.
// speedup_test.cc simulates the whole.
#pragma once

#include <cstddef>
#include <string>

#include "report/bench_file.h"

namespace hone::report {

inline constexpr size_t kProcessCounts[] = {8, 12, 18, 30};  // processes of each library
// With fewer, no outcome is rare enough for that confidence.
inline constexpr size_t kLeastProcesses = kProcessCounts[0];
inline constexpr size_t kMostProcesses = kProcessCounts[3];  // the first ones count; base/rank_test.h takes no more

struct Speedup {
  enum class Verdict {
    kFaster,
    kSlower,
    kNoDifference,  // the interval contains 1 (without a pace: or is not clear), or the difference is below 2 %
    kBusy,          // the interval is wider than 5 % to either side
    kTooFew         // fewer than kLeastProcesses of a library
  };
  Verdict verdict = Verdict::kTooFew;
  double ratio = 0;          // time of the baseline / time of the library
  double low = 0, high = 0;  // its interval; the whole range of ratios if there are too few processes
};

// REQUIRES: both have samples.
Speedup CompareLibraries(const BenchLibrary& library, const BenchLibrary& baseline);

// Whether more processes could settle the comparison: the machine was busy, there are too few, or no difference is
// shown although the ratio is at least 2 % from 1 or the interval is wider than 2 % to either side.
bool IsOpen(const Speedup& speedup);

// The rule by which hone-bench adds processes: how many to have of each library before the next look, or the present
// number (of the library that has fewer) if the comparison is settled or has kMostProcesses. If you stop earlier, as
// time is up, the comparison of the processes so far replaces the remaining looks. REQUIRES: both have samples.
size_t NextProcesses(const BenchLibrary& library, const BenchLibrary& baseline);

// "faster", "slower", "no-difference", "busy", "too-few": for programs.
const char* VerdictName(Speedup::Verdict verdict);

// For people, after the time of the library: "1.42 times as fast as untuned (1.39 to 1.45)", "no difference from
// untuned shown (0.98 to 1.01)", "machine busy: 0.72 to 1.26 times as fast as untuned; repeat hone-bench when idle",
// "about 1.42 times as fast as untuned, but too few processes to exclude noise". `other` names the baseline.
std::string SpeedupText(const Speedup& speedup, const std::string& other);
// In few words, for a title: "1.42 times as fast as untuned", "no difference from untuned shown", "machine busy",
// "about 1.42 times as fast as untuned" (too few).
std::string SpeedupTitle(const Speedup& speedup, const std::string& other);
// For a table: "1.42", "1.42?" if the machine was busy or there are too few, "-" if no difference is shown.
std::string SpeedupCell(const Speedup& speedup);

}  // namespace hone::report
