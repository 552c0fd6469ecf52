// The definitions by kind, one file each. Private to define/.
#pragma once

#include <vector>

#include "define/define.h"

namespace hone::define {

std::vector<Definition> Elementwise();  // unary, binary with broadcasting
std::vector<Definition> Reductions();   // reduce_*, softmax, log_softmax, matmul
std::vector<Definition> Movement();     // transpose, reshape, slice, concat, pad, gather, expand
std::vector<Definition> Windows();      // conv3d, pooling, conv_transpose
std::vector<Definition> Norms();        // lrn, instance_norm, layer_norm, resize

}  // namespace hone::define
