#include "report/html.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace hone::report {

// A newline after these keeps the source readable; elsewhere it could become a visible space.
static bool EndsLine(std::string_view tag) {
  constexpr std::string_view kInline[] = {"a", "abbr", "b", "code", "span", "td", "th", "i", "title", "dt", "text"};
  return std::find(std::begin(kInline), std::end(kInline), tag) == std::end(kInline);
}

constexpr std::string_view kSpecial[] = {"&", "<", ">", "\"", "'"};
constexpr std::string_view kReferences[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

std::string EscapeMarkup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length);
    if (length == 0 || IsControl(sequence)) {
      out += kReplacementCharacter;
    } else {
      const auto found = std::find(std::begin(kSpecial), std::end(kSpecial), sequence);
      out += found == std::end(kSpecial) ? sequence : kReferences[found - std::begin(kSpecial)];
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

void HtmlWriter::Start(const char* tag, Attributes attributes) {
  out_.append("<").append(tag);
  for (const auto& [name, value] : attributes) {
    if (!value.empty()) out_.append(" ").append(name).append("=\"").append(EscapeMarkup(value)) += '"';
  }
}

HtmlWriter& HtmlWriter::Open(const char* tag, Attributes attributes) {
  Start(tag, attributes);
  out_ += '>';
  open_.push_back(tag);
  return *this;
}

HtmlWriter& HtmlWriter::Close() {
  HONE_CHECK(!open_.empty());
  out_.append("</").append(open_.back()) += '>';
  if (EndsLine(open_.back())) out_ += '\n';
  open_.pop_back();
  return *this;
}

HtmlWriter& HtmlWriter::Empty(const char* tag, Attributes attributes) {
  Start(tag, attributes);
  out_ += "/>\n";
  return *this;
}

HtmlWriter& HtmlWriter::Text(std::string_view text) {
  out_ += EscapeMarkup(text);
  return *this;
}

HtmlWriter& HtmlWriter::Element(const char* tag, std::string_view text, Attributes attributes) {
  return Open(tag, attributes).Text(text).Close();
}

HtmlWriter& HtmlWriter::Trusted(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string HtmlWriter::Finish() && {
  HONE_CHECK(open_.empty());
  return std::move(out_);
}

}  // namespace hone::report
