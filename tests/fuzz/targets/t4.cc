#include "fuzz_target.h"
#include "record/foreign_formats.h"

namespace hone::record {

HONE_FUZZ_TARGET(t4) {
  int64_t read = 0;
  HONE_RETURN_IF_ERROR(ReadT4(
      input, "fuzz",
      [&](const ForeignRecord&) {
        ++read;
        return Status();
      },
      [](int64_t, const std::string&) {}));
  return read > 0 ? Status() : Status::Invalid("no result in it");
}

}  // namespace hone::record
