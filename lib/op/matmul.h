// matmul(f32[..,M,K], f32[..,K,N]): numpy's matmul, batches broadcast, vectors are a row on the left and a column on
// the right. Plain. Register tiles of 4 rows x one vector; a single column is reduced in vectors along K.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Matmul();

}  // namespace hone::op
