// The table that hone-bench prints at its end.
#pragma once

#include <string>

#include "report/bench_file.h"

namespace hone::command {

std::string BenchTable(const report::BenchFile& bench);

}  // namespace hone::command
