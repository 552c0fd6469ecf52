// The steps of the rule `rows` (rows.h).
#pragma once

#include "sketch/row_stages.h"
#include "sketch/sketch.h"

namespace hone::sketch {

// Appends them. REQUIRES: the sketch has the decisions `threads`, and `width` (lanes that a reduction along the last
// axis has) or `vectors` (of columns); `elements` if some stage beside the output is full; perhaps `order`.
void AddRowLines(const RowStages& rows, Sketch* sketch);

}  // namespace hone::sketch
