#include "pipeline/model_file.h"

#include <algorithm>

#include "base/fields.h"
#include "base/hash.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kModelVersion = 1;

struct NamedVersion {
  std::string name;
  int64_t version = 0;
};
void ListFields(Fields* f, NamedVersion* v) { HONE_VALUES(f, v->name, v->version); }

}  // namespace

static void ListFields(Fields* f, SavedTrial* t) {
  f->As("config", &t->config, ConfigJson, ConfigFromJson);
  f->Value("seconds", &t->seconds).Above(0);
}

static void ListFields(Fields* f, SavedTask* t) {
  f->Value("workload", &t->workload);
  std::vector<NamedVersion> versions;
  for (const auto& [name, version] : t->templates) versions.push_back({name, version});
  f->Value("templates", &versions);
  for (const NamedVersion& v : versions) t->templates[v.name] = v.version;
  f->Value("trials", &t->trials);
}

static void ListFields(Fields* f, SavedModel* m) {
  f->Version(kModelVersion);
  HONE_VALUES(f, m->target, m->device, m->records);
  f->Value("trials", &m->trials).AtLeast(0);
  f->Value("tasks", &m->tasks);
  f->Value("check", &m->check);
}

std::string SavedModelText(SavedModel model) {
  model.check.clear();
  model.check = Digest128(FieldsText(model)).Hex();
  return FieldsText(model);
}

Result<SavedModel> ParseSavedModel(std::string_view text, const std::string& path) {
  const char* kAgain = "make it again with `hone-records learn`";
  auto model = ParseFields<SavedModel>(text, path);
  if (model.status().kind() == StatusKind::kUnsupported) return model.status();
  if (!model.ok()) return Status::Invalid("{}; {}", model.status().message(), kAgain);
  if (SavedModelText(*model) == text) return model;
  return Status::Invalid("{}: the file was changed after it was written (its `check` does not fit); {}", path, kAgain);
}

}  // namespace hone::pipeline
