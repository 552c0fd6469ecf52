// Which NVRTC compiles for an architecture: each version leaves out the oldest (13 begins at sm_75, 12 at sm_50) and
// does not know the newest, and a machine may have several. A driver takes the code of its own major version of CUDA
// and of older ones; that of a newer one it may refuse. Private to codegen/cuda.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/cuda/nvrtc.h"

namespace hone::codegen {

// The first of `paths` that compiles for `arch` ("sm_90"; empty: the first there is) and is of the major version
// `newest` at most (0: of any). No paths: the newest version first, where the loader finds it and where the CUDA
// Toolkit is installed. kNotFound: there is none. kUnsupported: none of those there are. Both say in one line what
// there is and what to install; the next call looks again, where one that was found stays the choice of this process.
// Thread-safe.
Result<const Nvrtc*> ChooseNvrtc(const std::vector<std::string>& paths, const std::string& arch, int newest);

}  // namespace hone::codegen
