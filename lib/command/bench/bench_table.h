// The table that hone-bench prints at its end.
#pragma once

#include <string>

#include "report/bench_file.h"

namespace hone::command {

// `slowest`: the number of layers of the tuned library to list.
std::string BenchTable(const report::BenchFile& bench, int slowest);

}  // namespace hone::command
