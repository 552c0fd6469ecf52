// How the tasks of a network were tuned: the trials' times, with the best so far, and against the values of the knobs
// that mattered most.
#pragma once

#include "report/page.h"
#include "report/report_data.h"

namespace hone::report {

void WriteTuning(const ReportData& data, PageWriter* page);

}  // namespace hone::report
