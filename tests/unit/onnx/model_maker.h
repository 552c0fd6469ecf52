// Models for tests, written with protobuf like those of other programs.
#pragma once

#include <onnx/onnx_pb.h>

#include <type_traits>

#include "base/text.h"
#include "common/expect.h"

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

// From now on the values of `tensor` are in a file beside the model.
inline void PutOutside(pb::TensorProto* tensor, const std::string& location, const std::string& offset,
                       const std::string& length) {
  tensor->set_data_location(pb::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", location), {"offset", offset}, {"length", length}}) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

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

  // A model as a text of statements: "x[2,-1]" is an input, "n = {1, 2}" a constant of integers, "y = Op(a, , b)
  // axis=0" a node with attributes of integers, "-> y, z" the outputs.
  static ModelMaker Parse(const std::string& text, int64_t opset = 13) {
    const auto names = [](const std::string& list) {
      std::vector<std::string> words;
      for (const std::string& word : Split(list, ',')) words.emplace_back(Trim(word));
      return words;
    };
    const auto numbers = [&](const std::string& list) {
      std::vector<int64_t> values;
      for (const std::string& word : names(list)) values.push_back(Must(ParseInt(word)));
      return values;
    };
    ModelMaker m(opset);
    for (const std::string& part : Split(text, ';')) {
      const std::string statement(Trim(part));
      const size_t equals = statement.find(" = "), open = statement.find_first_of("[({");
      const std::string name = statement.substr(0, std::min(equals, open));
      const std::string inside = statement.substr(open + 1, statement.find_first_of("])}") - open - 1);
      if (statement.starts_with("-> ")) {
        for (const std::string& output : names(statement.substr(3))) m.Output(output);
      } else if (statement[open] == '[') {
        m.Input(name, numbers(inside));
      } else if (statement[open] == '{') {
        m.Ints(name, numbers(inside));
      } else {
        MadeNode node = m.Node(statement.substr(equals + 3, open - equals - 3), names(inside), name);
        for (const std::string& attribute : SplitWords(statement.substr(statement.find(')') + 1))) {
          const size_t at = attribute.find('=');
          node.Set(attribute.substr(0, at), Must(ParseInt(attribute.substr(at + 1))));
        }
      }
    }
    return m;
  }

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
