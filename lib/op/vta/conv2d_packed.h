// The space of AutoTVM's template conv2d_packed.vta: convolutions of blocked int8 tensors on the accelerator VTA.
//
// Knobs, as in AutoTVM's logs: tile_b (has no effect), tile_h, tile_w, tile_ci, tile_co (in blocks), oc_nthread and
// h_nthread (virtual threads over tiles of channels and of rows, each with memory of its own). Rules, in closed form
// from the knobs and in this order: threads, inp, wgt, acc, dma_in, dma_out, verify, limits. doc/internals/vta.md
// explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/space/space.h"
#include "target/vta/config.h"

namespace hone::op {

// One convolution without groups or dilation, on tensors [C / BLOCK][H][W] of entries.
struct PackedConv {
  int64_t height, width, in_blocks, out_blocks;  // of the input; channels in blocks
  int64_t kernel, stride, padding;

  int64_t OutHeight() const { return (height + 2 * padding - kernel) / stride + 1; }
  int64_t OutWidth() const { return (width + 2 * padding - kernel) / stride + 1; }
};

// A point: what a thread has in the accelerator's memories at a time.
struct PackedTile {
  int64_t height, width, in_blocks, out_blocks;  // of the output; channels in blocks
  int64_t channel_threads, row_threads;

  static PackedTile Of(const Config& config);
  int64_t Threads() const { return channel_threads * row_threads; }
  // The rows and columns of input that the tile needs.
  int64_t InHeight(const PackedConv& conv) const { return (height - 1) * conv.stride + conv.kernel; }
  int64_t InWidth(const PackedConv& conv) const { return (width - 1) * conv.stride + conv.kernel; }
};

// A block of entries as the rows of one transfer: `rows` rows of `columns`, `stride` apart in DRAM.
struct TransferRows {
  int64_t rows, columns, stride;
};
// Merges a block of `extents` (outermost first) of a tensor with these `sizes` into rows; nothing if it is more than
// two-dimensional.
std::optional<TransferRows> MergeRows(const std::vector<int64_t>& extents, const std::vector<int64_t>& sizes);

// REQUIRES: the configuration has no problem; all numbers of `conv` are positive (padding: at least 0); the window is
// not larger than the padded input.
search::Space Conv2dPackedSpace(const HoneVtaConfig& config, const PackedConv& conv);

}  // namespace hone::op
