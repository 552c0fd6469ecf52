// Writes HTML (and SVG inside it), escaping by default: text and attribute values may contain anything, and appear as
// characters, never as markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::report {

// Escapes text and attribute values for HTML and XML: & < > " ' become references. Control characters except newline
// and tab, which XML forbids, marks that change the text's direction, and invalid UTF-8 become U+FFFD.
std::string EscapeMarkup(std::string_view text);

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<const char*, std::string>>;

  // Tags and attribute names come from Hone and are written verbatim; values and text are escaped. Attributes without a
  // value are omitted.
  HtmlWriter& Open(const char* tag, Attributes attributes = {});
  HtmlWriter& Close();                                             // the innermost open element
  HtmlWriter& Empty(const char* tag, Attributes attributes = {});  // <tag ../>: void elements of HTML, any of SVG
  HtmlWriter& Text(std::string_view text);
  HtmlWriter& Element(const char* tag, std::string_view text, Attributes attributes = {});

  // Writes it verbatim. REQUIRES: it comes from Hone, or cannot contain a '<'.
  HtmlWriter& Trusted(std::string_view markup);

  // The whole text. REQUIRES: every element is closed.
  std::string Finish() &&;

 private:
  void Start(const char* tag, Attributes attributes);

  std::string out_;
  std::vector<const char*> open_;
};

}  // namespace hone::report
