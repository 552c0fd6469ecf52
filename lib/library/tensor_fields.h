// A tensor in replies of measuring processes: {"type": "f32", "shape": [1,1000], "values": [..]}. A non-finite value is
// written as null and read as NaN. As heavy as base/fields.h.
#pragma once

#include <cmath>
#include <vector>

#include "base/fields.h"
#include "task/tensor_data.h"

namespace hone {

inline void ListFields(Fields* f, TensorData* tensor) {
  TensorType type = tensor->type;
  Json stored = f->reading() ? Json() : Json(tensor->Doubles());
  f->As("type", &type.type, ToString, [](const std::string& text) { return ParseDType(text); });
  f->Value("shape", &type.shape);
  f->Value("values", &stored);
  if (!f->reading()) return;
  std::vector<double> values;
  for (const Json& v : stored) values.push_back(v.is_number() ? v.get<double>() : NAN);
  f->Check(static_cast<int64_t>(values.size()) == type.Elements(), "are not as many as the shape says");
  if (f->status().ok()) *tensor = TensorData(type, values);
}

}  // namespace hone
