#include "onnx/read_model.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "onnx/external_data.h"

namespace hone::onnx {
namespace {

namespace pb = ::onnx;

static_assert(std::endian::native == std::endian::little, "raw data is little endian and is copied as it is");

float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else {
    value = exponent ? std::ldexp(static_cast<float>(fraction + 1024), exponent - 25)
                     : std::ldexp(static_cast<float>(fraction), -24);
  }
  return bits & 0x8000 ? -value : value;
}

float BfloatToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// The location of a tensor's values: little-endian bytes, or the field for its type.
struct Source {
  const pb::TensorProto& proto;
  std::optional<std::string_view> raw;
  int64_t count;  // number of elements

  // Each value through `convert`; in bytes it is a Raw. kInvalid if they are not `count`: before room is made for them.
  template <typename Raw, typename Field, typename Convert>
  Status Take(const Field& field, Tensor* out, Convert convert) const {
    const auto size = static_cast<size_t>(count);
    if (raw && raw->size() != size * sizeof(Raw)) {
      return Status::Invalid("has {} bytes, but its {} elements take {}", raw->size(), count, size * sizeof(Raw));
    }
    if (!raw && field.size() != count) {
      return Status::Invalid("has {} values, but its shape {} elements", field.size(), count);
    }
    if constexpr (std::is_integral_v<Raw>) {
      const auto outside = [](auto value) { return static_cast<decltype(value)>(static_cast<Raw>(value)) != value; };
      const auto found = raw ? field.end() : std::ranges::find_if(field, outside);
      if (found != field.end())
        return Status::Invalid("has the value {}, which is no {}", *found, ElementTypeName(out->type));
    }
    out->data = Tensor(out->type, out->shape()).data;
    const auto fill = [&](auto values) {
      for (size_t i = 0; i < size; ++i) {
        Raw value{};
        if (raw) std::memcpy(&value, raw->data() + i * sizeof(Raw), sizeof(Raw));
        using Out = typename decltype(values)::value_type;
        values[i] = static_cast<Out>(raw ? convert(value) : convert(field[static_cast<int>(i)]));
      }
    };
    IsFloating(out->type) ? fill(out->data.as<float>()) : fill(out->data.as<int64_t>());
    return Status();
  }
};

Status DecodeValues(const Source& from, Tensor* out) {
  const auto same = [](auto x) { return x; };
  const auto half = [](auto x) { return HalfToFloat(static_cast<uint16_t>(x)); };
  const auto bfloat = [](auto x) { return BfloatToFloat(static_cast<uint16_t>(x)); };
  const auto truth = [](auto x) { return x != 0; };
  const auto& ints = from.proto.int32_data();  // used for all small types
  switch (out->type) {
    case ElementType::kFloat:
      return from.Take<float>(from.proto.float_data(), out, same);
    case ElementType::kDouble:
      return from.Take<double>(from.proto.double_data(), out, same);
    case ElementType::kFloat16:
      return from.Take<uint16_t>(ints, out, half);
    case ElementType::kBfloat16:
      return from.Take<uint16_t>(ints, out, bfloat);
    case ElementType::kInt64:
      return from.Take<int64_t>(from.proto.int64_data(), out, same);
    case ElementType::kUint64:
      return from.Take<int64_t>(from.proto.uint64_data(), out, same);
    case ElementType::kUint32:
      return from.Take<uint32_t>(from.proto.uint64_data(), out, same);
    case ElementType::kInt32:
      return from.Take<int32_t>(ints, out, same);
    case ElementType::kInt16:
      return from.Take<int16_t>(ints, out, same);
    case ElementType::kUint16:
      return from.Take<uint16_t>(ints, out, same);
    case ElementType::kInt8:
      return from.Take<int8_t>(ints, out, same);
    case ElementType::kUint8:
      return from.Take<uint8_t>(ints, out, same);
    case ElementType::kBool:
      return from.Take<uint8_t>(ints, out, truth);
    default:
      return Status();
  }
}

Result<std::string_view> External(const pb::TensorProto& proto, ExternalData* files) {
  if (files == nullptr) return Status::Unsupported("its data is in another file, which is not read here");
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    for (auto& [key, value] : {std::pair("offset", &offset), std::pair("length", &length)}) {
      if (entry.key() != key) continue;
      const auto number = ParseInt(entry.value());
      if (!number.ok() || *number < 0) {
        return Status::Invalid("external data: {} `{}` is not a number of bytes", key, entry.value());
      }
      *value = *number;
    }
  }
  return files->Read(location, offset, length);
}

// Frees the decoded part, so that the model is not in memory twice.
Result<Tensor> Decode(pb::TensorProto* proto, ExternalData* files) {
  Tensor tensor;
  tensor.name = proto->name();
  tensor.type = static_cast<ElementType>(proto->data_type());
  const Shape shape(proto->dims().begin(), proto->dims().end());
  if (shape.size() > 64) return Status::Invalid("has more than 64 dimensions");
  if (proto->has_segment()) return Status::Unsupported("is cut into segments, which is not supported");
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  tensor.data.type.shape = shape;
  if (!tensor.has_values()) return tensor;  // reported as an error once something reads it
  Source source{*proto, std::nullopt, count};
  if (proto->data_location() == pb::TensorProto::EXTERNAL) {
    HONE_ASSIGN_OR_RETURN(source.raw, External(*proto, files));
  } else if (proto->has_raw_data()) {
    source.raw = proto->raw_data();
  }
  HONE_RETURN_IF_ERROR(DecodeValues(source, &tensor));
  delete proto->release_raw_data();
  return tensor;
}

Result<Tensor> DecodeNamed(pb::TensorProto* proto, ExternalData* files, const std::string& what) {
  auto tensor = Decode(proto, files);
  if (!tensor.ok()) return tensor.status().WithContext(what);
  return tensor;
}

Result<NodeAttribute> ToAttribute(pb::AttributeProto* proto, ExternalData* files) {
  using Kind = NodeAttribute::Kind;
  NodeAttribute out;
  out.name = proto->name();
  switch (proto->type()) {
    case pb::AttributeProto::FLOAT:
      out.kind = Kind::kFloat, out.f = proto->f();
      break;
    case pb::AttributeProto::INT:
      out.kind = Kind::kInt, out.i = proto->i();
      break;
    case pb::AttributeProto::STRING:
      out.kind = Kind::kString, out.s = proto->s();
      break;
    case pb::AttributeProto::TENSOR: {
      out.kind = Kind::kTensor;
      HONE_ASSIGN_OR_RETURN(Tensor tensor, DecodeNamed(proto->mutable_t(), files, "attribute `" + out.name + "`"));
      out.tensor = std::make_shared<const Tensor>(std::move(tensor));
      break;
    }
    case pb::AttributeProto::FLOATS:
      out.kind = Kind::kFloats, out.floats.assign(proto->floats().begin(), proto->floats().end());
      break;
    case pb::AttributeProto::INTS:
      out.kind = Kind::kInts, out.ints.assign(proto->ints().begin(), proto->ints().end());
      break;
    case pb::AttributeProto::STRINGS:
      out.kind = Kind::kStrings, out.strings.assign(proto->strings().begin(), proto->strings().end());
      break;
    case pb::AttributeProto::GRAPH:
    case pb::AttributeProto::GRAPHS:
      out.kind = Kind::kGraph;
      break;
    default:
      out.kind = Kind::kOther;
  }
  return out;
}

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

Result<ModelNode> ToNode(pb::NodeProto* proto, ExternalData* files) {
  ModelNode node;
  node.name = proto->name(), node.op = proto->op_type(), node.domain = DomainOf(proto->domain());
  node.inputs.assign(proto->input().begin(), proto->input().end());
  node.outputs.assign(proto->output().begin(), proto->output().end());
  for (pb::AttributeProto& attribute : *proto->mutable_attribute()) {
    auto made = ToAttribute(&attribute, files);
    if (!made.ok()) return made.status().WithContext("node `" + node.name + "` (" + node.op + ")");
    node.attributes.push_back(std::move(*made));
  }
  return node;
}

ModelInput ToInput(const pb::ValueInfoProto& proto) {
  ModelInput input;
  input.name = proto.name();
  input.is_tensor = proto.type().has_tensor_type();
  if (!input.is_tensor) return input;
  const auto& type = proto.type().tensor_type();
  input.type = static_cast<ElementType>(type.elem_type());
  input.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    input.shape.push_back(fixed ? std::optional<int64_t>(dim.dim_value()) : std::nullopt);
    input.symbols.push_back(dim.dim_param());
  }
  return input;
}

Result<Model> ToModel(pb::ModelProto* proto, ExternalData* files) {
  Model model;
  model.ir_version = proto->ir_version();
  for (const auto& import : proto->opset_import()) {
    model.opsets[DomainOf(import.domain())] = import.version();
  }
  if (!proto->has_graph()) {
    return Status::Invalid("it has no graph: is this an ONNX model?");
  }
  pb::GraphProto& graph = *proto->mutable_graph();
  if (graph.sparse_initializer_size() > 0) return Status::Unsupported("it has sparse initialisers");
  std::set<std::string> names;
  for (pb::TensorProto& tensor : *graph.mutable_initializer()) {
    const std::string what = "initialiser `" + tensor.name() + "`";
    HONE_ASSIGN_OR_RETURN(Tensor made, DecodeNamed(&tensor, files, what));
    if (!names.insert(made.name).second) return Status::Invalid(what + " stands twice");
    model.initialisers.push_back(std::make_shared<const Tensor>(std::move(made)));
  }
  for (const auto& input : graph.input()) {
    if (!names.count(input.name())) model.inputs.push_back(ToInput(input));
  }
  for (const auto& output : graph.output()) model.outputs.push_back(output.name());
  for (pb::NodeProto& node : *graph.mutable_node()) {
    HONE_ASSIGN_OR_RETURN(ModelNode made, ToNode(&node, files));
    model.nodes.push_back(std::move(made));
  }
  return model;
}

template <typename Proto>
Status ParseProto(std::string_view bytes, Proto* proto) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Status::Unsupported("a model of 2 GiB or more keeps its tensors in external data");
  }
  if (bytes.empty()) return Status::Invalid("the file is empty");
  if (proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Status();
  return Status::Invalid("not an ONNX model, or cut short or damaged: export or download it again");
}

}  // namespace

Result<Model> ParseModel(std::string_view bytes, const std::string& path, bool external) {
  pb::ModelProto proto;
  HONE_RETURN_IF_ERROR(ParseProto(bytes, &proto).WithContext(path));
  ExternalData files(DirName(path));
  auto model = ToModel(&proto, external ? &files : nullptr);
  if (!model.ok()) return model.status().WithContext(path);
  model->external = files.Locations();
  return model;
}

Result<Model> ReadModel(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseModel(bytes, path);
}

Result<Tensor> ParseTensor(std::string_view bytes, const std::string& path) {
  pb::TensorProto proto;
  HONE_RETURN_IF_ERROR(ParseProto(bytes, &proto).WithContext(path));
  return DecodeNamed(&proto, nullptr, path);
}

}  // namespace hone::onnx
