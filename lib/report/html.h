// Writes HTML (and the SVG inside it), escaping by default: text and attribute values may hold anything, and come out
// as characters to be read, never as markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::report {

// For text and attribute values of HTML and XML: & < > " ' as references. Control characters but newline and tab, of
// which XML allows none, marks that turn the text's direction, and bytes that are not UTF-8 become U+FFFD.
std::string EscapeMarkup(std::string_view text);

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<const char*, std::string>>;

  // Tags and attribute names are ours and go in as they are; values and text are escaped.
  // An attribute without a value is left out.
  HtmlWriter& Open(const char* tag, Attributes attributes = {});
  HtmlWriter& Close();                                             // the innermost open element
  HtmlWriter& Empty(const char* tag, Attributes attributes = {});  // <tag ../>: void elements of HTML, any of SVG
  HtmlWriter& Text(std::string_view text);
  HtmlWriter& Element(const char* tag, std::string_view text, Attributes attributes = {});

  // Verbatim. REQUIRES: nothing in it comes from outside, or it cannot hold a '<'.
  HtmlWriter& Trusted(std::string_view markup);

  // All of it. REQUIRES: every element is closed.
  std::string Finish() &&;

 private:
  void Start(const char* tag, Attributes attributes);

  std::string out_;
  std::vector<const char*> open_;
};

}  // namespace hone::report
