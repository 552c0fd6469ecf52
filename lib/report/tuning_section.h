// How the tasks of a network were tuned: the trials' times with the best so far, and the times by values of the most
// important knobs.
#pragma once

#include "report/page.h"
#include "report/report_data.h"

namespace hone::report {

void WriteTuning(const ReportData& data, PageWriter* page);

}  // namespace hone::report
