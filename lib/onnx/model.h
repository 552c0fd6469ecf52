// An ONNX file as plain data: onnx/read_model.h converts the protobuf to it, and importing sees nothing else.
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
  // As AttributeProto.AttributeType; says which field holds the value. kOther: sequences, types, sparse tensors, and
  // newer kinds.
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
  std::vector<std::string> inputs, outputs;  // "" for an omitted optional one
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
  std::vector<std::optional<int64_t>> shape;  // nothing for an open dimension
  std::vector<std::string> symbols;           // names of open dimensions, else ""; as many as `shape`
};

struct Model {
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // by domain; "" is ONNX's own ("ai.onnx" is the same)
  std::vector<ModelNode> nodes;
  std::vector<ModelInput> inputs;    // without initialisers, which old files list here as well
  std::vector<std::string> outputs;  // names
  std::vector<Constant> initialisers;
  std::vector<std::string> external;  // files with values of the model, relative to its folder

  // The opset of ONNX's own operators; 0 if the model does not import them.
  int64_t Opset() const { return opsets.count("") != 0 ? opsets.at("") : 0; }
};

}  // namespace hone::onnx
