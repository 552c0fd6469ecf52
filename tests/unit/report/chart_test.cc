#include "common/expect.h"
#include "markup.h"
#include "report/svg.h"

namespace hone::report {
namespace {

void ExpectNear(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-9 * (1 + wanted[i]));
}

TEST(Chart, LinearTicksAreRoundAndInside) {
  ExpectNear(LinearTicks(0, 100, 4), {0, 50, 100});
  ExpectNear(LinearTicks(0, 127, 4), {0, 50, 100});
  ExpectNear(LinearTicks(0.0098, 0.0121, 4), {0.010, 0.011, 0.012});
  ExpectNear(LinearTicks(3, 3, 4), {3});
}

TEST(Chart, LogTicksAreRoundAndInside) {
  ExpectNear(LogTicks(1e-4, 1e-3, 4), {1e-4, 2e-4, 5e-4, 1e-3});
  ExpectNear(LogTicks(1.5e-3, 3e-3, 4), {2e-3});
  ExpectNear(LogTicks(1e-6, 1, 4), {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1});
}

std::string Draw(const Chart& chart) {
  HtmlWriter html;
  DrawChart(chart, &html);
  return std::move(html).Finish();
}

// Faster is lower: the vertical coordinate of SVG grows downwards.
TEST(Chart, StepsGoDownToTheFasterTrial) {
  Chart chart;
  chart.label = "a <label>";
  chart.x_end = 10;
  chart.series = {{ChartSeries::Kind::kSteps, "best", {{0, 0.004}, {5, 0.002}}}};
  const Markup svg = ReadMarkup(Draw(chart));
  EXPECT_EQ(svg.error, "");
  EXPECT_EQ(svg.Find("title").at(0)->text, "a <label>");
  std::string path;
  for (const Element* p : svg.Find("path")) {
    if (p->attributes.at("class") == "best") path = p->attributes.at("d");
  }
  double x0, y0, x1, y1, x2;
  ASSERT_EQ(sscanf(path.c_str(), "M%lf %lfH%lfV%lfH%lf", &x0, &y0, &x1, &y1, &x2), 5) << path;
  EXPECT_LT(y0, y1);
  EXPECT_NEAR(x1 - x0, (x2 - x0) / 2, 0.2);
}

TEST(Chart, LabelsOfTheHorizontalAxisAreRound) {
  Chart chart;
  chart.x_end = 0.61;  // 3 x 0.2 is not quite 0.6
  std::vector<std::string> labels;
  const Markup svg = ReadMarkup(Draw(chart));
  for (const Element* text : svg.Find("text")) labels.push_back(text->text);
  labels.pop_back();  // the axis' title
  EXPECT_EQ(labels, (std::vector<std::string>{"0", "0.2", "0.4", "0.6"}));
}

TEST(Chart, OfNothingOrOnePointHasNoStrangeNumbers) {
  Chart chart;
  chart.x_end = 0;
  for (const std::vector<ChartPoint>& points : {std::vector<ChartPoint>{}, {{0, 0.5}}}) {
    chart.series = {{ChartSeries::Kind::kDots, "dots", points}};
    chart.ticks = {0};
    const std::string svg = Draw(chart);
    EXPECT_EQ(ReadMarkup(svg).error, "");
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

}  // namespace
}  // namespace hone::report
