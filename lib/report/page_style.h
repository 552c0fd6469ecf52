// The style sheet of the report's page: light and dark as the reader's system has it, paper, and screens from a phone's up.
#pragma once

namespace hone::report {

inline constexpr char kPageStyle[] = R"css(
:root { --back: #ffffff; --card: #f6f7f9; --text: #1b1f24; --soft: #57606a; --line: #d4d9df; --accent: #0b62c4;
  --pruned: #9a6700; --good: #17702f; --bad: #b91c1c; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171a; --card: #1d2126; --text: #e6e9ec; --soft: #a2acb6; --line: #3a4149; --accent: #6cb2ff;
    --pruned: #d9a53a; --good: #5cc97d; --bad: #ff8079; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 52rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: 1rem 0; }
code { font: .85em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.good { color: var(--good); }
.wrong { color: var(--bad); font-weight: 600; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1rem 0; }
.tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .75rem; margin: 0; }
.tile b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .85rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .75rem; }
figcaption { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.num { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.wide { min-width: 17rem; }
td.what { min-width: 12rem; }
td.id code { white-space: nowrap; }
td.bars { min-width: 7rem; width: 20%; }
.bar { height: .7rem; margin-top: .35rem; border-radius: 2px; background: var(--accent); min-width: 1px; }
.legend span { white-space: nowrap; margin-right: 1rem; }
.legend i { font-style: normal; font-weight: 700; }
svg { display: block; width: 100%; height: auto; }
svg path { fill: none; stroke: var(--text); }
svg .tick { font-size: 10.5px; fill: var(--soft); font-family: system-ui, sans-serif; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--line); }
svg .axis { stroke: var(--soft); }
svg .divider { stroke: var(--line); stroke-dasharray: 2 2; }
svg .level { stroke: var(--soft); stroke-dasharray: 4 3; }
svg .dots { stroke: var(--accent); stroke-width: 4; stroke-linecap: round; stroke-opacity: .75; }
svg .pruned { stroke: var(--pruned); stroke-width: 3; stroke-linecap: round; stroke-opacity: .75; }
svg .best { stroke: var(--good); stroke-width: 2; }
svg .bad { stroke: var(--bad); stroke-width: 1.5; }
.key-dots { color: var(--accent); }
.key-pruned { color: var(--pruned); }
.key-best { color: var(--good); }
.key-bad { color: var(--bad); }
@media print {
  :root { --back: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --accent: #0b62c4; --pruned: #9a6700;
    --good: #17702f; --bad: #b91c1c; color-scheme: light; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  td.wide, td.what { min-width: 0; }
  td.id code { white-space: normal; }
  td { overflow-wrap: anywhere; }
  tr, figure, .tile { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)css";

}  // namespace hone::report
