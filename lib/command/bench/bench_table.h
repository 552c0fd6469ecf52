// The table that hone-bench prints at its end.
#pragma once

#include <string>

#include "report/bench_file.h"

namespace hone::command {

// `slowest`: so many layers of the tuned library.
std::string BenchTable(const report::BenchFile& bench, int slowest);

}  // namespace hone::command
