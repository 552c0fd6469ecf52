#include "library/params_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "library/runtime/params_format.h"

namespace hone::library {
namespace {

uint64_t RoundUp(uint64_t bytes) {
  return (bytes + HONE_PARAMS_ALIGNMENT - 1) / HONE_PARAMS_ALIGNMENT * HONE_PARAMS_ALIGNMENT;
}

void PutDigest(std::string_view bytes, uint8_t* out) {
  const Digest digest = Digest128(bytes);
  for (int i = 0; i < 8; ++i) {
    out[i] = static_cast<uint8_t>(digest.hi >> (56 - 8 * i));
    out[8 + i] = static_cast<uint8_t>(digest.lo >> (56 - 8 * i));
  }
}

void PutText(const std::string& text, char* out, size_t size) {
  std::memcpy(out, text.data(), std::min(text.size(), size - 1));
}

uint64_t Fnv1a(std::string_view bytes) {
  uint64_t sum = 14695981039346656037u;
  for (char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

}  // namespace

std::string ParamsFile::DigestHex() const {
  std::string hex;
  for (char c : digest) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

ParamsFile MakeParamsFile(const std::string& network, const std::vector<ConstantBlob>& blobs) {
  ParamsFile file;
  HoneParamsHeader header{};
  std::memcpy(header.magic, HONE_PARAMS_MAGIC, sizeof(header.magic));
  header.version = HONE_PARAMS_VERSION;
  header.count = static_cast<uint32_t>(blobs.size());
  PutText(network, header.network, sizeof(header.network));
  uint64_t at = RoundUp(sizeof(header) + blobs.size() * sizeof(HoneParamsEntry));
  const uint64_t body = at;
  std::string entries;
  for (const ConstantBlob& blob : blobs) {
    HoneParamsEntry entry{};
    entry.offset = at;
    entry.bytes = blob.bytes.size();
    PutDigest(blob.bytes, entry.digest);
    PutText(blob.name, entry.name, sizeof(entry.name));
    entries.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
    file.offsets.push_back(at);
    at = RoundUp(at + blob.bytes.size());
  }
  file.bytes.assign(at, '\0');
  for (size_t i = 0; i < blobs.size(); ++i)
    std::memcpy(file.bytes.data() + file.offsets[i], blobs[i].bytes.data(), blobs[i].bytes.size());
  header.file_bytes = at;
  header.table_checksum = Fnv1a(entries);
  // Offsets count, too: the library's tables hold them.
  PutDigest(entries + file.bytes.substr(body), header.digest);
  std::memcpy(file.bytes.data(), &header, sizeof(header));
  std::memcpy(file.bytes.data() + sizeof(header), entries.data(), entries.size());
  file.digest.assign(reinterpret_cast<const char*>(header.digest), sizeof(header.digest));
  return file;
}

}  // namespace hone::library
