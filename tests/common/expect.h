// Every test includes this: GoogleTest, the standard library's containers, algorithms and numbers, and checks of
// results: the value that must be there, and the part of a message that counts.
#pragma once

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

// EXPECT_THAT(status.message(), HasSubstr("part")); the message of success is empty and has no part.
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Ends the test with the message of `status` unless it is a success.
inline void Must(const Status& status, std::source_location at = std::source_location::current()) {
  if (status.ok()) return;
  throw std::runtime_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " + status.message());
}

// The value of `result`; without a value, ends the test with its message.
template <typename T>
T Must(Result<T> result, std::source_location at = std::source_location::current()) {
  Must(result.status(), at);
  return *std::move(result);
}

}  // namespace hone
