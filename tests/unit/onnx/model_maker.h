// Models for tests, written with protobuf as other programs write them.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace hone::onnx {

namespace pb = ::onnx;

class ModelMaker {
 public:
  explicit ModelMaker(int64_t opset = 13) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("g");
  }

  // -1: open, with a symbol.
  void Input(const std::string& name, const std::vector<int64_t>& shape, int type = pb::TensorProto::FLOAT) {
    auto* info = model.mutable_graph()->add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t extent : shape) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (extent < 0) {
        dim->set_dim_param("N");
      } else {
        dim->set_dim_value(extent);
      }
    }
  }

  void Output(const std::string& name) { model.mutable_graph()->add_output()->set_name(name); }

  pb::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    pb::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(op);
    node.set_name(output + "_node");
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  static void SetInt(pb::NodeProto* node, const std::string& name, int64_t value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::INT);
    attribute->set_i(value);
  }

  static void SetFloat(pb::NodeProto* node, const std::string& name, float value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::FLOAT);
    attribute->set_f(value);
  }

  static void SetString(pb::NodeProto* node, const std::string& name, const std::string& value) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::STRING);
    attribute->set_s(value);
  }

  static void SetInts(pb::NodeProto* node, const std::string& name, const std::vector<int64_t>& values) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(pb::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
  }

  pb::TensorProto& Floats(const std::string& name, const std::vector<int64_t>& shape,
                          const std::vector<float>& values) {
    pb::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(pb::TensorProto::FLOAT);
    for (int64_t extent : shape) tensor.add_dims(extent);
    for (float value : values) tensor.add_float_data(value);
    return tensor;
  }

  pb::TensorProto& Ints(const std::string& name, const std::vector<int64_t>& values) {
    pb::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(pb::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values) tensor.add_int64_data(value);
    return tensor;
  }

  std::string Bytes() const { return model.SerializeAsString(); }

  pb::ModelProto model;
};

}  // namespace hone::onnx
