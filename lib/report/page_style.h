// The style sheet of the pages: light and dark as the reader's system is set, for paper, and for screens from a phone's
// size up. Each scheme names its colours once, as #rrggbb (tests/unit/report reads them and computes their contrast).
#pragma once

namespace hone::report {

inline constexpr char kPageStyle[] = R"css(
:root { --back: #ffffff; --text: #1c2024; --soft: #5a636d; --line: #dfe3e8; --axis: #868f99; --accent: #0a58ca;
  --pruned: #8a5a00; --good: #17702f; --bad: #b3261e; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #131619; --text: #e4e7ea; --soft: #a0aab4; --line: #2b3137; --axis: #77818b; --accent: #74b4ff;
    --pruned: #d9a53a; --good: #62cc82; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 74rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
.over { color: var(--soft); font-size: .8125rem; letter-spacing: .04em; margin: 0 0 .25rem; }
h1 { font-size: 2rem; font-weight: 650; letter-spacing: -.015em; line-height: 1.15; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; font-weight: 650; letter-spacing: -.01em; margin: 4rem 0 .75rem; }
h3 { font-size: .9375rem; font-weight: 600; margin: 0 0 .35rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.35rem; margin: 2rem 0 0; padding: .7rem 0; font-size: .875rem;
  border: solid var(--line); border-width: 1px 0; }
nav a { text-decoration: none; }
code { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.good { color: var(--good); }
.wrong { color: var(--bad); font-weight: 600; }
.open { color: var(--soft); }
.mark { white-space: nowrap; }
.verdict { font-size: 1.25rem; line-height: 1.4; margin: 1.5rem 0; max-width: 52rem; }
.verdict b { font-weight: 700; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1.5rem 2rem; margin: 2rem 0; }
.tile { border-top: 1px solid var(--text); padding-top: .5rem; min-width: 0; }
.tile b { display: block; font-size: 1.625rem; font-weight: 600; letter-spacing: -.01em; line-height: 1.3; }
.tile span { display: block; color: var(--soft); font-size: .8125rem; line-height: 1.45; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: 2.25rem 2rem;
  margin: 1.5rem 0; }
ul { padding-left: 1.2rem; max-width: 46rem; overflow-wrap: anywhere; }
figure { margin: 0; min-width: 0; }
figcaption { color: var(--soft); font-size: .8125rem; line-height: 1.45; overflow-wrap: anywhere; margin-top: .25rem; }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
details[open] { padding-bottom: 2rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; max-width: 100%; position: relative; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; line-height: 1.45; }
th, td { text-align: left; vertical-align: top; padding: .42rem 1.1rem .42rem 0; border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: .8125rem; font-weight: 500; white-space: nowrap; border-color: var(--axis); }
tbody th { font-weight: 600; }
tbody th[scope=row] { overflow-wrap: anywhere; min-width: 11.5rem; }
small { display: block; color: var(--soft); font-size: .8125rem; min-width: 14rem; overflow-wrap: anywhere; }
.num { text-align: right; white-space: nowrap; }
td.wide { min-width: 17rem; overflow-wrap: anywhere; }
td.what { min-width: 12rem; overflow-wrap: anywhere; }
td.id code { white-space: nowrap; }
td.bars { min-width: 7rem; width: 20%; }
td.spark { min-width: 8.5rem; width: 8.5rem; padding-top: .2rem; padding-bottom: .1rem; }
.bar { height: .55rem; margin-top: .4rem; background: var(--accent); min-width: 1px; }
.legend span { white-space: nowrap; margin-right: 1.4rem; }
.legend svg { display: inline-block; width: 1.1rem; height: .8rem; vertical-align: -.1em; margin-right: .15rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg path { fill: none; stroke: var(--text); stroke-width: 1; }
svg .tick { font-size: 10.5px; fill: var(--soft); font-family: system-ui, sans-serif; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--line); }
svg .axis { stroke: var(--axis); }
svg .zero { stroke: var(--axis); }
svg .divider { stroke: var(--axis); stroke-dasharray: 1 3; }
svg .level { stroke: var(--soft); stroke-dasharray: 4 3; }
svg .dots { stroke: var(--accent); stroke-width: 3.6; stroke-linecap: round; stroke-opacity: .8; }
svg .pruned { stroke: var(--pruned); }
svg .best { stroke: var(--text); stroke-width: 1.4; stroke-linejoin: round; }
svg .line { stroke: var(--accent); stroke-width: 1.6; stroke-linejoin: round; }
svg .now { stroke: var(--accent); stroke-width: 5; stroke-linecap: round; }
svg .bad { stroke: var(--bad); stroke-width: 1.4; }
svg .rest { fill: var(--axis); fill-opacity: .45; stroke: none; }
@media (max-width: 40rem) {
  main { padding-top: 1.5rem; }
  h1 { font-size: 1.6rem; }
  h2 { margin-top: 3rem; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.25rem; }
}
@media print {
  @page { margin: 14mm; }
  :root { --back: #ffffff; --text: #000000; --soft: #444444; --line: #c8c8c8; --axis: #777777; --accent: #0a58ca;
    --pruned: #8a5a00; --good: #17702f; --bad: #b3261e; color-scheme: light; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  h2 { margin-top: 1.5rem; break-after: avoid; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  code { font-size: 7pt; }
  th, td { padding-right: .5rem; }
  td.wide, td.what, td.bars, small { min-width: 0; }
  tbody th[scope=row] { min-width: 5.5rem; }
  thead th { font-size: 7pt; white-space: normal; }
  td.spark { min-width: 4rem; width: 5.5rem; }
  .tiles { grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 1rem; margin: 1rem 0; }
  .tile b { font-size: 14pt; }
  .tile span, figcaption { font-size: 7.5pt; }
  td.id code { white-space: normal; }
  td { overflow-wrap: anywhere; }
  .cards { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1rem; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  tr, figure, .tile { break-inside: avoid; }
}
)css";

}  // namespace hone::report
