// reduce_sum, _mean, _max, _min, _prod, _sum_square, _l1, _l2, _log_sum, _log_sum_exp (f32[..], axes=all, keep=0);
// log_softmax and softmax along any axis. Plain, any rank.
//
// A NaN anywhere makes the result NaN, in maxima too. A product is exp(sum of log|x|) with the sign of the count of
// negative factors: within 1e-6 relative times the number of factors' logarithms.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

std::vector<const Operator*> ReduceOperators();

}  // namespace hone::op
