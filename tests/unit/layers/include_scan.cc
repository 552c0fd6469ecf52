#include "include_scan.h"

#include "base/text.h"

namespace hone::layers {

Result<Rows> ParseRows(std::string_view text) {
  Rows rows;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    std::vector<std::string> words = SplitWords(line);
    if (words.empty() || words[0][0] == '#') continue;
    Result<int64_t> row = ParseInt(words[0]);
    if (!row.ok() || words.size() < 2) {
      return Status::Invalid("LAYERS:" + std::to_string(number) + ": expected a row number and folders");
    }
    for (size_t i = 1; i < words.size(); ++i) {
      if (!rows.emplace(words[i], static_cast<int>(*row)).second) {
        return Status::Invalid("LAYERS:" + std::to_string(number) + ": " + words[i] + " is there twice");
      }
    }
  }
  return rows;
}

std::string LayerOf(const Rows& rows, std::string_view path) {
  for (size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    std::string folder(path.substr(0, slash));
    if (rows.count(folder) != 0) return folder;
  }
  return "";
}

std::vector<Include> Includes(std::string_view text) {
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    std::string_view rest = Trim(line);
    if (!StartsWith(rest, "#")) continue;
    rest = Trim(rest.substr(1));
    if (!StartsWith(rest, "include")) continue;
    rest = Trim(rest.substr(7));
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) continue;
    size_t end = rest.find(rest[0] == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    includes.push_back({number, std::string(rest.substr(1, end - 1)), rest[0] == '"'});
  }
  return includes;
}

bool IsHeavy(std::string_view path) {
  for (std::string_view prefix : {"llvm/", "llvm-c/", "lld/", "CLI/", "toml++/", "spdlog/", "xxhash.h", "sqlite3.h",
                                  "xgboost/", "onnx/onnx_pb.h", "google/"}) {
    if (StartsWith(path, prefix)) return true;
  }
  return StartsWith(path, "nlohmann/") && path != "nlohmann/json_fwd.hpp";
}

std::set<std::string> ExportedHeaders(const Rows& rows, const std::vector<Source>& lib,
                                      const std::vector<Source>& users) {
  std::map<std::string, std::vector<std::string>> includes_of;
  std::set<std::string> exported;
  std::vector<std::string> open;
  auto reach = [&](const std::string& header) {
    if (exported.insert(header).second) open.push_back(header);
  };
  for (const Source& source : lib) {
    for (const Include& include : Includes(source.text)) {
      if (!include.quoted) continue;
      includes_of[source.path].push_back(include.path);
      if (LayerOf(rows, include.path) != LayerOf(rows, source.path)) reach(include.path);
    }
  }
  for (const Source& user : users) {
    for (const Include& include : Includes(user.text)) {
      if (include.quoted && !LayerOf(rows, include.path).empty()) reach(include.path);
    }
  }
  while (!open.empty()) {
    std::string header = open.back();
    open.pop_back();
    for (const std::string& next : includes_of[header]) reach(next);
  }
  // The ways to nlohmann, themselves only for .cc files.
  exported.erase("base/json.h");
  exported.erase("base/fields.h");
  return exported;
}

std::vector<std::string> Complaints(const Rows& rows, const Source& source, bool exported) {
  const std::string& path = source.path;
  std::vector<std::string> complaints;
  std::string own = LayerOf(rows, path);
  if (own.empty()) return {"lib/" + path + ":1: its folder is not in lib/LAYERS"};
  for (const Include& include : Includes(source.text)) {
    std::string where = "lib/" + path + ":" + std::to_string(include.line) + ": ";
    if (exported && (IsHeavy(include.path) || include.path == "base/json.h" || include.path == "base/fields.h")) {
      complaints.push_back(where + include.path +
                           " is heavy and other folders see this header: include it in a .cc only");
    }
    if (!include.quoted) continue;
    std::string other = LayerOf(rows, include.path);
    if (other.empty()) {
      complaints.push_back(where + "\"" + include.path + "\" names no folder of lib/LAYERS; write \"folder/file.h\"");
    } else if (other != own && rows.at(other) >= rows.at(own)) {
      complaints.push_back(where + own + " (row " + std::to_string(rows.at(own)) + ") must not include " + other +
                           " (row " + std::to_string(rows.at(other)) + ")");
    }
  }
  return complaints;
}

}  // namespace hone::layers
