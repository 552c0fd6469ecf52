#include "quantise/samples.h"

#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace hone::quantise {
namespace {

static_assert(std::endian::native == std::endian::little, "values are little endian and are copied as they are");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kMostElements = int64_t{1} << 40;

// A cursor over the dictionary of a header.
class Header {
 public:
  explicit Header(std::string_view text) : left_(text) {}

  bool Take(char wanted) {
    SkipSpace();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  // 'text' or "text", without escapes.
  std::optional<std::string> Quoted() {
    SkipSpace();
    if (left_.empty() || (left_.front() != '\'' && left_.front() != '"')) return std::nullopt;
    const size_t end = left_.find(left_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(left_.substr(1, end - 1));
    left_.remove_prefix(end + 1);
    return text;
  }
  std::string Word() {
    SkipSpace();
    size_t end = 0;
    while (end < left_.size() && std::isalnum(static_cast<unsigned char>(left_[end]))) ++end;
    std::string word(left_.substr(0, end));
    left_.remove_prefix(end);
    return word;
  }
  bool AtEnd() {
    SkipSpace();
    return left_.empty();
  }

 private:
  void SkipSpace() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front()))) left_.remove_prefix(1);
  }
  std::string_view left_;
};

struct Npy {
  std::string type;
  bool fortran = false;
  std::vector<int64_t> shape;
  std::string_view data;
};

// A tuple: (), (3,), (3, 4).
bool TakeShape(Header* header, std::vector<int64_t>* shape) {
  if (!header->Take('(')) return false;
  while (!header->Take(')')) {
    const Result<int64_t> extent = ParseInt(header->Word());
    if (!extent.ok() || *extent < 0 || *extent > kMostElements || shape->size() == 8) return false;
    shape->push_back(*extent);
    if (header->Take(',')) continue;
    if (!header->Take(')')) return false;
    return true;
  }
  return true;
}

bool TakeDictionary(Header* header, Npy* npy) {
  if (!header->Take('{')) return false;
  int seen = 0;
  while (!header->Take('}')) {
    const auto key = header->Quoted();
    if (!key || !header->Take(':')) return false;
    if (*key == "descr") {
      const auto type = header->Quoted();  // a list of fields is not read
      if (!type) return false;
      npy->type = *type, seen |= 1;
    } else if (*key == "fortran_order") {
      const std::string word = header->Word();
      if (word != "True" && word != "False") return false;
      npy->fortran = word == "True", seen |= 2;
    } else if (*key == "shape") {
      npy->shape.clear();
      if (!TakeShape(header, &npy->shape)) return false;
      seen |= 4;
    } else {
      return false;
    }
    if (header->Take(',')) continue;
    if (!header->Take('}')) return false;
    break;
  }
  return seen == 7 && header->AtEnd();
}

Result<Npy> ParseNpy(std::string_view bytes, const std::string& path) {
  const Status truncated = Status::Invalid("{}: the file is cut short in its header; write it again", path);
  if (bytes.size() < kMagic.size() + 4) return truncated;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t major = byte(6);
  if (major != 1 && major != 2) {
    return Status::Unsupported("{}: version {}.{} of NumPy's format is not supported; write it by numpy.save", path,
                               major, byte(7));
  }
  size_t begin = 10, length = byte(8) | byte(9) << 8;
  if (major == 2) {
    if (bytes.size() < 12) return truncated;
    begin = 12, length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > bytes.size() - begin) return truncated;
  Npy npy{.data = bytes.substr(begin + length)};
  Header header(bytes.substr(begin, length));
  if (TakeDictionary(&header, &npy)) return npy;
  return Status::Invalid("{}: its NumPy header is not a dictionary of 'descr', 'fortran_order' and 'shape'", path);
}

// How many inputs of `type` an array of this shape holds; nothing if it does not fit.
std::optional<int64_t> CountSamples(const std::vector<int64_t>& shape, const std::vector<int64_t>& input) {
  if (shape == input) return 1;
  const std::vector<int64_t> behind(shape.begin() + (shape.empty() ? 0 : 1), shape.end());
  if (!shape.empty() && behind == input) return shape[0];
  if (input.empty() || input[0] != 1) return std::nullopt;
  const std::vector<int64_t> one(input.begin() + 1, input.end());
  if (shape == one) return 1;
  if (!shape.empty() && behind == one) return shape[0];
  return std::nullopt;
}

}  // namespace

bool IsNpy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<Samples> ParseSamples(std::string_view bytes, const std::string& path, const TensorType& type, int64_t most) {
  Samples samples;
  const auto each = static_cast<size_t>(type.Elements()) * sizeof(float);
  if (IsNpy(bytes)) {
    HONE_ASSIGN_OR_RETURN(const Npy npy, ParseNpy(bytes, path));
    if (npy.type != "<f4") {
      return Status::Unsupported("{}: has values of type '{}', must be '<f4' (float32); convert it by astype('<f4')",
                                 path, Printable(npy.type));
    }
    if (npy.fortran) {
      return Status::Unsupported("{}: is in Fortran's order; convert it by numpy.ascontiguousarray", path);
    }
    const auto count = CountSamples(npy.shape, type.shape);
    if (!count) {
      return Status::Invalid("{}: has the shape ({}), but the network's input is {}", path, fmt::join(npy.shape, ", "),
                             type.Text());
    }
    // No overflow: at most 2^40 inputs of 2^29 elements would exceed 64 bits, so compare by division.
    if (npy.data.size() % each != 0 || static_cast<uint64_t>(*count) != npy.data.size() / each) {
      return Status::Invalid("{}: has {} bytes of values, but its shape needs {} inputs of {} bytes; write it again",
                             path, npy.data.size(), *count, each);
    }
    bytes = npy.data;
  } else if (bytes.size() % each != 0) {
    return Status::Invalid("{}: has {} bytes, which is not a multiple of the {} bytes of an input {}", path,
                           bytes.size(), each, type.Text());
  }
  samples.count = std::min(most, static_cast<int64_t>(bytes.size() / each));
  if (bytes.empty()) return Status::Invalid("{}: has no input", path);
  samples.values.resize(static_cast<size_t>(samples.count) * each / sizeof(float));
  std::memcpy(samples.values.data(), bytes.data(), samples.values.size() * sizeof(float));
  for (size_t i = 0; i < samples.values.size(); ++i) {
    if (std::isfinite(samples.values[i])) continue;
    return Status::Invalid("{}: value {} of input {} is {}; calibration needs finite values", path,
                           i % (each / sizeof(float)), i / (each / sizeof(float)), samples.values[i]);
  }
  return samples;
}

std::string NpyText(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const int64_t extent : shape) header += std::to_string(extent) + ", ";
  header += "), }";
  // Values begin at a multiple of 64 bytes.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::string text = std::string(kMagic) + std::string("\x01\x00", 2);
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return text;
}

}  // namespace hone::quantise
