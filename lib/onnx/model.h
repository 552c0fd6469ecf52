// An ONNX file as plain data: what onnx/read_model.h makes of the protobuf, and all that importing sees.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "onnx/tensor.h"

namespace hone::onnx {

struct NodeAttribute {
  std::string name;
  // As AttributeProto.AttributeType; what holds the value. kOther: sequences, types, sparse tensors, newer ones.
  enum class Kind { kFloat, kInt, kString, kTensor, kFloats, kInts, kStrings, kGraph, kOther } kind = Kind::kOther;
  float f = 0;
  int64_t i = 0;
  std::string s;
  Constant tensor;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
};

struct ModelNode {
  std::string name;  // may be empty
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  // "" for an optional one that is left out
  std::vector<NodeAttribute> attributes;

  const NodeAttribute* Find(const std::string& attribute) const {
    const auto found = std::find_if(attributes.begin(), attributes.end(), [&](auto& a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

struct ModelInput {
  std::string name;
  ElementType type = ElementType::kUndefined;
  bool is_tensor = false;
  bool has_shape = false;
  std::vector<std::optional<int64_t>> shape;  // nothing: open
  std::vector<std::string> symbols;           // names of open dimensions, "" for those without; as many as `shape`
};

struct Model {
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // by domain; "" is ONNX's own ("ai.onnx" is the same)
  std::vector<ModelNode> nodes;
  std::vector<ModelInput> inputs;    // initialisers left out, which old files list here, too
  std::vector<std::string> outputs;  // names
  std::vector<Constant> initialisers;
  std::vector<std::string> external;  // files beside the model that hold values of it, from its folder

  // Of ONNX's own operators; 0: it imports none.
  int64_t Opset() const { return opsets.count("") != 0 ? opsets.at("") : 0; }
};

}  // namespace hone::onnx
