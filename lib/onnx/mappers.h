// One function a kind of ONNX operator: checks a node and adds its meaning to the graph. They are named in the table of
// onnx/operators.cc, which checks the number of inputs before; what the node's attributes have wrong types for is
// checked behind them.
#pragma once

#include "onnx/context.h"

namespace hone::onnx {

// map_conv.cc
Status MapConv(NodeContext* c);
Status MapConvTranspose(NodeContext* c);
// map_pool.cc
Status MapPool(NodeContext* c);  // AveragePool, MaxPool
Status MapLpPool(NodeContext* c);
Status MapGlobalPool(NodeContext* c);  // GlobalAveragePool, GlobalMaxPool
// map_matmul.cc
Status MapGemm(NodeContext* c);
Status MapMatMul(NodeContext* c);
// map_einsum.cc
Status MapEinsum(NodeContext* c);
// map_elementwise.cc
Status MapUnary(NodeContext* c);       // those without attributes
Status MapAlphaUnary(NodeContext* c);  // LeakyRelu, Elu, ...
Status MapShrink(NodeContext* c);
Status MapGelu(NodeContext* c);
Status MapClip(NodeContext* c);
Status MapPRelu(NodeContext* c);
Status MapBinary(NodeContext* c);    // Add, Sub, Mul, Div, Pow
Status MapVariadic(NodeContext* c);  // Min, Max, Sum, Mean
// map_constant.cc: what has to be constant
Status MapLogic(NodeContext* c);  // comparisons, And, Or, Xor, Mod
Status MapNot(NodeContext* c);
Status MapWhere(NodeContext* c);
Status MapConstant(NodeContext* c);
Status MapConstantOfShape(NodeContext* c);
Status MapRange(NodeContext* c);
Status MapShape(NodeContext* c);
Status MapSize(NodeContext* c);
Status MapNonZero(NodeContext* c);
Status MapScatterNd(NodeContext* c);
Status MapCast(NodeContext* c);  // also CastLike
// map_shape.cc
Status MapIdentity(NodeContext* c);  // also Dropout
Status MapReshape(NodeContext* c);
Status MapFlatten(NodeContext* c);
Status MapSqueeze(NodeContext* c);
Status MapUnsqueeze(NodeContext* c);
Status MapTranspose(NodeContext* c);
Status MapConcat(NodeContext* c);
Status MapGather(NodeContext* c);
Status MapExpand(NodeContext* c);
Status MapTile(NodeContext* c);
Status MapDepthToSpace(NodeContext* c);
Status MapSpaceToDepth(NodeContext* c);
// map_slice.cc
Status MapSlice(NodeContext* c);
Status MapSplit(NodeContext* c);
Status MapPad(NodeContext* c);
// map_reduce.cc
Status MapReduce(NodeContext* c);
Status MapSoftmax(NodeContext* c);  // also LogSoftmax, Hardmax
// map_norm.cc
Status MapBatchNorm(NodeContext* c);
Status MapInstanceNorm(NodeContext* c);
Status MapLayerNorm(NodeContext* c);
Status MapGroupNorm(NodeContext* c);
Status MapLrn(NodeContext* c);
// map_resize.cc
Status MapResize(NodeContext* c);
Status MapUpsample(NodeContext* c);

}  // namespace hone::onnx
