#include "report/html.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace hone::report {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

// Length of the UTF-8 sequence at the front of `text`; 0 if there is none (RFC 3629: no overlong forms, no surrogates).
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool bad = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F);
    return !bad && tail(1) && tail(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool bad = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return !bad && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// A new line after these keeps the page readable as text; elsewhere it could become a visible space.
bool EndsLine(std::string_view tag) {
  constexpr std::string_view kInline[] = {"a", "abbr", "b", "code", "span", "td", "th", "i", "title", "dt", "text"};
  return std::find(std::begin(kInline), std::end(kInline), tag) == std::end(kInline);
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const char c = text[0];
    if (length == 0) {
      out += kReplacement;
    } else if (length > 1) {
      // U+FFFE and U+FFFF are no characters of XML.
      const std::string_view sequence = text.substr(0, length);
      out += sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF" ? kReplacement : sequence;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if ((c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      out += kReplacement;
    } else {
      out += c;
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
