// The tree against its own rules. A failure names file and line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "include_scan.h"

namespace hone::layers {
namespace {

const std::string kRoot = HONE_SOURCE_DIR;

// Every .h and .cc below a folder of the tree, sorted; embedded templates and other files are none of our business.
std::vector<Source> SourcesBelow(const std::string& folder) {
  std::vector<Source> sources;
  std::filesystem::path base = JoinPath(kRoot, folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(base)) {
    std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || (extension != ".h" && extension != ".cc")) continue;
    Result<std::string> text = ReadFile(entry.path().string());
    if (text.ok()) sources.push_back({std::filesystem::relative(entry.path(), base).string(), *text});
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

Rows TheRows() {
  Result<std::string> text = ReadFile(JoinPath(kRoot, "lib/LAYERS"));
  EXPECT_TRUE(text.ok()) << text.status().message();
  if (!text.ok()) return {};
  Result<Rows> rows = ParseRows(*text);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  return rows.ok() ? *rows : Rows();
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
  Rows rows = TheRows();
  std::map<std::string, std::string> folder_of;  // codegen_llvm -> codegen/llvm
  for (const auto& [folder, row] : rows) folder_of[ReplaceAll(folder, "/", "_")] = folder;
  for (const auto& [folder, row] : rows) {
    std::string path = "lib/" + folder + "/CMakeLists.txt";
    Result<std::string> text = ReadFile(JoinPath(kRoot, path));
    if (!text.ok()) continue;
    std::vector<std::string> words = SplitWords(ReplaceAll(ReplaceAll(*text, "(", " "), ")", " "));
    bool in_deps = false;
    for (const std::string& word : words) {
      if (word == "DEPS") {
        in_deps = true;
      } else if (word == "SOURCES" || word == "LIBS" || word == "hone_layer") {
        in_deps = false;
      } else if (in_deps && folder_of.count(word) != 0) {
        EXPECT_LT(rows.at(folder_of[word]), row) << path << ": " << folder << " must not link " << word;
      }
    }
  }
}

TEST(Layers, SqliteAndXgboostHaveOneHomeEach) {
  std::map<std::string, std::set<std::string>> homes;
  for (const Source& source : SourcesBelow("lib")) {
    for (const Include& include : Includes(source.text)) {
      if (include.path == "sqlite3.h") homes["sqlite3"].insert(source.path);
      if (StartsWith(include.path, "xgboost/")) homes["xgboost"].insert(source.path);
    }
  }
  for (const auto& [library, files] : homes) {
    EXPECT_EQ(files.size(), 1u) << library << " is included by "
                                << Join(std::vector<std::string>(files.begin(), files.end()), " and ");
  }
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
    // C headers may be included by C compilers of all kinds, hence the second form.
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

// Programs are started by execve with a list of words (base/subprocess.h): what stands in a file or a name never
// reaches a shell. Ninja uses one, so what goes into a manifest is quoted (pipeline/ninja_writer.h).
TEST(Layers, NoShellIsInvolved) {
  int started = 0;
  for (const char* folder : {"lib", "tools"}) {
    for (const Source& source : SourcesBelow(folder)) {
      for (const char* shell :
           {" system(", ":system(", "popen(", "execl", "posix_spawn", "bin/sh\"", "\"sh\"", "wordexp("}) {
        EXPECT_EQ(source.text.find(shell), std::string::npos) << folder << "/" << source.path << ": " << shell;
      }
      if (ReplaceAll(source.text, "SYS_execv", "").find("execv") == std::string::npos) continue;
      ++started;
      EXPECT_EQ(source.path, "base/subprocess.cc") << "programs are started in one place";
    }
  }
  EXPECT_EQ(started, 1);
}

}  // namespace
}  // namespace hone::layers
