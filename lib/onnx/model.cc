#include "onnx/model.h"

namespace hone::onnx {

const NodeAttribute* ModelNode::Find(const std::string& attribute) const {
  for (const NodeAttribute& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

int64_t Model::Opset() const {
  const auto found = opsets.find("");
  return found == opsets.end() ? 0 : found->second;
}

}  // namespace hone::onnx
