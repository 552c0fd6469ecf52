// CompareLibraries in a separate process: request and reply, as JSON texts. A library that crashes then takes only that
// process with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "library/compare.h"

namespace hone::library {

struct CompareRequest {
  std::vector<std::string> dirs;  // of the libraries
  CompareOptions options;
};

std::string CompareRequestText(const CompareRequest& request);
Result<CompareRequest> ParseCompareRequest(std::string_view text);
std::string CompareReplyText(const std::vector<Compared>& compared);
Result<std::vector<Compared>> ParseCompareReply(std::string_view text);

}  // namespace hone::library
