// Result<T>: a value, or the Status that says why there is no value.
#pragma once

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace hone {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose
    HONE_CHECK(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // REQUIRES: ok().
  T& operator*() & {
    HONE_CHECK(ok());
    return *value_;
  }
  const T& operator*() const& {
    HONE_CHECK(ok());
    return *value_;
  }
  T&& operator*() && {
    HONE_CHECK(ok());
    return std::move(*value_);
  }
  T* operator->() {
    HONE_CHECK(ok());
    return &*value_;
  }
  const T* operator->() const {
    HONE_CHECK(ok());
    return &*value_;
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace hone

#define HONE_CONCAT_INNER(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_INNER(a, b)
// HONE_ASSIGN_OR_RETURN(auto x, F()): x = the value of F(), or return F()'s Status.
#define HONE_ASSIGN_OR_RETURN(lhs, expr) HONE_ASSIGN_OR_RETURN_IMPL(HONE_CONCAT(hone_result_, __LINE__), lhs, expr)
#define HONE_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) return tmp.status();              \
  lhs = std::move(*tmp)
