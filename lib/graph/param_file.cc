#include "graph/param_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/hash.h"

namespace hone::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little endian and is copied as it is");

constexpr std::string_view kMagic = "HONEGPAR";
constexpr uint32_t kFloatsOnly = 1, kTyped = 2;

template <typename T>
void Append(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendText(std::string* out, const std::string& text) {
  Append(out, static_cast<uint32_t>(text.size()));
  *out += text;
}

// A cursor over bytes; every Take fails, and leaves it alone, if too little is left.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : left_(bytes) {}
  bool Bytes(size_t count, std::string_view* out) {
    if (count > left_.size()) return false;
    *out = left_.substr(0, count);
    left_.remove_prefix(count);
    return true;
  }
  template <typename T>
  bool Take(T* out) {
    std::string_view bytes;
    if (!Bytes(sizeof(T), &bytes)) return false;
    std::memcpy(out, bytes.data(), sizeof(T));
    return true;
  }
  bool Text(std::string_view* out) {
    uint32_t length = 0;
    return Take(&length) && Bytes(length, out);
  }
  size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
};

}  // namespace

std::string ParameterFileBytes(const Graph& graph, const ParameterValues& values) {
  const auto reads = CountReads(graph);
  std::string out(kMagic);
  uint32_t count = 0;
  bool typed = false;
  for (const Parameter& p : graph.parameters) {
    count += reads.count(p.name);
    typed = typed || (reads.count(p.name) && p.type.type != DType::Float(32));
  }
  Append(&out, typed ? kTyped : kFloatsOnly);
  Append(&out, count);
  for (const Parameter& p : graph.parameters) {
    if (reads.count(p.name) == 0) continue;
    AppendText(&out, p.name);
    if (typed) AppendText(&out, ToString(p.type.type));
    Append(&out, static_cast<uint32_t>(p.type.shape.size()));
    for (int64_t extent : p.type.shape) Append(&out, extent);
    out += values.at(p.name).view();
  }
  Append(&out, Digest128(out).lo);
  return out;
}

Result<ParameterValues> ParseParameterFile(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() || bytes.substr(0, kMagic.size()) != kMagic) {
    return Status::Invalid(path + ": not a parameter file of a graph (it does not start with HONEGPAR)");
  }
  const Status truncated = Status::Corrupt(path + ": truncated; write it again");
  Cursor cursor(bytes.substr(kMagic.size()));
  uint32_t version = 0, count = 0;
  if (!cursor.Take(&version) || !cursor.Take(&count)) return truncated;
  if (version != kFloatsOnly && version != kTyped) {
    return Status::Unsupported(fmt::format("{}: has version {}, this Hone reads 1 to {}", path, version, kTyped));
  }
  ParameterValues values;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t rank = 0;
    std::string_view name, type_text, data;
    TensorType type;
    if (!cursor.Text(&name) || (version == kTyped && !cursor.Text(&type_text))) return truncated;
    if (version == kTyped) {
      Result<DType> parsed = ParseDType(type_text);
      if (!parsed.ok() || !parsed->is_scalar() || parsed->is_handle() || parsed->is_bool() ||
          *parsed == DType::Float(16)) {
        return Status::Corrupt(fmt::format("{}: `{}` has a type that no parameter has", path, name));
      }
      type.type = *parsed;
    }
    if (!cursor.Take(&rank) || rank > 8) return truncated;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < rank; ++d) {
      int64_t extent = 0;
      if (!cursor.Take(&extent)) return truncated;
      if (extent < 1 || static_cast<uint64_t>(extent) > cursor.left() / elements) return truncated;
      elements *= static_cast<uint64_t>(extent);
      type.shape.push_back(extent);
    }
    if (!cursor.Bytes(elements * static_cast<uint64_t>(type.type.bytes()), &data)) return truncated;
    TensorData& tensor = values[std::string(name)];
    tensor.type = std::move(type);
    tensor.bytes.assign(data.begin(), data.end());
  }
  uint64_t digest = 0;
  if (!cursor.Take(&digest) || cursor.left() != 0) return truncated;
  if (digest != Digest128(bytes.substr(0, bytes.size() - sizeof(digest))).lo) {
    return Status::Corrupt(path + ": its digest does not fit its content; write it again");
  }
  return values;
}

}  // namespace hone::graph
