// TASK.reference: the right output of a task, computed once and kept beside its records. Derived data: if it is
// missing, damaged or of other inputs it is computed again.
//
// Layout (little endian): magic "HONEOUT1", u64 length of the key, the key, u64 number of elements, the elements (f32,
// as the target stores the output), then the XXH3-128 of all before it (u64 high, u64 low). The key says what it is the
// output of: workload, storage and version of the inputs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/kernel.h"

namespace hone::measure {

std::string ReferenceKey(const std::string& workload, const std::vector<Operand>& operands);

// kNotFound, or kCorrupt if it is not the reference of `key`.
Result<std::vector<float>> ReadReference(const std::string& path, const std::string& key);
Status WriteReference(const std::string& path, const std::string& key, const std::vector<float>& values);

}  // namespace hone::measure
