// A report of a small invented network for tests of lib/report.
#pragma once

#include "report/report_data.h"

namespace hone::report {

// An attack in the name of a node, a host or an error.
inline constexpr char kHostile[] = "</script><img src=x onerror=alert(1)>\"'&|`\x1b[31m\n\xff]]>";

// Tuned: two processes, median 10 ms; untuned 40 ms; peak 100 GFLOP/s; three layers of 5, 3 and 1 ms.
BenchFile SampleBench();

// Two tasks: "conv2d-1", four trials of which the third is the best, two failed; "dense-2" without a correct trial.
ReportData SampleReport();

// The same with kHostile in every text from outside.
ReportData HostileReport();

}  // namespace hone::report
