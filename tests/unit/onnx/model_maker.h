// Models for tests, written with protobuf like those of other programs.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <type_traits>
#include <vector>

namespace hone::onnx {

namespace pb = ::onnx;

// A node of a model, to add to.
struct MadeNode {
  pb::NodeProto* proto;

  pb::NodeProto* operator->() { return proto; }

  MadeNode Set(const std::string& name, const std::vector<int64_t>& values) {
    pb::AttributeProto* attribute = Add(name, pb::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
    return *this;
  }
  MadeNode Set(const std::string& name, const char* value) {
    Add(name, pb::AttributeProto::STRING)->set_s(value);
    return *this;
  }
  // A float or an integer, by the value's type.
  template <typename T>
  MadeNode Set(const std::string& name, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      Add(name, pb::AttributeProto::FLOAT)->set_f(value);
    } else {
      Add(name, pb::AttributeProto::INT)->set_i(value);
    }
    return *this;
  }

 private:
  pb::AttributeProto* Add(const std::string& name, pb::AttributeProto::AttributeType type) {
    pb::AttributeProto* attribute = proto->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
};

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

  MadeNode Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    pb::NodeProto* node = model.mutable_graph()->add_node();
    node->set_op_type(op);
    node->set_name(output + "_node");
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return {node};
  }
  MadeNode FirstNode() { return {model.mutable_graph()->mutable_node(0)}; }

  // y = op(x, further..), with x and y as the model's input and output.
  static ModelMaker Of(const std::string& op, const std::vector<int64_t>& x, int64_t opset = 13,
                       const std::vector<std::string>& further = {}) {
    ModelMaker m(opset);
    m.Input("x", x);
    MadeNode node = m.Node(op, {"x"}, "y");
    for (const std::string& input : further) node->add_input(input);
    m.Output("y");
    return m;
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
