// The sections of a night's page that have figures over many nights.
#pragma once

#include "report/nightly_data.h"
#include "report/page.h"

namespace hone::report {

void WriteTrends(const NightlyData& data, PageWriter* page);   // a card a job
void WriteKernels(const NightlyData& data, PageWriter* page);  // share of each, and what moved
void WriteReplay(const NightlyData& data, PageWriter* page);   // old choices, today's code generator
void WriteQuality(const NightlyData& data, PageWriter* page);  // what the search finds

Mark MarkOf(nightly::JobState state);

}  // namespace hone::report
