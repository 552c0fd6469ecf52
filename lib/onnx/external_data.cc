#include "onnx/external_data.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace hone::onnx {
namespace {

namespace fs = std::filesystem;

// First by the text alone, so that nothing outside is accessed; then with links resolved.
Status CheckInside(const std::string& folder, const std::string& location) {
  const Status outside = Status::Invalid("external data `" + location +
                                         "` lies outside the folder of the model; only files inside it are read");
  const fs::path path(location);
  if (location.empty() || location.find('\0') != std::string::npos) {
    return Status::Invalid("external data without the name of its file");
  }
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) return outside;
  std::error_code error;
  const fs::path root = fs::weakly_canonical(fs::path(folder), error);
  if (error) return Status::Io(folder + ": " + error.message());
  const fs::path file = fs::weakly_canonical(fs::path(JoinPath(folder, location)), error);
  if (error) return Status::Io(location + ": " + error.message());
  const auto [end, at] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end() ? Status() : outside;
}

}  // namespace

Result<std::string_view> ExternalData::Read(const std::string& location, int64_t offset, int64_t length) {
  auto found = files_.find(location);
  if (found == files_.end()) {
    HONE_RETURN_IF_ERROR(CheckInside(folder_, location));
    auto bytes = ReadFile(JoinPath(folder_, location));
    if (!bytes.ok()) return bytes.status().WithContext("external data");
    found = files_.emplace(location, std::move(*bytes)).first;
  }
  const auto size = static_cast<int64_t>(found->second.size());
  if (offset < 0 || offset > size || length > size - offset) {
    return Status::Invalid("external data `{}` is too short: {} bytes from {} are not in its {}", location, length,
                           offset, size);
  }
  const int64_t count = length < 0 ? size - offset : length;
  return std::string_view(found->second).substr(static_cast<size_t>(offset), static_cast<size_t>(count));
}

std::vector<std::string> ExternalData::Locations() const {
  std::vector<std::string> locations;
  for (const auto& [location, bytes] : files_) locations.push_back(location);
  return locations;
}

}  // namespace hone::onnx
