// A strict reader of the markup that lib/report writes, to distinguish markup from text.
#pragma once

#include "base/text.h"
#include "common/expect.h"

namespace hone::report {

struct Element {
  std::string tag;
  std::map<std::string, std::string> attributes;  // references resolved
  std::string text;                               // directly in it, references resolved
};

struct Markup {
  std::vector<Element> elements;  // in document order
  std::string error;              // the first violation of well-formedness; empty: well-formed

  std::vector<const Element*> Find(const std::string& tag) const {
    std::vector<const Element*> found;
    for (const Element& element : elements) {
      if (element.tag == tag) found.push_back(&element);
    }
    return found;
  }
};

// Well-formed like XML, but <style> and <script> contain anything up to their end tag, as in HTML.
class MarkupReader {
 public:
  explicit MarkupReader(const std::string& text) : text_(text) {}

  Markup Read() {
    if (StartsWith(text_, "<?xml ") || StartsWith(text_, "<!DOCTYPE ")) at_ = text_.find('>') + 1;
    while (at_ < text_.size() && markup_.error.empty()) text_[at_] == '<' ? Tag() : Text();
    if (markup_.error.empty() && !open_.empty()) Fail("not closed: " + markup_.elements[open_.back()].tag);
    return std::move(markup_);
  }

 private:
  void Fail(const std::string& what) {
    if (markup_.error.empty()) markup_.error = what + " at ..." + text_.substr(at_, 60);
  }

  std::string Until(const std::string& stops) {
    const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string piece = text_.substr(at_, end - at_);
    at_ = end;
    return piece;
  }

  std::string Resolve(std::string piece) {
    for (size_t i = piece.find('&'); i != std::string::npos; i = piece.find('&', i + 1)) {
      bool known = false;
      for (const char* name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known |= piece.compare(i, std::string(name).size(), name) == 0;
      if (!known) Fail("a bare &");
    }
    for (const char c : piece) {
      if ((c >= 0 && c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) Fail("a control character");
    }
    for (const auto& [from, to] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
      piece = ReplaceAll(piece, from, to);
    }
    return piece;
  }

  void Text() {
    const std::string piece = Until("<");
    if (open_.empty()) {
      if (!Trim(piece).empty()) Fail("text outside: " + piece);
      return;
    }
    if (piece.find('>') != std::string::npos) Fail("a bare >");
    markup_.elements[open_.back()].text += Resolve(piece);
  }

  void Tag() {
    ++at_;
    const bool end = text_[at_] == '/';
    if (end) ++at_;
    Element element;
    element.tag = Until(" />");
    if (end) {
      if (open_.empty() || markup_.elements[open_.back()].tag != element.tag)
        return Fail("</" + element.tag + "> closes nothing");
      open_.pop_back();
      ++at_;
      return;
    }
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      const std::string name = Until("= >");
      if (text_.compare(at_, 2, "=\"") != 0) return Fail("attribute " + name + " without a quoted value");
      at_ += 2;
      const std::string value = Until("\"");
      if (value.find('<') != std::string::npos) return Fail("< in attribute " + name);
      if (!element.attributes.emplace(name, Resolve(value)).second) return Fail("attribute " + name + " twice");
      ++at_;
    }
    const bool empty = text_.compare(at_, 2, "/>") == 0;
    if (!empty && text_[at_] != '>') return Fail("a strange tag " + element.tag);
    at_ += empty ? 2 : 1;
    markup_.elements.push_back(element);
    if (empty) return;
    open_.push_back(markup_.elements.size() - 1);
    if (element.tag == "script" || element.tag == "style") {
      const size_t stop = std::min(text_.find("</" + element.tag, at_), text_.size());
      markup_.elements.back().text = text_.substr(at_, stop - at_);
      at_ = stop;
    }
  }

  const std::string& text_;
  size_t at_ = 0;
  Markup markup_;
  std::vector<size_t> open_;  // indices of elements
};

inline Markup ReadMarkup(const std::string& text) { return MarkupReader(text).Read(); }

inline bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
// Expects a page to load nothing, and its links, but for those to `other`, to lead to places in it; how many they are.
inline int CheckedLinks(const Markup& markup, const std::string& other = "") {
  std::set<std::string> places;
  int links = 0;
  for (const Element& element : markup.elements) {
    EXPECT_EQ(element.attributes.count("src"), 0u) << element.tag;
    if (element.attributes.count("id")) places.insert("#" + element.attributes.at("id"));
  }
  for (const Element& element : markup.elements) {
    const auto link = element.attributes.find("href");
    if (link == element.attributes.end() || link->second == other) continue;
    ++links;
    EXPECT_EQ(places.count(link->second), 1u) << link->second;
  }
  return links;
}

// Expects markup in a name to be text.
inline void ExpectNothingInjected(const Markup& markup) {
  EXPECT_TRUE(markup.Find("img").empty());
  for (const Element& element : markup.elements) {
    for (const auto& [name, value] : element.attributes) EXPECT_NE(name.substr(0, 2), "on") << element.tag;
  }
}

}  // namespace hone::report
