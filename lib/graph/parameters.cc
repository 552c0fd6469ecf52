#include <bit>
#include <cmath>

#include "base/hash.h"
#include "base/rng.h"
#include "graph/graph.h"

namespace hone::graph {
namespace {

TensorData Uniform(const Graph& graph, const Parameter& p, double low, double high) {
  Rng rng(Mix64(graph.seed ^ Mix64(Digest128(p.name).lo)));
  std::vector<double> values(static_cast<size_t>(p.type.Elements()));
  for (double& v : values) v = low + (high - low) * rng.UniformDouble();
  return TensorData(p.type, values);
}

// gamma / sqrt(variance + epsilon), per channel.
std::vector<double> Scales(const Parameter& p, const TensorData& gamma, const TensorData& variance) {
  std::vector<double> scales = gamma.Doubles();
  const std::vector<double> variances = variance.Doubles();
  for (size_t c = 0; c < scales.size(); ++c) scales[c] /= std::sqrt(variances[c] + p.init.epsilon);
  return scales;
}

// A weight times the scale of its output channel, on axis 0 or, in a transposed convolution, on axis 1.
TensorData FoldWeight(const Parameter& p, const ParameterValues& values) {
  std::vector<double> weight = values.at(p.init.from[0]).Doubles();
  const std::vector<double> scales = Scales(p, values.at(p.init.from[1]), values.at(p.init.from[2]));
  // Transposed, each group of rows (input channels) has output channels of its own.
  const bool transposed = p.init.kind == InitKind::kFoldTransposed;
  const auto rows = static_cast<size_t>(p.type.shape[0]);
  const size_t each = transposed ? static_cast<size_t>(p.type.shape[1]) : 1, inner = weight.size() / rows / each;
  const size_t in_group = rows / (scales.size() / each);
  for (size_t i = 0; i < weight.size(); ++i) {
    weight[i] *= scales[i / inner / each / in_group * each + i / inner % each];
  }
  return TensorData(p.type, weight);
}

TensorData FoldBias(const Parameter& p, const ParameterValues& values) {
  const auto source = [&](size_t i) { return values.at(p.init.from[i]).Doubles(); };
  const std::vector<double> scales = Scales(p, values.at(p.init.from[0]), values.at(p.init.from[3]));
  const std::vector<double> beta = source(1), mean = source(2);
  std::vector<double> folded = p.init.from.size() > 4 ? source(4) : std::vector<double>(scales.size(), 0.0);
  for (size_t c = 0; c < folded.size(); ++c) folded[c] = beta[c] + (folded[c] - mean[c]) * scales[c];
  return TensorData(p.type, folded);
}

TensorData Slice(const Parameter& p, const TensorData& source) {
  const std::vector<double> all = source.Doubles();
  const std::vector<int64_t>&shape = p.type.shape, &whole = source.type.shape;
  std::vector<double> values(static_cast<size_t>(p.type.Elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, step = 1;
    for (size_t axis = shape.size(); axis-- > 0; step *= whole[axis], rest /= shape[axis]) {
      at += (p.init.begin[axis] + rest % shape[axis]) * step;
    }
    values[i] = all[static_cast<size_t>(at)];
  }
  return TensorData(p.type, values);
}

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
    bytes.copy(reinterpret_cast<char*>(out), sizeof(T));
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

Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file) {
  ParameterValues values;
  for (const Parameter& p : graph.parameters) {
    TensorData& out = values[p.name];
    switch (p.init.kind) {
      case InitKind::kHe: {
        const double bound = std::sqrt(6.0 / static_cast<double>(p.init.fan_in));
        out = Uniform(graph, p, -bound, bound);
        break;
      }
      case InitKind::kUniform:
        out = Uniform(graph, p, p.init.low, p.init.high);
        break;
      case InitKind::kConstant:
        out = TensorData(p.type, std::vector<double>(static_cast<size_t>(p.type.Elements()), p.init.low));
        break;
      case InitKind::kValues:
        out = TensorData(p.type, p.init.values);
        break;
      case InitKind::kFoldWeight:
      case InitKind::kFoldTransposed:
        out = FoldWeight(p, values);
        break;
      case InitKind::kFoldBias:
        out = FoldBias(p, values);
        break;
      case InitKind::kSlice:
        out = Slice(p, values.at(p.init.from[0]));
        break;
      case InitKind::kFile: {
        if (file == nullptr) {
          return Status::NotFound("parameter `{}` of {} comes from a parameter file; pass one with --parameter-file",
                                  p.name, graph.name);
        }
        auto found = file->find(p.name);
        if (found == file->end()) return Status::NotFound("the parameter file has no `" + p.name + "`");
        const TensorType& type = found->second.type;
        const bool one = type.Elements() == 1 && p.type.Elements() == 1;
        if (type.type != p.type.type || (type.shape != p.type.shape && !one)) {
          return Status::Invalid("parameter `{}`: the file has {}, the graph says {}", p.name,
                                 found->second.type.Text(), p.type.Text());
        }
        out = found->second;
        break;
      }
    }
  }
  return values;
}

void KeepReadParameters(const Graph& graph, ParameterValues* values) {
  const auto reads = CountReads(graph);
  std::erase_if(*values, [&](const auto& item) { return reads.count(item.first) == 0; });
}

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
    return Status::Unsupported("{}: has version {}, this Hone reads 1 to {}", path, version, kTyped);
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
        return Status::Corrupt("{}: `{}` has a type that no parameter has", path, name);
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
