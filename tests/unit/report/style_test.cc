// The palette as the page has it: contrast by the formula of WCAG 2.2 (relative luminance).
#include <regex>

#include "common/expect.h"
#include "report/page_style.h"

namespace hone::report {
namespace {

using Palette = std::map<std::string, std::string>;

// Each :root block of the sheet: light, dark, paper.
std::vector<Palette> Palettes() {
  const std::string sheet = kPageStyle;
  std::vector<Palette> palettes;
  const std::regex color("--([a-z]+): (#[0-9a-f]{6})");
  for (size_t at = sheet.find(":root {"); at != std::string::npos; at = sheet.find(":root {", at + 1)) {
    const std::string block = sheet.substr(at, sheet.find('}', at) - at);
    Palette palette;
    for (std::sregex_iterator i(block.begin(), block.end(), color), end; i != end; ++i) palette[(*i)[1]] = (*i)[2];
    palettes.push_back(std::move(palette));
  }
  return palettes;
}

double Luminance(const std::string& color) {
  const auto channel = [&](size_t at) {
    const double c = std::stoi(color.substr(at, 2), nullptr, 16) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

double Contrast(const std::string& a, const std::string& b) {
  const double one = Luminance(a), other = Luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

TEST(Style, TextAndFiguresCanBeToldFromTheBackground) {
  const std::vector<Palette> palettes = Palettes();
  ASSERT_EQ(palettes.size(), 3u);
  for (const Palette& palette : palettes) {
    ASSERT_EQ(palette.size(), 9u);
    for (const char* name : {"text", "soft", "accent", "pruned", "good", "bad"}) {
      EXPECT_GE(Contrast(palette.at(name), palette.at("back")), 4.5) << name << " on " << palette.at("back");
    }
    // Lines of figures; `line` only separates rows.
    EXPECT_GE(Contrast(palette.at("axis"), palette.at("back")), 3) << palette.at("back");
  }
  EXPECT_LT(Luminance(palettes[1].at("back")), 0.05) << "the dark scheme is dark";
}

TEST(Style, EveryColourThatIsUsedHasAName) {
  const std::string sheet = kPageStyle;
  const Palette names = Palettes().at(0);
  const std::regex use("var\\(--([a-z]+)\\)");
  for (std::sregex_iterator i(sheet.begin(), sheet.end(), use), end; i != end; ++i) {
    EXPECT_EQ(names.count((*i)[1]), 1u) << (*i)[1];
  }
}

}  // namespace
}  // namespace hone::report
