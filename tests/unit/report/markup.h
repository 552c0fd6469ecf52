// A strict reader of the markup that lib/report writes, to tell what is markup in it and what is text.
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
  std::string error;              // the first thing that is not well formed; empty: all is

  std::vector<const Element*> Find(const std::string& tag) const;
};

// Well formed as XML is; but <style> and <script> hold anything up to their end tag, as in HTML.
Markup ReadMarkup(const std::string& text);

inline bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace hone::report
