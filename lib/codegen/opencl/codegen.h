// Device code as OpenCL C 1.2. The artifact is the text: the driver compiles it where it runs.
#pragma once

#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

// An artifact of format "opencl-c" that contains the text. `functions` must be in their final form
// (codegen/c_source/source.h). Returns kUnsupported if a kernel exceeds the target's limits, or uses types that OpenCL
// C cannot express here.
Result<Artifact> CompileToOpenCl(const std::vector<ir::Function>& functions, const Target& target);

}  // namespace hone::codegen
