// The spaces of AutoTVM's templates (v0.14), by its names and with its indices: a log's index and its entity find each
// other here as they did there. Spaces only; lib/op has code for those of CUDA's floats. doc/reference/formats.md has
// the table.
//
// Knobs in their order (s2: split into 2 parts; T: with tails):
//   conv2d_nchw.cuda               tile_f s4 CO, tile_y s4 OH, tile_x s4 OW, tile_rc s2 CI, tile_ry s2 KH,
//                                  tile_rx s2 KW, auto_unroll_max_step 0 512 1500, unroll_explicit 0 1
//   conv2d_nchw_winograd.cuda      tile_b s4 of (m+KW-1)^2, inner three 1, tile_y s4 CO, tile_x s4 P, tile_rc s2 CI,
//                                  auto_unroll_max_step 0 128 1500, unroll_explicit 0 1; m = 4 if H % 8 == 0, else 2
//   depthwise_conv2d_nchw.cuda     tile_f s4 C, tile_y s4 OH, tile_x s4 OW, auto_unroll_max_step 0 256 1500,
//                                  unroll_explicit 0 1
//   dense_small_batch.gpu (.cuda)  tile_k s2 K
//   dense_large_batch.gpu (.cuda)  tile_x s4 M, tile_y s4 N, tile_k s3 K, not pruned: its filters cancel each other
//   dense_int8.cuda                tile_y s4 M, tile_x s4 N, tile_k s2 of K / 16, or of K / 4 if 16 does not divide K,
//                                  auto_unroll_max_step 0 512 1500
//   dense_tensorcore.cuda          block_row_warps, block_col_warps, warp_row_tiles, warp_col_tiles 1 2 4 each,
//                                  chunk 1 2 4 8, offset 0 8, offsetCS 0 8, vec 1 2 4 8, wmma_m: 32 16 8 if 32 divides
//                                  M and 8 N; else 16 8 32 if 16 divides both; else 8 16 32; of 4-bit numbers none
//   batch_matmul.cuda              tile_y s3 M, tile_x s3 N, tile_k s2 K, auto_unroll_max_step 8 16 32 64,
//                                  unroll_explicit 0 1
//   conv2d_NCHWc.x86               tile_ic s2 CI, tile_oc s2 CO, tile_ow s2T OW inner <= 64 (order of set_order.h),
//                                  then tile_oh 1 2 (1x1; 1 alone if OH is 1) or unroll_kw true false
//   depthwise_conv2d_NCHWc.x86     tile_ic s2 C, tile_oc s2 C, tile_ow s2 OW inner <= 64, unroll_kw true false
//   dense_nopack.x86               tile_y s2 M, tile_x s2 N, tile_k s2 K
//   dense_pack.x86                 tile_y s3 M, tile_x s3 N, tile_k s2 K, tile_inner s2 M inner <= 16
//   conv2d_nchw_spatial_pack.arm_cpu  tile_co s2 CO, tile_oh s2 OH, tile_ow s2 OW, reorder_0 (vc last, vc before vh),
//                                  ann_reduce none/unroll of (kh, kw), ann_spatial none/unroll/vec of (vh, vw, vc)
//   conv2d_nchw_winograd.arm_cpu   tile_p s2 P, tile_k s2 CO, tile_c s2 CI, each inner <= 16, ann_reduce none/unroll of
//                                  ci, ann_spatial none/unroll/vec of (k, p); m = 4
//   depthwise_conv2d_nchw.arm_cpu  tile_c s2 C, tile_h s2 OH, tile_w s2 OW, ann none/unroll/vec of (vh, vw, vc)
//   conv2d_nchw_spatial_pack.mali  tile_co s3 CO, tile_oh s3 OH, tile_ow s3 OW, the rest as on arm_cpu
//   conv2d_nchw_winograd.mali      tile_bna of 1 2 4 8 16 what divides CO, tile_bnb 1 2 4 8 16, tile_t1 s2 CI inner
//                                  <= 128, tile_t2 s2 CO inner <= 128, c_unroll s2 CI inner <= 8, yt 1 2 4 8 16 32
//   dense.mali                     tile_y s3 M, tile_x s3 N, c_unroll s2 K inner <= 64
// CI, CO, KH, KW of the weights, OH, OW of the output, P = N ceil(OH/m) ceil(OW/m), M x K times N x K of a dense layer
// and of each product of a batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"
#include "task/workload.h"

namespace hone::search {

// The arguments of an AutoTVM template that its space depends on.
struct AutoTvmShape {
  std::vector<std::vector<int64_t>>
      tensors;  // data [N,C,H,W], weights [CO,CI,KH,KW]; dense [M,K], [N,K]; batch_matmul [B,M,K], [B,N,K]
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> padding = {0, 0};  // height, width; or top, left, bottom, right; or one number for all
  std::vector<int64_t> dilation = {1, 1};
  // On rocm and nvptx unroll_explicit has the value 1 alone.
  bool unroll_always_explicit = false;
  bool four_bits = false;  // the type of the tensors: int4, uint4
};

// Names of all templates of the table above.
const std::vector<std::string>& AutoTvmTemplates();

// kNotFound if there is no such template, kInvalid if the shape does not fit it; kUnsupported beyond 2^20 an extent.
Result<Space> AutoTvmSpace(const std::string& template_name, const AutoTvmShape& shape);

// Of Hone's conv2d, dense and batched matmul workloads, whatever follows them; kUnsupported for other operators.
Result<AutoTvmShape> AutoTvmShapeOf(const Workload& workload);

}  // namespace hone::search
