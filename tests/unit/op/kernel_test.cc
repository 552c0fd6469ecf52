// Compiled kernels of layers, reductions and movements x the default and some random legal points: attributes and
// shapes that the grid of odd layers (kernel_grid.h) lacks.
#include "unit/op/kernel_fixture.h"

namespace hone::op {
namespace {

TEST_F(KernelTest, ConvolutionsOfOddShapes) {
  Check({
      "conv2d(f32[1,16,7,7], f32[80,16,1,1]) + bias + clip(0.25,1)",
      "conv2d(f32[1,33,13,7], f32[17,33,3,2], stride=2x1, pad=0,1,2,0) + relu6",
      "conv2d(f32[1,32,13,13], f32[32,32,3,3], pad=2,2,2,2, dilation=2x2) + bias + relu",
      "conv2d(f32[1,16,2,2], f32[33,16,3,3], pad=1,1,1,1) + add",
      "conv2d(f32[1,17,5,29], f32[16,17,5,5], pad=4,4,4,4) + clip(-1,1)",
      "conv2d(f32[2,16,14,14], f32[64,16,3,3], pad=1,1,1,1) + bias + add + relu",
      "conv2d(f32[1,128,7,7], f32[128,128,3,3], pad=1,1,1,1) + bias + relu",
      "conv2d(f32[1,3,32,32], f32[32,3,3,3], stride=2x2, pad=0,0,1,1, in=nchw) + bias + relu6",
      "conv2d(f32[1,17,5,5], f32[33,17,1,1], in=nchw) + relu",
      "conv2d(f32[1,16,9,9], f32[16,16,2,2], stride=3x3)",
  });
}

// Many taps lie in padding: rows of taps are skipped, and columns in tiles of whole rows.
TEST_F(KernelTest, TapsInPadding) {
  Check(
      {
          "conv2d(f32[1,32,14,14], f32[48,32,3,3], pad=12,12,12,12, dilation=12x12) + bias + relu",
          "conv2d(f32[2,17,5,31], f32[33,17,3,3], pad=4,9,3,8, dilation=4x9) + add",
          "conv2d(f32[1,16,9,9], f32[16,16,5,3], stride=2x3, pad=8,3,8,4, dilation=4x3)",
          "conv2d(f32[1,3,7,7], f32[17,3,3,3], pad=5,5,5,5, dilation=5x5, in=nchw) + bias",
          "conv2d(f32[1,64,6,6], f32[64,32,3,3], pad=5,5,5,5, dilation=5x5, groups=2)",
          "conv2d(f32[1,32,8,3], f32[32,32,1,7], pad=0,3,0,3)",
          "conv2d(f32[1,32,3,20], f32[32,32,7,1], pad=3,0,3,0)",
          "conv3d(f32[1,32,2,5,5], f32[48,32,3,3,3], pad=1,1,1,1,1,1) + bias + relu",
          "conv3d(f32[1,5,4,4,4], f32[17,5,3,3,3], pad=3,3,3,3,3,3, dilation=3x3x3, in=ncdhw)",
          "conv2d(f32[1,16,3,3], f32[16,16,3,3], pad=36,36,36,36, dilation=36x36)",
      },
      8);
}

// A task's weights are used for several images, several depths, or both.
TEST_F(KernelTest, ManyPlanes) {
  Check(
      {
          "conv2d(f32[4,64,7,7], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
          "conv2d(f32[6,256,7,7], f32[256,256,1,1]) + bias + add",
          "conv2d(f32[3,200,5,3], f32[208,200,1,1], stride=2x2) + bias + relu",
          "conv2d(f32[16,200,2,2], f32[200,200,1,1])",
          "conv2d(f32[4,64,7,7], f32[128,32,3,3], pad=1,1,1,1, groups=2) + bias",
          "conv3d(f32[2,32,4,5,5], f32[48,32,3,3,3], pad=1,1,1,1,1,1) + bias + add + relu",
          "conv3d(f32[1,200,4,3,3], f32[200,200,1,1,1]) + bias",
      },
      8);
}

TEST_F(KernelTest, GroupsOfFewChannels) {
  Check(
      {
          "conv2d(f32[1,64,9,11], f32[64,4,3,3], pad=1,1,1,1, groups=16) + bias + relu",
          "conv2d(f32[3,40,7,5], f32[40,8,3,3], pad=0,1,1,0, groups=5) + bias + clip(0.5,1)",
          "conv2d(f32[1,34,7,9], f32[34,2,3,3], stride=2x2, pad=1,1,1,1, groups=17) + add",
          "conv2d(f32[1,32,5,7], f32[32,8,1,1], groups=4)",
          "conv2d(f32[1,16,12,12], f32[16,4,3,3], pad=2,2,2,2, dilation=2x2, groups=4) + relu",
          "conv2d(f32[1,68,2,1], f32[68,4,3,3], pad=1,1,1,1, groups=17)",
          "conv2d(f32[1,20,6,7], f32[40,1,3,3], stride=3x2, pad=1,1,1,1, groups=20) + bias",
          "conv2d(f32[2,57,6,37], f32[38,3,3,3], stride=2x2, pad=1,1,2,1, dilation=1x2, groups=19) + bias",
          "conv3d(f32[1,32,3,5,5], f32[32,4,3,3,3], pad=1,1,1,1,1,1, groups=8) + bias + relu",
          "conv3d(f32[1,38,3,5,7], f32[57,2,2,3,3], stride=1x2x2, pad=1,1,1,0,1,1, groups=19) + bias",
      },
      4);
}

TEST_F(KernelTest, GroupsAndDepthwise) {
  Check({
      "conv2d(f32[1,32,7,7], f32[64,16,3,3], pad=1,1,1,1, groups=2) + bias + relu",
      "conv2d(f32[1,64,5,5], f32[32,16,1,1], groups=4)",
      "conv2d(f32[1,16,9,9], f32[16,1,5,5], pad=2,2,2,2, groups=16) + clip(0.5,1)",
      "conv2d(f32[1,6,7,7], f32[4,3,3,3], pad=1,1,1,1, groups=2) + bias + relu",
      "conv2d(f32[1,17,5,7], f32[34,1,3,3], stride=2x2, pad=1,0,1,2, groups=17) + clip(1,2)",
      "conv2d(f32[1,4,7,7], f32[4,2,3,3], groups=2, in=nchw) + relu",
      "conv2d(f32[1,16,13,13], f32[16,1,5,5], stride=2x2, pad=2,1,1,2, groups=16) + bias + relu6",
      "conv2d(f32[1,17,29,61], f32[17,1,3,3], pad=1,1,1,1, groups=17) + bias + relu6",
      "conv2d(f32[1,16,2,1], f32[16,1,3,3], pad=1,1,1,1, groups=16)",
      "conv2d(f32[1,16,14,14], f32[16,1,3,3], pad=2,2,2,2, dilation=2x2, groups=16) + relu",
  });
}

TEST_F(KernelTest, VolumeConvolutions) {
  Check({
      "conv3d(f32[1,16,4,9,14], f32[32,16,3,3,3], pad=1,1,1,1,1,1) + bias + relu",
      "conv3d(f32[1,33,5,7,5], f32[16,33,3,3,3], stride=2x2x2, pad=1,1,1,1,1,1) + bias",
      "conv3d(f32[1,16,4,6,6], f32[32,16,1,1,1], stride=2x2x2)",
      "conv3d(f32[1,3,4,13,15], f32[17,3,3,7,7], stride=1x2x2, pad=1,3,3,1,3,3, in=ncdhw) + bias + relu",
      "conv3d(f32[1,17,5,7,6], f32[3,17,2,1,3], pad=1,0,2,0,0,1, dilation=2x1x2) + clip(0.5,1)",
      "conv3d(f32[1,6,3,5,5], f32[4,3,3,3,3], pad=1,1,1,1,1,1, groups=2) + bias + relu",
      "conv3d(f32[1,3,3,5,5], f32[3,1,2,2,2], groups=3, in=ncdhw)",
      "conv3d(f32[1,33,4,2,3], f32[16,33,3,1,1], pad=1,0,0,1,0,0)",
  });
}

TEST_F(KernelTest, VolumePooling) {
  Check({
      "max_pool3d(f32[2,3,1,5,7], kernel=1x2x2, stride=1x2x2, ceil_mode=1)",
      "max_pool3d(f32[1,5,6,7,8], kernel=2x2x2, dilation=2x3x1)",
      "avg_pool3d(f32[1,33,4,5,6], kernel=3x2x3, pad=1,0,1,1,1,1)",
      "avg_pool3d(f32[1,16,4,5,6], kernel=3x3x3, stride=2x2x2, pad=1,1,1,1,1,1, count_include_pad=1)",
      "avg_pool3d(f32[1,4,5,5,5], kernel=2x2x2, stride=2x2x2, pad=1,0,1,0,1,0, dilation=1x2x1, ceil_mode=1)",
      "block(f32[1,3,2,7,5])",
      "unblock(f32[2,17,3,5,2])",
      "flatten(f32[2,33,1,1,1])",
      "flatten(f32[2,17,2,3,2])",
      "relu(f32[1,17,3,2,5])",
  });
}

TEST_F(KernelTest, Dense) {
  Check(
      {
          "dense(f32[1,512], f32[1000,512]) + bias",
          "dense(f32[1,1], f32[1,1])",
          "dense(f32[3,17], f32[33,17]) + bias + relu",
          "dense(f32[13,64], f32[7,64]) + add",
          "dense(f32[13,100], f32[70,100]) + bias",
          "dense(f32[5,33], f32[80,33]) + bias + clip(0.1,0.5)",
          "dense(f32[6,520], f32[520,520]) + bias + add + relu",
      },
      4);
}

TEST_F(KernelTest, Pooling) {
  Check({
      "max_pool2d(f32[1,64,23,23], kernel=3x3, stride=2x2, pad=1,1,1,1)",
      "avg_pool2d(f32[2,16,7,7], kernel=2x3, stride=2x2, pad=0,1,1,2, ceil_mode=1, count_include_pad=1)",
      "avg_pool2d(f32[1,16,35,35], kernel=3x3, pad=1,1,1,1, count_include_pad=1)",
      "avg_pool2d(f32[1,16,33,41], kernel=31x31, pad=15,15,15,15)",
      "max_pool2d(f32[1,16,40,33], kernel=25x25, stride=3x3, pad=12,12,12,12)",
      "max_pool2d(f32[1,17,56,57], kernel=5x5, pad=2,2,2,2)",
      "max_pool2d(f32[1,17,9,9], kernel=3x3, pad=2,1,2,1, dilation=2x2)",
      "avg_pool2d(f32[1,5,9,8], kernel=3x2, stride=2x1, pad=2,1,1,2, dilation=2x3)",
      "avg_pool2d(f32[1,5,9,8], kernel=2x2, pad=1,1,1,1, dilation=2x2, count_include_pad=1, ceil_mode=1, stride=3x3)",
      "global_avg_pool(f32[2,17,5])",
      "global_max_pool(f32[2,3,37])",
      "global_avg_pool(f32[1,2,2,2,2,2])",
      "global_max_pool(f32[1,33,2,3,2])",
      "global_avg_pool(f32[1,512,7,7])",
  });
}

// With gaps between its taps, a window may see only padding: its average is 0, not 0 / 0.
TEST_F(KernelTest, AnAverageOverPaddingAloneIsZero) {
  Check({
      "avg_pool2d(f32[1,16,1,1], kernel=2x2, pad=1,1,1,1, dilation=2x2)",
      "avg_pool2d(f32[2,17,2,5], kernel=2x3, pad=2,1,2,1, dilation=3x1)",  // only the middle rows
      "avg_pool2d(f32[1,5,4,2], kernel=3x2, pad=1,2,1,2, dilation=1x3)",   // only the middle columns
      "avg_pool2d(f32[1,16,1,1], kernel=2x2, pad=1,1,1,1, dilation=2x2, count_include_pad=1)",
      "avg_pool3d(f32[1,16,1,1,1], kernel=2x2x2, pad=1,1,1,1,1,1, dilation=2x2x2)",
      "conv2d(f32[1,16,2,5], f32[17,16,1,1]) + bias -> "
      "avg_pool2d(f32[1,17,2,5], kernel=2x2, pad=2,0,2,0, dilation=3x1)",
  });
}

// Its maximum is -inf, but only in the channels: lanes beyond them are zero as always.
TEST_F(KernelTest, AMaximumOverPaddingAloneLeavesUnusedLanesZero) {
  Check({
      "max_pool2d(f32[1,17,1,1], kernel=2x2, pad=1,1,1,1, dilation=2x2)",
      "max_pool2d(f32[1,16,1,1], kernel=2x2, pad=1,1,1,1, dilation=2x2)",
      "max_pool2d(f32[2,3,2,5], kernel=2x3, pad=2,1,2,1, dilation=3x1)",  // only the middle rows
      "max_pool2d(f32[1,5,4,2], kernel=3x2, pad=1,2,1,2, dilation=1x3)",  // only the middle columns
      "max_pool3d(f32[1,17,1,1,1], kernel=2x2x2, pad=1,1,1,1,1,1, dilation=2x2x2)",
      "max_pool3d(f32[2,3,5,2,4], kernel=1x2x1, pad=0,2,0,0,2,0, dilation=1x3x1)",
      "conv2d(f32[1,16,2,5], f32[17,16,1,1]) + bias -> "
      "max_pool2d(f32[1,17,2,5], kernel=2x2, pad=2,0,2,0, dilation=3x1)",
  });
}

TEST_F(KernelTest, ReductionsAndSoftmax) {
  std::vector<std::string> texts;
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum_square",
                           "reduce_l1", "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"}) {
    for (const char* shape : {"(f32[3,5,7])", "(f32[3,5,7], axes=1, keep=1)", "(f32[2,33], axes=1)", "(f32[])",
                              "(f32[4,1,3,37], axes=0,2)"}) {
      texts.push_back(std::string(name) + shape);
    }
  }
  texts.insert(texts.end(), {"reduce_sum(f32[2,3,4,5,6], axes=0,2,4)", "reduce_mean(f32[100,33], axes=0, keep=1)",
                             "reduce_sum(f32[3,4], axes=1)", "reduce_max(f32[1,1])"});
  for (const char* name : {"softmax", "log_softmax"}) {
    for (const char* shape : {"(f32[7])", "(f32[3,17,5], axis=1)", "(f32[2,3,4,5], axis=0)", "(f32[1,1])", "(f32[2,1])",
                              "(f32[3,17])", "(f32[5,48])", "(f32[1,1000])", "(f32[3,4,33])"}) {
      texts.push_back(std::string(name) + shape);
    }
  }
  Check(texts);
}

TEST_F(KernelTest, MatrixProducts) {
  Check({
      "matmul(f32[3,4], f32[4,5])",
      "matmul(f32[17,33], f32[33,37])",
      "matmul(f32[5], f32[5])",
      "matmul(f32[5], f32[5,7])",
      "matmul(f32[7,5], f32[5])",
      "matmul(f32[2,3,4], f32[4,5])",
      "matmul(f32[2,1,3,4], f32[5,4,18])",
      "matmul(f32[3,4], f32[2,2,4,1])",
      "matmul(f32[1,1], f32[1,1])",
      "matmul(f32[2,3,5], f32[2,5,16])",
      "matmul(f32[2,1,3,2,3,4], f32[4,1,2,4,3])",
  });
}

TEST_F(KernelTest, Movement) {
  Check({
      "unblock(f32[1,33,1,1])",
      "flatten(f32[1,512,1,1])",
      "flatten(f32[5,7])",
      "flatten(f32[2,3,5])",
      "concat(f32[1,16,5,5], f32[1,32,5,5], f32[1,7,5,5])",
      "concat(f32[1,5,2,2])",
      "transpose(f32[])",
      "transpose(f32[2,3], perm=1,0)",
      "transpose(f32[2,3,4,5,6], perm=4,0,1,3,2)",
      "transpose(f32[1,7,1], perm=2,1,0)",
      "reshape(f32[2,3,4], shape=4,6)",
      "reshape(f32[1])",
      "slice(f32[10], begin=2, end=9, step=3)",
      "slice(f32[4,7,5], begin=0,6,1, end=4,-1,5, step=1,-2,2)",
      "slice(f32[1,33,3,3], begin=0,16,0,0, end=1,33,3,3)",
      "concat(f32[3], f32[4], f32[1], axis=0)",
      "concat(f32[2,3,4], f32[2,3,18], axis=2)",
      "concat(f32[2,3,2,2], f32[1,3,2,2], axis=0)",
      "concat(f32[1,3,2,2], f32[1,3,2,5], axis=3)",
      "concat(f32[1,3,2,2,2], f32[1,18,2,2,2])",
      "pad(f32[3,4], low=1,2, high=0,3, value=1.5)",
      "pad(f32[5,4,6], low=0,3,2, high=0,1,5, mode=reflect)",
      "pad(f32[3,4], low=5,0, high=4,7, mode=edge)",
      "pad(f32[3,40], low=3,2, high=1,40, mode=wrap)",
      "pad(f32[2,2])",
      "gather(f32[5,4], indices=4,0,2, shape=3)",
      "gather(f32[2,9,3], axis=1, indices=0,2,4,8,7,6,1,1, shape=4,2)",
      "gather(f32[7], indices=6)",
      "expand(f32[], shape=3,5)",
      "expand(f32[3,1], shape=2,3,4)",
  });
}

TEST_F(KernelTest, NormsAndResizing) {
  Check({
      "lrn(f32[1,5,3,3], size=3)",
      "lrn(f32[2,17,5], size=4, alpha=0.5, beta=0.6, bias=2)",
      "instance_norm(f32[1,17,40], f32[17], f32[17], epsilon=0.01)",
      "layer_norm(f32[2,3,4,5], f32[3,4,5], axis=1)",
      "layer_norm(f32[1], f32[1], f32[1])",
      "layer_norm(f32[4], f32[4], axis=0, epsilon=0.1)",
      "resize(f32[1,3,4,5], out=1,3,8,10)",
      "resize(f32[1,3,4,5], out=1,3,7,3, coordinate=asymmetric, round=floor)",
      "resize(f32[1,2,5,7], out=1,2,9,4, round=round_prefer_ceil, coordinate=align_corners)",
      "resize(f32[1,3,4,5], out=1,3,8,10, mode=linear)",
      "resize(f32[7], out=3, mode=linear, coordinate=align_corners)",
      "resize(f32[1,2,4,5], out=1,2,1,9, mode=linear, coordinate=pytorch_half_pixel)",
      "resize(f32[1,2,3,3,3], out=1,2,6,5,4, mode=linear, coordinate=asymmetric)",
      "resize(f32[1,2,4,5], out=1,2,7,9, mode=cubic)",
      "resize(f32[1,2,4,4], out=1,2,9,3, mode=cubic, exclude_outside=1, cubic=-0.5)",
      "resize(f32[1,2,4,4], out=1,2,9,3, mode=linear, scale=1,1,2.25,0.8, coordinate=half_pixel_symmetric)",
      "resize(f32[1,2,4,4], out=1,2,8,6, coordinate=tf_half_pixel_for_nn, round=floor)",
  });
}

TEST_F(KernelTest, TransposedConvolutions) {
  Check({
      "conv_transpose2d(f32[1,1,1,1], f32[1,1,1,1])",
      "conv_transpose2d(f32[1,3,4,5], f32[3,2,3,3], stride=2x2, pad=1,1,1,1, output_pad=1x1)",
      "conv_transpose2d(f32[2,4,3,7], f32[4,3,2,3], groups=2, stride=1x3, pad=0,1,1,0)",
      "conv_transpose2d(f32[1,5,4,4], f32[5,7,3,2], dilation=2x3, stride=2x1)",
      "conv_transpose3d(f32[1,3,2,3,4], f32[3,5,2,3,3], stride=2x1x2, pad=0,1,1,1,0,1)",
      "conv_transpose2d(f32[1,16,7,7], f32[16,8,4,4], stride=2x2, pad=1,1,1,1) + bias + relu",
      "conv_transpose2d(f32[1,64,14,14], f32[64,36,2,2], stride=2x2) + bias + add",
      "conv_transpose2d(f32[2,18,5,9], f32[18,17,3,3], stride=2x2, dilation=2x2, groups=2)",  // phases without taps
      "conv_transpose2d(f32[1,3,6,5], f32[3,5,4,3], stride=6x4, dilation=4x6, pad=5,3,2,9)",
      "conv_transpose2d(f32[1,7,9,9], f32[7,2,3,3], stride=5x5, pad=19,18,17,16)",  // of which a part is read
      "conv_transpose2d(f32[1,2,1,1], f32[2,3,5,4], stride=9x7) + clip(0.5,1)",
      "conv_transpose2d(f32[1,2,2,2], f32[2,1,2,3], stride=1500x1)",
      "conv_transpose3d(f32[1,6,3,3,5], f32[6,9,3,4,3], stride=2x2x2, pad=1,1,1,1,1,1, dilation=1x3x2) + bias",
      "conv_transpose3d(f32[2,8,2,3,4], f32[8,3,2,2,2], stride=2x2x2, groups=4) + relu",
  });
}

}  // namespace
}  // namespace hone::op
