// Loop features: a point as numbers, from its loops as scheduled. A visitor computes them from the program that
// lower/loop_nest.cc makes, before anything is vectorized or unrolled, so that all points of a template have the same
// loops. The columns follow AutoTVM's `itervar` and `curve` features.
//
// Loops are in order of appearance. A length that depends on outer loops (a tail) is that of their first iteration. An
// access is one load or store at one place, named by its buffer and the number of earlier accesses to the buffer.
// (Accesses directly under one loop that differ only by a constant count as one: transforms written out would fill
// thousands of columns.) For a loop around an access, the count is the product of the lengths of that loop and of those
// inside it that the index uses; the reuse is the product of the others.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "task/config.h"

namespace hone::search {

// A block of columns per loop: length; nest level (outermost 1); product of the lengths from the outermost loop to this
// one; the largest count * reuse of an access below; 11 columns for the kind of loop (block x, y, z, thread x, y, z,
// unrolled, vectorized, parallel, serial, vthread); the number of float additions and subtractions, multiplications,
// and divisions directly under it; then 6 for each access below, ordered by name: the stride of this loop in its index
// (0 unless linear), a constant -1, count, reuse, and, for parallel loops and those bound to GPU indices, the count and
// reuse divided by those at the nearest less parallel loop inside (else 0). All but nest level and kind as log2(1 + x),
// odd in x.
std::vector<float> ItervarFeatures(const ir::Function& function);

// For each buffer accessed at the deepest nest level, ordered by name, uses its last such access: log2 of reuse, count
// and product from outside at the loops around it, with a 0 added, each sorted; then four curves (count -> reuse, reuse
// -> count, count -> product, product -> count), each read at 0, 1, .. samples - 1 as (value at the last point that is
// not beyond, distance to that point).
std::vector<float> CurveFeatures(const ir::Function& function, int samples = 20);

// Both end with the numbers of the knobs of kind kOther (no loop shows unroll limits and the like); words have no
// column.
void AppendOtherKnobs(const Config& config, std::vector<float>* row);

}  // namespace hone::search
