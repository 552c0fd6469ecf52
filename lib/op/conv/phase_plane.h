// A transposed convolution as convolutions of stride 1, without the zeros that would be inserted into its input.
//
// Along each axis, an output at position m * stride + phase is a sum over the window's taps of that phase, which read
// the input near m. The rows of the input lie end to end in a plane, with zeros between them that the end of a row and
// the start of the next one share. There, a tap of a phase is a shift of all outputs of the phase, whatever their row.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr.h"
#include "semantics/window.h"

namespace hone::op {

// One spatial axis. Tap t of a phase is the window's tap First + t * step.
struct PhaseAxis {
  int64_t stride, dilation, before, kernel;  // of the window
  int64_t positions, phases;                 // of the output: m and phase
  int64_t common, inverse;                   // gcd(stride, dilation); of dilation / common modulo stride / common
  int64_t taps = 0;                          // the most of any phase
  bool all = true;                           // whether each phase has as many
  int64_t start, size;                       // the part of the input that is read
  int64_t front, back;                       // zeros before and after it that are read
  int64_t farthest;                          // the last place that is read, relative to m + start
  int64_t pitch;                             // from one row of this axis to the next

  static PhaseAxis Of(const semantics::Window& window, size_t axis);
  int64_t step() const { return stride / common; }
  ir::Expr First(const ir::Expr& phase) const;
  ir::Expr Tap(const ir::Expr& phase, const ir::Expr& t) const { return First(phase) + t * step(); }
  // Whether the phase has this tap; null if all have.
  ir::Expr Exists(const ir::Expr& phase, const ir::Expr& t) const;
  // The place that is read, relative to m + start.
  ir::Expr Place(const ir::Expr& phase, const ir::Expr& t) const;
};

struct PhasePlane {
  std::vector<PhaseAxis> axes;
  std::vector<int64_t> stride;  // from one place of an axis to the next
  bool as_it_is = true;         // the plane is the input
  int64_t front = 0;            // rows of zeros along axis 0 before the input
  int64_t outputs = 1;          // places of outputs, whole vectors; those between rows are not used
  int64_t rows = 1;             // along axis 0, zeros included

  // `window` is semantics::TransposedWindowOf.
  static PhasePlane Of(const semantics::Window& window, int64_t lanes);
  int64_t size() const { return rows * stride[0]; }
};

}  // namespace hone::op
