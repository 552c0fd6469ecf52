#include "base/fields.h"

#include <algorithm>

namespace hone {

std::string NextMember(std::string_view* members) {
  const std::string_view member = members->substr(0, members->find(','));
  members->remove_prefix(std::min(members->size(), member.size() + 1));
  return std::string(member.substr(member.find_last_of(".> ") + 1));
}

Status Fields::Finish() { return ok() && reading() && !others_ ? reader_->Finish() : status_; }

Fields& Fields::Version(int64_t newest) {
  if (json_ != nullptr) (*json_)["version"] = newest;
  if (reading() && ok()) status_ = reader_->ReadVersion(newest);
  return *this;
}

bool Fields::Begin(const std::string& key, bool must, bool write) {
  key_ = key;
  there_ = ok() && (json_ != nullptr ? write : must || !reading() || reader_->Has(key));
  return there_;
}

Fields& Fields::Object(const std::string& key, const std::function<void(Fields*)>& list) {
  if (!Begin(key, true, true)) return *this;
  JsonReader reader;
  Json json = Json::object();
  if (reading()) {
    status_ = reader_->Read(key, &reader);
    if (!status_.ok()) return *this;
  }
  Fields inner = reading() ? Fields(&reader) : json_ != nullptr ? Fields(&json) : Fields();
  list(&inner);
  status_ = inner.Finish();
  if (json_ != nullptr) (*json_)[key] = std::move(json);
  return *this;
}

Fields& Fields::Items(const std::string& key, size_t count, const std::function<void(Fields*, size_t)>& each) {
  std::vector<JsonReader> readers;
  if (reading()) {
    status_ = reader_->Read(key, &readers);
    count = readers.size();
  }
  Json list = Json::array();
  for (size_t i = 0; i < count && ok(); ++i) {
    Json json = Json::object();
    Fields item = reading() ? Fields(&readers[i]) : json_ != nullptr ? Fields(&json) : Fields();
    each(&item, i);
    status_ = item.Finish();
    if (json_ != nullptr) list.push_back(std::move(json));
  }
  if (json_ != nullptr) (*json_)[key] = std::move(list);
  return *this;
}

void Fields::Fail(const std::string& key, const std::string& what) {
  if (!ok() || json_ != nullptr || take_) return;
  status_ = reading() ? reader_->Error(key, what) : Status::Invalid(key + ": " + what);
}

Fields& Fields::Check(bool good, const std::string& what) {
  if (there_ && !good) Fail(key_, what);
  return *this;
}

std::string Fields::Text(double number) const {
  return whole_ ? fmt::format("{}", static_cast<int64_t>(number)) : fmt::format("{}", number);
}

Fields& Fields::Above(double low) {
  return number_ > low ? *this : Check(false, fmt::format("must be above {}, is {}", Text(low), Text(number_)));
}

Fields& Fields::AtLeast(double low) {
  return number_ >= low ? *this : Check(false, fmt::format("must be at least {}, is {}", Text(low), Text(number_)));
}

Fields& Fields::In(double low, double high) {
  if (number_ <= high) return AtLeast(low);
  return Check(false, fmt::format("must be at most {}, is {}", Text(high), Text(number_)));
}

}  // namespace hone
