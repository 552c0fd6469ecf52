// Inspects a task without tuning it: hone-tune's --list-space, --compile-only, --explain and --trial. Prints data to
// stdout. Each function returns an exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/tune_job.h"

namespace hone::session {

// Prints the templates, their knobs with all values, and the numbers of points and of legal points (counted up to 65536
// points, else estimated from a seeded sample).
Result<int> ListSpace(const TuneJobOptions& options);

// Compiles the candidates that a run with these settings would try first, including the default, then other legal
// points until there are `count` or no more, each once. Measures and stores nothing. Prints a line for each candidate
// with its index, seconds and error, then the sum. Returns kFailed if no candidate compiled.
Result<int> CompileOnly(const TuneJobOptions& options, int64_t count);

// Prints trial `ordinal` of the records: its config, verdict and steps; `show` may contain "program" (lowered), "llvm",
// "assembly".
Result<int> Explain(const TuneJobOptions& options, int64_t ordinal, const std::vector<std::string>& show);

// Builds and measures only the point `index` of the space, against the reference, and records nothing.
Result<int> TryOne(const TuneJobOptions& options, uint64_t index);

}  // namespace hone::session
