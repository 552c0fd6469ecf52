// TASK.reference: the right output of a task, computed once and kept beside its records. Derived data: if it is
// missing, damaged or of other inputs it is computed again.
//
// Layout (little endian): magic "HONEOUT1", u64 length of the key, the key, u64 number of elements, the elements (of
// the output's type, as the target stores it), then the XXH3-128 of all before it (u64 high, u64 low). The key says
// what it is the output of: workload, storage and version of the inputs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"
#include "task/tensor_data.h"

namespace hone::measure {

std::string ReferenceKey(const std::string& workload, const std::vector<Operand>& operands);

// kNotFound, or kCorrupt if it is not the reference of `key`, the values of `output` as it is stored.
Result<TensorData> ReadReference(const std::string& path, const std::string& key, const Operand& output);
Status WriteReference(const std::string& path, const std::string& key, const TensorData& values);

}  // namespace hone::measure
