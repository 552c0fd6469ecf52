// Everything the report of a regression run shows. Plain data: lib/command/nightly/nightly_report.cc collects it from
// the files of a work folder, Conclude adds what follows from them, and each output (report_outputs.h) is a function of
// it alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nightly/accepted.h"
#include "nightly/environment.h"
#include "nightly/history.h"
#include "nightly/verdict.h"

namespace hone::nightly {

inline constexpr size_t kNightsTold = 90;

// A task whose choice is another one than in the accepted reference.
struct ChangedRecord {
  std::string task, workload;
  std::string was, now;                     // configurations for people; empty: the template's default, or not built
  double was_seconds = 0, now_seconds = 0;  // measured alone; 0: unknown
};

// A series of nights of a job: the library against its reference.
struct NightSeries {
  std::vector<Night> nights;  // oldest first
  // By Conclude:
  Trend trend;  // of `nights`
  JobVerdict verdict;
  const Night* tonight = nullptr;  // of `nights`; null: this job has nothing of the night
};

struct NightlyJob {
  std::string job;
  NightSeries series;  // the main one
  NightSeries replay;  // the reference's choices, built by today's code generator
  std::vector<Acceptance> accepted;  // in order; the last one holds
  std::vector<ChangedRecord> records;
  std::vector<std::string> problems;  // damaged lines, files that cannot be read: a sentence each
  std::string page;                   // address of the job's own report, relative to this one's; empty: none
  std::vector<std::pair<std::string, std::string>> commands;  // what it is for, command
};

struct NightlyData {
  std::vector<NightlyJob> jobs;       // by name
  std::vector<std::string> problems;  // of no job
  std::string out_path;               // as given
  std::string series = "main";        // whose verdict it is: "main", or "replay" (its nights are the jobs' main series
                                      // then)
  std::string night;                  // which one; empty: the last one that any job knows
  // By Conclude:
  Verdict verdict, replay_verdict;
  int64_t older = 0;  // nights that were left out as there are more than kNightsTold

  // The jobs in the order of a reader's interest: slower, failed, missing, environment, faster, fine; by name in each.
  std::vector<const NightlyJob*> ByInterest() const;
  // Jobs of which the night says a confirmed change.
  std::vector<const NightlyJob*> Changed() const;
  bool HasReplay() const;
};

// Judges the night, finds the changes of the trends, and keeps the last kNightsTold nights. `data` must stay where it
// is afterwards.
void Conclude(NightlyData* data);

// The kernels of a job over its nights, the slowest of the last profile first.
struct KernelHistory {
  std::string node;
  std::vector<double> seconds;  // of the library, a night of the series each; 0: unknown
  double now = 0;               // of the last night with a profile
  double reference = 0;         // in the same night; 0: unknown, or it has no such kernel
};
std::vector<KernelHistory> KernelsOf(const NightSeries& series);

// "+5.2 %" of a ratio; "-" for one that is not known (not above 0).
std::string ChangeText(double ratio);
// "+4.1 .. +6.0 %"
std::string IntervalText(const Comparison& comparison);
// "0.0006"; "-" if nothing was compared
std::string ChanceText(const Night& night);
// "2026-11-21", of a longer text as it stands in the files.
std::string DayText(const std::string& recorded);
// "fine", "slower", ..
std::string StateText(const NightSeries& series);

}  // namespace hone::nightly
