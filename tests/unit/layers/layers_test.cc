// Checks the source tree against its own rules. A failure names file and line.
#include <cctype>
#include <filesystem>

#include "base/file.h"
#include "base/seccomp_list.h"
#include "base/text.h"
#include "common/expect.h"

namespace hone::layers {
namespace {

// Row of each folder of lib/.
using Rows = std::map<std::string, int>;

// The folder of lib/ that a path ("search/space/knob.h", as in an include) belongs to: the longest one in `rows` that
// is a prefix; empty if there is none.
std::string LayerOf(const Rows& rows, std::string_view path) {
  for (size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    std::string folder(path.substr(0, slash));
    if (rows.count(folder) != 0) return folder;
  }
  return "";
}

struct Include {
  int line = 0;
  std::string path;
  bool quoted = false;  // "x", not <x>
};

// The #include lines of a source text, including those at the start of a line in raw strings.
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

// Libraries whose headers take seconds to compile, or that only one layer may use: `path` is an angle include.
bool IsHeavy(std::string_view path) {
  for (std::string_view prefix : {"llvm/", "llvm-c/", "lld/", "CLI/", "toml++/", "spdlog/", "xxhash.h", "sqlite3.h",
                                  "xgboost/", "onnx/onnx_pb.h", "google/"}) {
    if (StartsWith(path, prefix)) return true;
  }
  return StartsWith(path, "nlohmann/") && path != "nlohmann/json_fwd.hpp";
}

struct Source {
  std::string path;  // relative to lib/
  std::string text;
};

// The headers that some file of another folder includes, directly or through other headers. `users` are sources outside
// lib/.
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
  // The headers that lead to nlohmann, for .cc files only.
  exported.erase("base/json.h");
  exported.erase("base/fields.h");
  return exported;
}

// The forbidden includes of a file, one line each: "lib/te/tensor.cc:3: ...". An exported header must not include heavy
// ones.
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

// The layers of `deps`, a CMakeLists.txt's "hone_layer(a SOURCES .. DEPS b c LIBS ..)", that `folder` must not link.
std::vector<std::string> ForbiddenLinks(const Rows& rows, const std::string& folder, const std::string& cmake) {
  std::map<std::string, int> row_of;  // codegen_llvm
  for (const auto& [name, row] : rows) row_of[ReplaceAll(name, "/", "_")] = row;
  std::vector<std::string> forbidden;
  bool in_deps = false;
  for (const std::string& word : SplitWords(ReplaceAll(ReplaceAll(cmake, "(", " "), ")", " "))) {
    if (word == "DEPS") {
      in_deps = true;
    } else if (word == "SOURCES" || word == "LIBS" || word == "hone_layer") {
      in_deps = false;
    } else if (in_deps && row_of.count(word) != 0 && row_of[word] >= rows.at(folder)) {
      forbidden.push_back(word);
    }
  }
  return forbidden;
}

const std::string kRoot = HONE_SOURCE_DIR;

// Every .h and .cc below a folder of the tree, sorted, without embedded templates and other files.
std::vector<Source> SourcesBelow(const std::string& folder) {
  std::vector<Source> sources;
  std::filesystem::path base = JoinPath(kRoot, folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(base)) {
    std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || (extension != ".h" && extension != ".cc")) continue;
    sources.push_back({std::filesystem::relative(entry.path(), base).string(), Must(ReadFile(entry.path().string()))});
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

// Parses lib/LAYERS: lines "ROW folder folder..".
Rows TheRows() {
  Rows rows;
  for (const std::string& line : Split(Must(ReadFile(JoinPath(kRoot, "lib/LAYERS"))), '\n')) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.empty() || words[0][0] == '#') continue;
    const int row = static_cast<int>(Must(ParseInt(words[0])));
    for (size_t i = 1; i < words.size(); ++i)
      EXPECT_TRUE(rows.emplace(words[i], row).second) << words[i] << " is there twice";
  }
  return rows;
}

TEST(Layers, EveryIncludeGoesDown) {
  Rows rows = TheRows();
  std::vector<Source> sources = SourcesBelow("lib");
  ASSERT_GT(sources.size(), 20u) << "the tree was not found";
  std::set<std::string> exported = ExportedHeaders(rows, sources, SourcesBelow("tools"));
  for (const Source& source : sources) {
    bool seen = exported.count(source.path) != 0;
    for (const std::string& complaint : Complaints(rows, source, seen)) ADD_FAILURE() << complaint;
  }
}

// hone_layer(a DEPS b) lets a link to b: the same rule.
TEST(Layers, EveryLinkDependencyGoesDown) {
  const Rows rows = TheRows();
  int checked = 0;
  for (const auto& [folder, row] : rows) {
    const std::string path = JoinPath(kRoot, "lib/" + folder + "/CMakeLists.txt");
    if (!Exists(path)) continue;
    ++checked;
    for (const std::string& word : ForbiddenLinks(rows, folder, Must(ReadFile(path)))) {
      ADD_FAILURE() << path << ": " << folder << " must not link " << word;
    }
  }
  EXPECT_GT(checked, 10);
}

TEST(Layers, SqliteAndXgboostHaveOneHomeEach) {
  std::set<std::string> homes;
  for (const Source& source : SourcesBelow("lib")) {
    for (const Include& include : Includes(source.text)) {
      if (include.path == "sqlite3.h" || StartsWith(include.path, "xgboost/")) homes.insert(source.path);
    }
  }
  EXPECT_THAT(homes, ElementsAre("record/sqlite.cc", "search/cost/xgb_model.cc"));
}

TEST(Layers, OwnHeaderComesFirst) {
  for (const Source& source : SourcesBelow("lib")) {
    if (!EndsWith(source.path, ".cc")) continue;
    std::string header = source.path.substr(0, source.path.size() - 3) + ".h";
    if (!Exists(JoinPath(kRoot, "lib/" + header))) continue;
    std::vector<Include> includes = Includes(source.text);
    ASSERT_FALSE(includes.empty()) << "lib/" << source.path;
    EXPECT_EQ(includes[0].path, header) << "lib/" << source.path << ":" << includes[0].line;
  }
}

TEST(Layers, HeadersAreGuarded) {
  for (const Source& source : SourcesBelow("lib")) {
    if (!EndsWith(source.path, ".h")) continue;
    // C headers may be included by any C compiler, hence the second form.
    bool guarded = source.text.find("\n#pragma once\n") != std::string::npos ||
                   source.text.find("\n#ifndef HONE_") != std::string::npos;
    EXPECT_TRUE(guarded) << "lib/" << source.path << ":1: no #pragma once";
  }
}

TEST(Layers, FilesStayShort) {
  for (const Source& source : SourcesBelow("lib")) {
    auto lines = std::count(source.text.begin(), source.text.end(), '\n');
    EXPECT_LE(lines, 600) << "lib/" << source.path << ":600: split it";
  }
  for (const Source& source : SourcesBelow("tools")) {
    if (BaseName(source.path) != "main.cc") continue;
    auto lines = std::count(source.text.begin(), source.text.end(), '\n');
    EXPECT_LE(lines, 80) << "tools/" << source.path << ":81: a tool's work belongs into lib/command";
  }
}

// Programs are started by execve with a list of words (base/subprocess.h), so the contents of a file or a name never
// reach a shell. Ninja uses a shell, so everything in a manifest is quoted (pipeline/ninja_writer.h).
TEST(Layers, NoShellIsInvolved) {
  int started = 0;
  for (const char* folder : {"lib", "tools"}) {
    for (const Source& source : SourcesBelow(folder)) {
      for (const char* shell :
           {" system(", ":system(", "popen(", "execl", "posix_spawn", "bin/sh\"", "\"sh\"", "wordexp("}) {
        EXPECT_THAT(source.text, Not(HasSubstr(shell))) << folder << "/" << source.path << ": " << shell;
      }
      if (ReplaceAll(source.text, "SYS_execv", "").find("execv") == std::string::npos) continue;
      ++started;
      EXPECT_EQ(source.path, "base/subprocess.cc") << "programs are started in one place";
    }
  }
  EXPECT_EQ(started, 1);
}

// The first way to open a file in this text, other than by base/file.h; empty without one. /dev/null may be opened.
std::string Opening(const std::string& text) {
  for (const std::string type : {"fstream", "filebuf"}) {
    if (text.find(type) != std::string::npos) return type;
  }
  for (const std::string name :
       {"open", "open64", "openat", "openat64", "openat2", "creat", "fopen", "fopen64", "freopen", "SYS_open"}) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];  // not in a longer name, and no method
      if (std::isalnum(static_cast<unsigned char>(before)) || std::strchr("_.>", before) != nullptr) continue;
      const std::string after = text.substr(at + name.size(), 13);
      if (name != "SYS_open" && (!StartsWith(after, "(") || StartsWith(after, "(\"/dev/null\""))) continue;
      return name;
    }
  }
  return "";
}

TEST(Opening, IsFoundInEveryForm) {
  for (const char* text : {"FILE* f = fopen(name, mode)", "std::ifstream in(x)", "if (::open(name.c_str(), 0) < 0)",
                           "=open(x)", "(openat(at, x))", "syscall(SYS_openat, 1)", "std::fopen(x)", "!creat(x, 0)"}) {
    EXPECT_NE(Opening(text), "") << text;
  }
  for (const char* text : {"store.open(x)", "it->open(x)", "Reopen(x) is_open(x)", "open[d]", "an open (file)",
                           "open(\"/dev/null\", O_RDWR)"}) {
    EXPECT_EQ(Opening(text), "") << text;
  }
}

// By base/file.h, which never waits for a pipe that lies in a file's place. SQLite opens its files likewise.
TEST(Layers, FilesAreOpenedInOnePlace) {
  for (const char* folder : {"lib", "tools"}) {
    for (const Source& source : SourcesBelow(folder)) {
      if (StartsWith(source.path, "base/") || source.path == "record/sqlite.cc") continue;
      EXPECT_EQ(Opening(source.text), "") << folder << "/" << source.path;
    }
  }
}

// Every threat on the page has tests, and they are there.
TEST(SecurityPage, TheTestsThatItNamesExist) {
  std::string tests;
  for (const Source& source : SourcesBelow("tests")) tests += source.text;
  int threats = 0;
  for (const std::string& line : Split(Must(ReadFile(JoinPath(kRoot, "doc/reference/security.md"))), '\n')) {
    const std::vector<std::string> cells = Split(line, '|');
    if (cells.size() != 5 || cells[3] == " test " || StartsWith(cells[1], " ---")) continue;
    ++threats;
    const std::vector<std::string> words = Split(cells[3], '`');
    EXPECT_GT(words.size(), 2u) << "no test:" << cells[1];
    for (size_t i = 1; i < words.size(); i += 2) {
      EXPECT_NE(tests.find(", " + words[i] + ")"), std::string::npos) << words[i] << ", which the page names";
    }
  }
  EXPECT_GT(threats, 20);
}

#if defined(__x86_64__)
// The pages say how many system calls the host's list has.
TEST(SecurityPage, SaysHowManyCallsAreAllowed) {
  std::set<long> calls;
  for (const CallRule& rule : HostCalls()) calls.insert(rule.call);
  const auto page = [](const std::string& name) { return Must(ReadFile(JoinPath(kRoot, "doc/" + name))); };
  const std::string count = std::to_string(calls.size());
  EXPECT_THAT(page("reference/security.md"), HasSubstr(count + " system calls"));
  EXPECT_THAT(page("internals/sandbox.md"), HasSubstr("| calls (seccomp) | " + count + ";"));
}
#endif

// Each of these rules can fail.
const Rows kRows = {{"base", 0}, {"task", 1}, {"ir", 2}, {"search/space", 3}, {"schedule", 4}, {"search/tuner", 7}};

TEST(Complaints, LowerRowsAndOneselfAreFine) {
  Source source = {"schedule/apply.cc", "#include \"schedule/apply.h\"\n#include \"ir/expr.h\"\n"};
  EXPECT_TRUE(Complaints(kRows, source, false).empty());
}

TEST(Complaints, HigherAndEqualRowsAreNot) {
  Source source = {"ir/expr.cc", "// #include <no>\n\n  #  include \"schedule/apply.h\"  // why\n"};
  EXPECT_EQ(Complaints(kRows, source, false),
            std::vector<std::string>{"lib/ir/expr.cc:3: ir (row 2) must not include schedule (row 4)"});
  EXPECT_EQ(
      Complaints(kRows, {"search/space/x.cc", "#include \"search/tuner/y.h\""}, false),
      std::vector<std::string>{"lib/search/space/x.cc:1: search/space (row 3) must not include search/tuner (row 7)"});
  Rows equal = {{"a", 1}, {"b", 1}};
  EXPECT_EQ(Complaints(equal, {"a/x.h", "#include \"b/y.h\""}, true).size(), 1u);
}

TEST(Complaints, HeavyHeadersOnlyWhereNobodyElseSeesThem) {
  Source source = {"ir/a.h", "#include <llvm/IR/Module.h>"};
  EXPECT_EQ(
      Complaints(kRows, source, true),
      std::vector<std::string>{"lib/ir/a.h:1: llvm/IR/Module.h is heavy and other folders see this header: include "
                               "it in a .cc only"});
  EXPECT_TRUE(Complaints(kRows, source, false).empty());
  EXPECT_EQ(Complaints(kRows, {"ir/a.h", "#include \"base/json.h\""}, true).size(), 1u);
  EXPECT_TRUE(Complaints(kRows, {"ir/a.h", "#include <nlohmann/json_fwd.hpp>"}, true).empty());
}

TEST(ForbiddenLinks, ToHigherAndEqualRows) {
  const std::string cmake = "hone_layer(ir SOURCES schedule DEPS base search_tuner ir LIBS schedule)\nDEPS task";
  EXPECT_EQ(ForbiddenLinks(kRows, "ir", cmake), (std::vector<std::string>{"search_tuner", "ir"}));
}

TEST(ExportedHeaders, WhatOtherFoldersReach) {
  std::vector<Source> lib = {
      {"ir/public.h", "#include \"ir/detail.h\"\n"},
      {"ir/detail.h", ""},
      {"ir/private.h", ""},
      {"ir/x.cc", "#include \"ir/private.h\"\n"},
      {"ir/for_tool.h", ""},
      {"schedule/apply.cc", "#include \"ir/public.h\"\n"},
  };
  std::vector<Source> users = {{"tune/main.cc", "#include \"ir/for_tool.h\"\n#include \"options.h\"\n"}};
  EXPECT_EQ(ExportedHeaders(kRows, lib, users), (std::set<std::string>{"ir/detail.h", "ir/for_tool.h", "ir/public.h"}));
}

TEST(Complaints, IncludesWithoutAFolderAndUnknownFolders) {
  EXPECT_EQ(Complaints(kRows, {"ir/a.cc", "#include \"expr.h\""}, false).size(), 1u);
  EXPECT_EQ(Complaints(kRows, {"stray/a.cc", ""}, false).size(), 1u);
}

}  // namespace
}  // namespace hone::layers
