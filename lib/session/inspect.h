// Looking at a task without tuning it: what hone-tune does for --list-space, --compile-only, --explain and --trial.
// Data goes to stdout. Each returns an exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/tune_job.h"

namespace hone::session {

// The templates, their knobs with all values, and how many points there are and are legal (counted up to 65536 points,
// else estimated from a seeded sample).
Result<int> ListSpace(const TuneJobOptions& options);

// Compiles the candidates that a run with these settings would try first, the default included, then other legal points
// until there are `count` or no more; each once. Measures and stores nothing. Prints a line for each candidate with its
// index, seconds and error, then the sum. Returns kFailed if no candidate compiled.
Result<int> CompileOnly(const TuneJobOptions& options, int64_t count);

// Trial `ordinal` of the records: its config, verdict and steps; `show` may name "program" (lowered), "llvm",
// "assembly".
Result<int> Explain(const TuneJobOptions& options, int64_t ordinal, const std::vector<std::string>& show);

// Builds and measures the point `index` of the space alone, against the reference, and records nothing.
Result<int> TryOne(const TuneJobOptions& options, uint64_t index);

}  // namespace hone::session
