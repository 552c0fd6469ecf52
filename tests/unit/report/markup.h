// A strict reader of the markup that lib/report writes, to distinguish markup from text.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hone::report {

struct Element {
  std::string tag;
  std::map<std::string, std::string> attributes;  // references resolved
  std::string text;                               // directly in it, references resolved
};

struct Markup {
  std::vector<Element> elements;  // in document order
  std::string error;              // the first violation of well-formedness; empty: well-formed

  std::vector<const Element*> Find(const std::string& tag) const;
};

// Well-formed like XML, but <style> and <script> contain anything up to their end tag, as in HTML.
Markup ReadMarkup(const std::string& text);

inline bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
// Expects a page to load nothing, and its links, but for those to `other`, to lead to places in it; how many they are.
int CheckedLinks(const Markup& markup, const std::string& other = "");
// Expects markup in a name to be text.
void ExpectNothingInjected(const Markup& markup);

}  // namespace hone::report
