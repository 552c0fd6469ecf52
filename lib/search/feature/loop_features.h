// Loop features: a point as numbers, from its loops as scheduled: a visitor over the program that lower/loop_nest.cc
// makes, before anything is vectorized or unrolled, so that all points of a template have the same loops. What the
// columns are comes from AutoTVM's `itervar` and `curve` features.
//
// Loops stand in order of appearance. A length that depends on outer loops (a tail) is that of their first iteration.
// An access is one load or store where it stands, called by its buffer's name and how often the buffer was met before
// (those that stand right under one loop and differ by a constant only are one: transforms written out would fill
// thousands of columns); at a loop around it, its count is the product of the lengths of that loop and of those inside
// it that its index uses, its reuse the product of the others.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "task/config.h"

namespace hone::search {

enum class LoopFeatureKind { kItervar, kCurve };

// A block a loop: length; nest level (outermost 1); product of the lengths from the outermost loop to this one; the
// largest count * reuse of an access below; 11 for what kind of loop (block x, y, z, thread x, y, z, unrolled,
// vectorized, parallel, serial, vthread); how many float additions and subtractions, multiplications, divisions stand
// right under it; then for each access below, ordered by name, 6: the stride of this loop in its index (0 unless
// linear), a constant -1, count, reuse, and for parallel loops and those bound to GPU indices the count and reuse
// divided by those at the nearest less parallel loop inside (else 0). All but nest level and kind as
// log2(1 + x), odd in x.
std::vector<float> ItervarFeatures(const ir::Function& function);

// For each buffer that is accessed at the deepest nest level, ordered by name, the last such access: at the loops
// around it log2 of reuse, count and product from outside, a 0 added, each sorted; four curves (count -> reuse, reuse
// -> count, count -> product, product -> count), each read at 0, 1, .. samples - 1 as (value at the last point that
// does not lie beyond, how far that point lies before).
std::vector<float> CurveFeatures(const ir::Function& function, int samples = 20);

// Both end with the numbers of the knobs of kind kOther (unroll limits and the like show in no loop); nothing for
// words.
void AppendOtherKnobs(const Config& config, std::vector<float>* row);

}  // namespace hone::search
