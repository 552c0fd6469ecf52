// Shared parts of the templates' estimates. Cycles are those of one core.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "op/operator.h"
#include "target/caches.h"
#include "task/config.h"

namespace hone::op {

inline double D(int64_t x) { return static_cast<double>(x); }

// A knob's number or word; `neutral` if there is no such knob.
int64_t NumberOr(const Config& config, const std::string& knob, int64_t neutral);
bool Prefetches(const Config& config);  // knob `prefetch`: neither 0 nor "none"
std::string WordOr(const Config& config, const std::string& knob, const std::string& neutral);

// {size, count} of the pieces of `extent`.
std::vector<std::pair<int64_t, int64_t>> Pieces(int64_t extent, int64_t piece);

// Cycles of one step of a register tile: `rows` vectors of weights times `columns` broadcast values, of which `loaded`
// are loaded; with more than `registers`, accumulators are spilled.
double StepCycles(double rows, double columns, double loaded, int registers);

// log(1 + part / whole): near 0 for an unimportant part.
double LogShare(double part, double whole);

// The estimates of templates, by what they compute.
const Estimate& ChainEstimate();
const Estimate& DenseEstimate();

}  // namespace hone::op
