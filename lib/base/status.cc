#include "base/status.h"

namespace hone {

Status::Status(StatusKind kind, std::string message)
    : rep_(kind == StatusKind::kOk ? nullptr : new Rep{kind, std::move(message)}) {}

Status::Status(const Status& other) : rep_(other.rep_ ? new Rep(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_.reset(other.rep_ ? new Rep(*other.rep_) : nullptr);
  return *this;
}

const std::string& Status::message() const {
  static const std::string empty;
  return rep_ ? rep_->message : empty;
}

Status Status::WithContext(const std::string& context) const {
  return ok() ? Status() : Status(kind(), context + ": " + message());
}

}  // namespace hone
