#include "measure/reference.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"
#include "measure/inputs.h"

namespace hone::measure {
namespace {

constexpr char kMagic[] = "HONEOUT1";
constexpr size_t kMagicBytes = 8;

void AppendU64(std::string* bytes, uint64_t value) { bytes->append(reinterpret_cast<const char*>(&value), 8); }

uint64_t ReadU64(const std::string& bytes, size_t offset) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + offset, 8);
  return value;
}

std::vector<int64_t> Position(const std::vector<int64_t>& shape, int64_t index) {
  std::vector<int64_t> position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = index % shape[i];
    index /= shape[i];
  }
  return position;
}

}  // namespace

std::string ReferenceKey(const std::string& workload, const std::vector<Operand>& operands) {
  std::string key = fmt::format("{}|inputs={}", workload, kInputsVersion);
  for (const Operand& o : operands) key += fmt::format("|{}[{}]", o.name, fmt::join(o.physical, ","));
  return key;
}

Result<TensorData> ReadReference(const std::string& path, const std::string& key, const Operand& output) {
  HONE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  const Status bad = Status::Corrupt(path + ": not the reference of this task; delete it, it is computed again");
  const size_t fixed = kMagicBytes + 8 + key.size() + 8;
  if (bytes.size() < fixed + 16 || bytes.compare(0, kMagicBytes, kMagic) != 0) return bad;
  if (ReadU64(bytes, kMagicBytes) != key.size() || bytes.compare(kMagicBytes + 8, key.size(), key) != 0) return bad;
  const uint64_t count = ReadU64(bytes, fixed - 8);
  TensorData values(TensorType{output.logical.type, output.physical});
  if (count != static_cast<uint64_t>(values.Elements()) || bytes.size() != fixed + values.bytes.size() + 16) return bad;
  const Digest digest = Digest128(std::string_view(bytes).substr(0, bytes.size() - 16));
  if (digest.hi != ReadU64(bytes, bytes.size() - 16) || digest.lo != ReadU64(bytes, bytes.size() - 8)) return bad;
  std::memcpy(values.bytes.data(), bytes.data() + fixed, values.bytes.size());
  return values;
}

Status WriteReference(const std::string& path, const std::string& key, const TensorData& values) {
  std::string bytes(kMagic, kMagicBytes);
  AppendU64(&bytes, key.size());
  bytes += key;
  AppendU64(&bytes, static_cast<uint64_t>(values.Elements()));
  bytes += values.view();
  const Digest digest = Digest128(bytes);
  AppendU64(&bytes, digest.hi);
  AppendU64(&bytes, digest.lo);
  return WriteFileAtomic(path, bytes);
}

double Tolerance(int64_t reduction_length) {
  return 0x1p-23 * (64 + 16 * std::sqrt(static_cast<double>(reduction_length)));
}

std::optional<std::string> FirstDifference(const Operand& output, const void* got, const void* want, double tolerance) {
  const int64_t total = output.PhysicalElements();
  const DType type = output.logical.type;
  int64_t first = -1, count = 0;
  const auto differs = [&](int64_t i) {
    if (first < 0) first = i;
    ++count;
  };
  if (type == DType::Float(32)) {
    const auto *found = static_cast<const float*>(got), *right = static_cast<const float*>(want);
    const float t = static_cast<float>(tolerance);
    for (int64_t i = 0; i < total; ++i) {
      if (!(std::fabs(found[i] - right[i]) <= t * (1 + std::fabs(right[i])))) differs(i);  // true for NaN as well
    }
  } else {
    HONE_CHECK(!type.is_float());
    tolerance = std::floor(tolerance);
    const auto *found = static_cast<const char*>(got), *right = static_cast<const char*>(want);
    if (std::memcmp(found, right, static_cast<size_t>(total * type.bytes())) == 0) return std::nullopt;
    const std::vector<double> a = ToDoubles(type, found, total), b = ToDoubles(type, right, total);
    for (int64_t i = 0; i < total; ++i) {
      if (std::fabs(a[static_cast<size_t>(i)] - b[static_cast<size_t>(i)]) > tolerance) differs(i);
    }
  }
  if (first < 0) return std::nullopt;
  const auto value = [&](const void* values) {
    return ToDoubles(type, static_cast<const char*>(values) + first * type.bytes(), 1)[0];
  };
  return fmt::format("{}[{}] is {}, expected {}; {} of {} elements differ, tolerance {:.2g}", output.name,
                     fmt::join(Position(output.physical, first), ","), static_cast<float>(value(got)),
                     static_cast<float>(value(want)), count, total, tolerance);
}

}  // namespace hone::measure
