// NET.params: the packed constants of a library in one file, which it maps. The format is runtime/params_format.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/status.h"
#include "library/constants.h"

namespace hone::library {

struct ParamsFile {
  std::string bytes;
  std::vector<uint64_t> offsets;  // of each blob
  std::string digest;             // 16 bytes: says which library and file belong together
  std::string DigestHex() const;
};

ParamsFile MakeParamsFile(const std::string& network, const std::vector<ConstantBlob>& blobs);

// Reads the whole file: kCorrupt, naming it and the first changed blob, if it is damaged or not the one of `digest`
// (hex). NET_create only looks at the header, so whoever judges a library's results asks here first.
Status VerifyParamsFile(const std::string& path, const std::string& digest);

}  // namespace hone::library
