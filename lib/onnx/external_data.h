// Tensors whose bytes lie beside the model in files of their own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::onnx {

class ExternalData {
 public:
  // `folder`: of the model.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  // `length` bytes from `offset` of the file `location`; a negative length stands for the rest. The view lives as long
  // as this. kInvalid for a location that leaves the folder, by "..", as an absolute path or over a link, and for a
  // range outside the file; kNotFound, kIo.
  Result<std::string_view> Read(const std::string& location, int64_t offset, int64_t length);

  // The locations that were read, sorted.
  std::vector<std::string> Locations() const;

 private:
  std::string folder_;
  std::map<std::string, std::string> files_;  // many tensors share one
};

}  // namespace hone::onnx
