// NET.params: the packed constants of a library in one file, which it maps. The format is runtime/params_format.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "library/constants.h"

namespace hone::library {

struct ParamsFile {
  std::string bytes;
  std::vector<uint64_t> offsets;  // of each blob
  std::string digest;             // 16 bytes: says which library and file belong together
  std::string DigestHex() const;
};

ParamsFile MakeParamsFile(const std::string& network, const std::vector<ConstantBlob>& blobs);

}  // namespace hone::library
