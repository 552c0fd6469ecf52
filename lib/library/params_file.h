// NET.params: the packed constants of a library in one file, which it maps. The format is runtime/params_format.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "library/constants.h"

namespace hone::library {

struct ParamsFile {
  std::string bytes;
  std::vector<uint64_t> offsets;  // of each blob
  std::string digest;             // 16 bytes that identify the library and the file as a pair
  std::string DigestHex() const;
};

// REQUIRES: no blob is empty.
ParamsFile MakeParamsFile(const std::string& network, const std::vector<ConstantBlob>& blobs);

// Reads the whole file. Returns kCorrupt, naming the file and the first changed blob, if it is damaged or does not have
// `digest` (hex). Without `options.verify` NET_create checks only the header and the entries, so call this before you
// judge a library's results.
Status VerifyParamsFile(const std::string& path, const std::string& digest);

}  // namespace hone::library
