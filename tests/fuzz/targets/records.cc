// A database of records, Hone's own or of other tuners, from somebody else.
#include "fuzz_target.h"
#include "record/foreign_formats.h"
#include "record/store.h"

namespace hone::record {
namespace {

Status ReadForeign(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto store, ForeignStore::OpenForReading(path));
  const Status verified = store->Verify().status();
  (void)store->Tasks().status().ok();
  (void)ExportT4(*store).status().ok();
  const Status visited = store->ForEach("", [](int64_t, const ForeignRecord&) { return true; });
  return verified.ok() ? visited : verified;
}

Status ReadOwn(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto store, Store::OpenForReading(path));
  (void)store->Verify().status().ok();
  (void)store->Best("").status().ok();
  (void)store->CountTrials().status().ok();
  (void)ExportT4(*store).status().ok();
  (void)ExportAutoTvm(*store).status().ok();
  HONE_RETURN_IF_ERROR(store->Sessions().status());
  return store->Trials().status();
}

}  // namespace

HONE_FUZZ_TARGET(records) {
  const std::string& path = fuzz::InputFile(input);
  return IsForeignFile(path) ? ReadForeign(path) : ReadOwn(path);
}

}  // namespace hone::record
