#include "report/page.h"

#include "base/check.h"
#include "report/page_style.h"

namespace hone::report {
namespace {

struct Look {
  const char* sign;
  const char* style;
};
constexpr Look kLooks[] = {{"\xE2\x9C\x93", "good"},   // check mark
                           {"\xE2\x9C\x97", "wrong"},  // ballot x
                           {"\xE2\x80\x93", "open"}};  // dash

const Look& LookOf(Mark mark) { return kLooks[static_cast<size_t>(mark)]; }

bool IsNumber(const std::string& column) { return column[0] == '#'; }

}  // namespace

PageWriter::PageWriter(const std::string& title) {
  html_.Trusted("<!DOCTYPE html>\n").Open("html", {{"lang", "en"}}).Open("head");
  html_.Empty("meta", {{"charset", "utf-8"}});
  html_.Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html_.Empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html_.Element("title", title);
  html_.Open("style").Trusted(kPageStyle).Close().Close();
  html_.Open("body").Open("main");
}

void PageWriter::Heading(const std::string& over, const std::string& title, const std::string& below) {
  html_.Open("header").Element("p", over, {{"class", "over"}}).Element("h1", title);
  if (!below.empty()) html_.Element("p", below, {{"class", "soft"}});
  html_.Close();
}

void PageWriter::Verdict(Mark mark, const std::string& sentence) {
  html_.Open("p", {{"class", "verdict"}})
      .Element("b", LookOf(mark).sign, {{"class", LookOf(mark).style}, {"aria-hidden", "true"}});
  html_.Text(" ").Element("span", sentence).Close();
}

void PageWriter::Contents(const std::vector<std::pair<const char*, const char*>>& sections) {
  html_.Open("nav", {{"aria-label", "sections of this page"}});
  for (const auto& [id, name] : sections) html_.Element("a", name, {{"href", std::string("#") + id}}).Text("\n");
  html_.Close();
}

void PageWriter::Section(const char* id, const char* title) { html_.Element("h2", title, {{"id", id}}); }
void PageWriter::Note(const std::string& text) { html_.Element("p", text, {{"class", "soft"}}); }
void PageWriter::Paragraph(const std::string& text) { html_.Element("p", text); }

void PageWriter::MarkWord(Mark mark, const std::string& word) {
  html_.Open("span", {{"class", std::string("mark ") + LookOf(mark).style}});
  html_.Element("span", LookOf(mark).sign, {{"aria-hidden", "true"}}).Text(" " + word).Close();
}

void PageWriter::BeginTiles() { html_.Open("div", {{"class", "tiles"}}); }
void PageWriter::EndTiles() { html_.Close(); }
void PageWriter::Tile(const std::string& value, const std::string& what, const char* style) {
  html_.Open("div", {{"class", "tile"}}).Element("b", value, {{"class", style}}).Element("span", what).Close();
}

void PageWriter::BeginTable(const std::string& caption, const std::vector<std::string>& columns) {
  // If it is wider than a phone, it scrolls by itself, also by keys.
  html_.Open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", caption}, {"tabindex", "0"}});
  html_.Open("table").Element("caption", caption, {{"class", "unseen"}});
  if (!columns.empty()) {
    html_.Open("thead").Open("tr");
    for (const std::string& column : columns) {
      html_.Element("th", column.substr(IsNumber(column)),
                    {{"scope", "col"}, {"class", IsNumber(column) ? "num" : ""}});
    }
    html_.Close().Close();
  }
  html_.Open("tbody");
  columns_ = columns;
}
void PageWriter::Row(const std::vector<std::string>& cells) {
  BeginRow();
  RowName(cells[0]);
  for (size_t i = 1; i < cells.size(); ++i) IsNumber(columns_[i]) ? Number(cells[i]) : Cell(cells[i]);
  EndRow();
}
void PageWriter::EndTable() { html_.Close().Close().Close(); }
void PageWriter::RowName(const std::string& text) { html_.Element("th", text, {{"scope", "row"}}); }
void PageWriter::Cell(const std::string& text, const char* style) { html_.Element("td", text, {{"class", style}}); }
void PageWriter::Number(const std::string& text) { html_.Element("td", text, {{"class", "num"}}); }
void PageWriter::Code(const std::string& text, const char* style) {
  html_.Open("td", {{"class", style}});
  if (!text.empty()) html_.Element("code", text);
  html_.Close();
}
void PageWriter::Fact(const char* name, const std::string& value) {
  html_.Open("tr").Element("th", name, {{"scope", "row"}}).Open("td").Element("code", value).Close().Close();
}

std::string PageWriter::Finish(const std::string& json) && {
  HONE_CHECK(json.find('<') == std::string::npos);
  html_.Close();
  if (!json.empty()) html_.Open("script", {{"type", "application/json"}, {"id", "report"}}).Trusted(json).Close();
  html_.Close().Close();
  return std::move(html_).Finish();
}

}  // namespace hone::report
