// Building blocks for the pages of lib/report, each a single file with tables, figures and, at its end, the facts as
// JSON. Text may contain anything, as it is escaped (html.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/html.h"

namespace hone::report {

// A state, shown by a sign and a word, since not everybody sees colours.
enum class Mark { kGood, kBad, kOpen };  // page.cc defines how each looks

class PageWriter {
 public:
  // Writes up to the opening <main>; `title` is for the browser's tab.
  explicit PageWriter(const std::string& title);
  HtmlWriter& html() { return html_; }

  // A small line above, the name of the page, a sentence below.
  void Heading(const std::string& over, const std::string& title, const std::string& below);
  void Verdict(Mark mark, const std::string& sentence);
  // Ids and names of the sections that follow.
  void Contents(const std::vector<std::pair<const char*, const char*>>& sections);
  void Section(const char* id, const char* title);
  void Note(const std::string& text);       // a less prominent paragraph
  void Paragraph(const std::string& text);  // a plain one
  void MarkWord(Mark mark, const std::string& word);

  void BeginTiles();
  void Tile(const std::string& value, const std::string& what, const char* style = "");
  void EndTiles();

  // `caption` describes the table to readers who cannot see the heading above it. A column's name begins with '#' if it
  // has numbers (right-aligned digits).
  void BeginTable(const std::string& caption, const std::vector<std::string>& columns);
  void EndTable();
  void BeginRow() { html_.Open("tr"); }
  void EndRow() { html_.Close(); }
  void Row(const std::vector<std::string>& cells);  // texts, the first of which names the row
  void RowName(const std::string& text);
  void Cell(const std::string& text, const char* style = "");
  void Number(const std::string& text);
  void Code(const std::string& text, const char* style = "wide");
  void Fact(const char* name, const std::string& value);  // a row of a name and a value

  // The whole page, with `json` (which contains no '<') as a data block unless it is empty.
  std::string Finish(const std::string& json = "") &&;

 private:
  HtmlWriter html_;
  std::vector<std::string> columns_;  // of the current table
};

}  // namespace hone::report
