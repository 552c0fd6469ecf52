// conv_transpose2d, conv_transpose3d (x[N,C,..], weight[C,O/groups,K..], stride=, pad=, dilation=, groups=,
// output_pad=0): the gradient of a convolution. Plain.
//
// The input is spread out with zeros between its elements, then convolved with the weight turned round; the outputs of
// 4 channels share what is read.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& ConvTranspose2d();
const Operator& ConvTranspose3d();

}  // namespace hone::op
