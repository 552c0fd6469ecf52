// Building blocks of the pages of lib/report: one file that needs no other, with tables, figures and the facts as JSON
// at its end. Text may hold anything, it is escaped (html.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/html.h"

namespace hone::report {

struct Column {
  std::string name;
  bool number = false;  // to the right, digits below one another
};

// A state, shown by a sign and a word, since not everybody sees colours.
enum class Mark { kGood, kBad, kOpen };  // page.cc has a look for each

class PageWriter {
 public:
  // Up to the opened <main>; `title` for the browser's tab.
  explicit PageWriter(const std::string& title);
  HtmlWriter& html() { return html_; }

  // A small line above, the name of the page, a sentence below.
  void Heading(const std::string& over, const std::string& title, const std::string& below);
  void Verdict(Mark mark, const std::string& sentence);
  // Ids and names of the sections that follow.
  void Contents(const std::vector<std::pair<const char*, const char*>>& sections);
  void Section(const char* id, const char* title);
  void Note(const std::string& text);       // a soft paragraph
  void Paragraph(const std::string& text);  // a plain one
  void MarkWord(Mark mark, const std::string& word);

  void BeginTiles();
  void Tile(const std::string& value, const std::string& what, const char* style = "");
  void EndTiles();

  // `caption`: a description of the table, for readers who cannot see the heading above it.
  void BeginTable(const std::string& caption, const std::vector<Column>& columns);
  void EndTable();
  void BeginRow() { html_.Open("tr"); }
  void EndRow() { html_.Close(); }
  void Row(const std::vector<std::string>& cells);  // texts, the first of which names the row
  void RowName(const std::string& text);
  void Cell(const std::string& text, const char* style = "");
  void Number(const std::string& text);
  void Code(const std::string& text, const char* style = "wide");
  void Fact(const char* name, const std::string& value);  // a row of a name and a value

  // All of it, `json` (no '<' in it) as its island; empty: without one.
  std::string Finish(const std::string& json = "") &&;

 private:
  HtmlWriter html_;
  std::vector<Column> columns_;  // of the table
};

}  // namespace hone::report
