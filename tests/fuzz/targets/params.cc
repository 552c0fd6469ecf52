// NET.params, as the tools check it. The target corrects sizes and sums of the header, so that the data behind them is
// read as well.
#include <fmt/format.h>

#include <cstring>

#include "fuzz_target.h"
#include "library/params_file.h"
#include "library/runtime/params_format.h"

namespace hone::library {

HONE_FUZZ_TARGET(params) {
  std::string bytes(input);
  HoneParamsHeader header{};
  if (bytes.size() >= sizeof(header)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.file_bytes = bytes.size();
    uint64_t sum = 14695981039346656037u;
    const size_t entries = size_t{header.count} * sizeof(HoneParamsEntry);
    for (size_t i = 0; i < entries && entries <= bytes.size() - sizeof(header); ++i) {
      sum = (sum ^ static_cast<unsigned char>(bytes[sizeof(header) + i])) * 1099511628211u;
    }
    header.table_checksum = sum;
    std::memcpy(bytes.data(), &header, sizeof(header));
  }
  std::string digest;
  for (uint8_t byte : header.digest) digest += fmt::format("{:02x}", byte);
  return VerifyParamsFile(fuzz::InputFile(bytes), digest);
}

}  // namespace hone::library
