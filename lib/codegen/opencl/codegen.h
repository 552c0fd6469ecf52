// Device code as OpenCL C 1.2. The text is what travels: the driver compiles it where it runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

// An artifact of format "opencl-c", its bytes the text. `functions` in their final form (codegen/c_source/source.h).
// kUnsupported: a kernel needs more than the target's limits say, or types that OpenCL C has no words for here.
Result<Artifact> CompileToOpenCl(const std::vector<ir::Function>& functions, const Target& target);

}  // namespace hone::codegen
