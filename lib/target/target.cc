#include "target/target.h"

#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace hone {

static std::vector<const TargetKind*>& Kinds() {
#define HONE_BACKEND(folder, Name) &Name##Kind(),
  static std::vector<const TargetKind*> kinds = {
#include "target/backends.def"
  };
#undef HONE_BACKEND
  return kinds;
}

static Status SetKeys(const std::vector<std::string>& words, Target* target) {
  std::set<std::string> seen;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals);
    if (equals == std::string::npos || key.empty() || key[0] != '-') {
      return Status::Invalid("`{}` is not of the form -key=value", words[i]);
    }
    if (!seen.insert(key).second) return Status::Invalid(key + " is given twice");
    HONE_RETURN_IF_ERROR(target->kind->SetKey(key, words[i].substr(equals + 1), target));
  }
  return target->kind->Complete(target);
}

void AddTargetKind(const TargetKind* kind) { Kinds().push_back(kind); }

Result<const TargetKind*> FindTargetKind(const std::string& name) {
  std::vector<std::string> names;
  for (const TargetKind* kind : Kinds()) {
    if (name == kind->name()) return kind;
    names.emplace_back(kind->name());
  }
  return Status::Invalid("unknown target kind `{}`{}", name, SuggestionText(name, names));
}

std::string Target::Text() const { return kind->name() + kind->KeysText(*this); }

Result<Target> Target::Parse(const std::string& text) {
  const std::vector<std::string> words = SplitWords(text);
  if (words.empty()) return Status::Invalid("a target's text is empty; write for example `cpu -threads=2 -vector=32`");
  Target target;
  HONE_ASSIGN_OR_RETURN(target.kind, FindTargetKind(words[0]));
  HONE_RETURN_IF_ERROR(SetKeys(words, &target).WithContext(fmt::format("target `{}`", text)));
  return target;
}

Result<Target> ReadTargetFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTargetFile(text, path);
}

Result<Target> ParseTargetFile(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  std::string name;
  HONE_RETURN_IF_ERROR(reader.Read("kind", &name));
  const Result<const TargetKind*> kind = FindTargetKind(name);
  if (!kind.ok()) return reader.Error("kind", kind.status().message());
  Target target{.kind = *kind};
  HONE_RETURN_IF_ERROR((*kind)->ReadFile(&reader, &target));
  return target;
}

}  // namespace hone
