#include "library/params_file.h"

#include <cstring>

#include "base/check.h"
#include "base/file.h"
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

void PutText(const std::string& text, char* out, size_t size) { text.copy(out, size - 1); }

uint64_t Fnv1a(std::string_view bytes) {
  uint64_t sum = 14695981039346656037u;
  for (char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

std::string Hex(const uint8_t* digest) {
  std::string hex;
  for (int i = 0; i < 16; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

// The first blob whose bytes do not match its entry's digest; empty if all match.
std::string DamagedBlob(std::string_view bytes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    HoneParamsEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof(HoneParamsHeader) + i * sizeof(entry), sizeof(entry));
    const std::string name(entry.name, strnlen(entry.name, sizeof(entry.name)));
    if (entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset) return name;
    uint8_t digest[16];
    PutDigest(bytes.substr(entry.offset, entry.bytes), digest);
    if (std::memcmp(digest, entry.digest, sizeof(digest)) != 0) return name;
  }
  return "";
}

}  // namespace

std::string ParamsFile::DigestHex() const { return Hex(reinterpret_cast<const uint8_t*>(digest.data())); }

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
    HONE_CHECK(!blob.bytes.empty());  // hone_net_digest needs a body
    HoneParamsEntry entry{.offset = at, .bytes = blob.bytes.size()};
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
  // Include offsets: the library's tables contain them.
  PutDigest(entries + file.bytes.substr(body), header.digest);
  std::memcpy(file.bytes.data(), &header, sizeof(header));
  std::memcpy(file.bytes.data() + sizeof(header), entries.data(), entries.size());
  file.digest.assign(reinterpret_cast<const char*>(header.digest), sizeof(header.digest));
  return file;
}

Status VerifyParamsFile(const std::string& path, const std::string& digest) {
  constexpr const char* kWhatToDo = "build the library again";
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const std::string_view bytes = text;
  HoneParamsHeader header{};
  if (bytes.size() >= sizeof(header)) std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, HONE_PARAMS_MAGIC, sizeof(header.magic)) != 0)
    return Status::Corrupt("{}: damaged: not a parameter file of Hone; {}", path, kWhatToDo);
  if (header.file_bytes != bytes.size()) {
    return Status::Corrupt("{}: damaged: has {} bytes of {}; {}", path, bytes.size(), header.file_bytes, kWhatToDo);
  }
  const uint64_t entries = uint64_t{header.count} * sizeof(HoneParamsEntry);
  if (entries > bytes.size() - sizeof(header) ||
      Fnv1a(bytes.substr(sizeof(header), entries)) != header.table_checksum) {
    return Status::Corrupt("{}: damaged in its table of contents; {}", path, kWhatToDo);
  }
  if (Hex(header.digest) != digest) {
    return Status::Corrupt("{}: belongs to another build than the manifest.json beside it; {}", path, kWhatToDo);
  }
  const std::string blob = DamagedBlob(bytes, header.count);
  if (blob.empty()) return Status();
  return Status::Corrupt("{}: damaged: the values of `{}` are not those that were written; {}", path, blob, kWhatToDo);
}

}  // namespace hone::library
