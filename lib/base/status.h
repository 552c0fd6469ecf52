// Status: the outcome of an operation that can fail for reasons outside this program.
//
// If the caller or the environment is at fault, return a Status (or a Result<T>) whose message says what failed, where,
// and what to do about it, in one line. If Hone is at fault, use HONE_CHECK (base/check.h). No exception crosses a
// layer.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

namespace hone {

enum class StatusKind {
  kOk,
  kInvalid,      // malformed or inconsistent input: a file, a flag, a step, a workload
  kNotFound,     // something named does not exist
  kUnsupported,  // well formed, but Hone cannot do it
  kIo,           // the operating system refused
  kLocked,       // held by another process, which the message names
  kTimeout,      // not finished in time
  kCrashed,      // a child died
  kCorrupt,      // one of Hone's own files is damaged
  kInterrupted,  // a signal asked us to stop; the same command resumes
};

// One pointer wide; null means ok. Copyable and movable.
class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusKind kind, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status Ok() { return {}; }
  // Status::Invalid and so on take the message, or a format with its arguments: Invalid("{}: no job {}", path, number).
#define HONE_STATUS(Name)                                                                                     \
  static Status Name(std::string message) { return {StatusKind::k##Name, std::move(message)}; }               \
  template <typename First, typename... Rest>                                                                 \
  static Status Name(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {                \
    return {StatusKind::k##Name, fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)}; \
  }
  HONE_STATUS(Invalid)
  HONE_STATUS(NotFound)
  HONE_STATUS(Unsupported)
  HONE_STATUS(Io)
  HONE_STATUS(Locked)
  HONE_STATUS(Timeout)
  HONE_STATUS(Crashed)
  HONE_STATUS(Corrupt)
  HONE_STATUS(Interrupted)
#undef HONE_STATUS

  bool ok() const { return rep_ == nullptr; }
  StatusKind kind() const { return rep_ ? rep_->kind : StatusKind::kOk; }
  const std::string& message() const;

  // The same failure with `context` and ": " before the message; ok stays ok.
  Status WithContext(const std::string& context) const;

 private:
  struct Rep {
    StatusKind kind;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

}  // namespace hone

#define HONE_RETURN_IF_ERROR(expr)               \
  do {                                           \
    ::hone::Status hone_status_ = (expr);        \
    if (!hone_status_.ok()) return hone_status_; \
  } while (0)
