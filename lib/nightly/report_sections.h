// The sections of a regression run's page with figures over many runs.
#pragma once

#include "nightly/report_data.h"
#include "report/page.h"

namespace hone::nightly {

void WriteTrends(const NightlyData& data, report::PageWriter* page);   // a card a job
void WriteKernels(const NightlyData& data, report::PageWriter* page);  // share of each, and what moved
void WriteReplay(const NightlyData& data, report::PageWriter* page);   // old choices, today's code generator

report::Mark MarkOf(JobState state);

}  // namespace hone::nightly
