// Tensors whose bytes are in separate files beside the model.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::onnx {

class ExternalData {
 public:
  // `folder` is the model's.
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  // Returns `length` bytes from `offset` of the file `location`; a negative length means the rest. The view lives as
  // long as this object. Returns kInvalid for a location that leaves the folder (by "..", an absolute path or a link)
  // and for a range outside the file; kNotFound, kIo.
  Result<std::string_view> Read(const std::string& location, int64_t offset, int64_t length);

  // The locations read so far, sorted.
  std::vector<std::string> Locations() const;

 private:
  std::string folder_;
  std::map<std::string, std::string> files_;  // cached, as many tensors share a file
};

}  // namespace hone::onnx
