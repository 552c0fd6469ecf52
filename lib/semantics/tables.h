// The definitions by kind, one file each. Private to semantics/.
#pragma once

#include <vector>

#include "semantics/semantics.h"

namespace hone::semantics {

// The attribute that says how all tensors are stored, and how the first input is; `plain`: its word for row-major.
AttributeSpec AllLayoutSpec();
AttributeSpec InputLayoutSpec(const std::string& plain);

std::vector<Definition> Elementwise();  // unary, binary with broadcasting
std::vector<Definition> Reductions();   // reduce_*, softmax, log_softmax, matmul
std::vector<Definition> Movement();     // transpose, reshape, slice, concat, pad, gather, expand
std::vector<Definition> Windows();      // conv3d, pooling, conv_transpose
std::vector<Definition> Norms();        // lrn, instance_norm, layer_norm, resize

}  // namespace hone::semantics
