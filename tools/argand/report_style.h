// The style sheet of report.html.
#pragma once

namespace argand::cli {

inline constexpr char kReportStyle[] = R"css(
:root {
  color-scheme: light dark;
  --page: #f7f6f3; --card: #ffffff; --ink: #17171a; --soft: #5d5c58; --faint: #8d8b85; --line: #e4e2dc;
  --blue: #2667c9; --orange: #d4571c; --note: #fdf3d7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #151517; --card: #1f1f22; --ink: #f2f1ee; --soft: #b4b2ab; --faint: #85837c; --line: #343438;
    --blue: #6aa2f7; --orange: #f0884d; --note: #3b3320;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 56px; }
h1 { font-size: 30px; line-height: 1.2; letter-spacing: -0.015em; margin: 0; }
h2 { font-size: 18px; letter-spacing: -0.005em; margin: 44px 0 14px; }
h2 small { font-size: 14px; font-weight: 400; color: var(--soft); margin-left: 8px; letter-spacing: 0; }
h3 { font-size: 14px; margin: 0 0 10px; }
.subtitle { color: var(--soft); margin: 6px 0 0; }
.note { background: var(--note); border-radius: 8px; padding: 10px 14px; margin: 18px 0 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 14px; margin-top: 26px; }
.tile b { display: block; font-size: 26px; line-height: 1.25; letter-spacing: -0.02em; font-weight: 650; }
.tile span { color: var(--soft); font-size: 13px; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 14px; }
.wide { display: grid; grid-template-columns: minmax(0, 7fr) minmax(260px, 4fr); gap: 14px; align-items: start; }
@media (max-width: 860px) { .wide { grid-template-columns: 1fr; } }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
svg text { fill: var(--ink); }
svg .title { font-size: 14px; font-weight: 650; }
svg .tick { fill: var(--soft); }
svg .value { font-weight: 600; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--line); }
svg .line { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
svg .thin { stroke-width: 1.25; opacity: 0.55; }
svg .band { opacity: 0.14; }
svg .right { fill: var(--blue); }
svg .wrong { fill: var(--orange); }
svg .strong { fill: var(--card); font-weight: 650; }
svg .cell { fill: none; stroke: var(--line); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th.n, td.n { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
td.name { color: var(--soft); white-space: nowrap; }
td.value { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.best td { font-weight: 650; }
.bar { display: block; height: 6px; border-radius: 3px; background: var(--line); min-width: 60px; margin-top: 8px; }
.bar i { display: block; height: 6px; border-radius: 3px; background: var(--blue); }
.gap { margin-top: 14px; }
.mistakes { display: grid; grid-template-columns: repeat(auto-fill, minmax(144px, 1fr)); gap: 14px; }
.mistake { padding: 0; overflow: hidden; font-size: 13px; line-height: 1.4; }
.mistake img { display: block; width: 100%; aspect-ratio: 1; object-fit: contain; image-rendering: pixelated; background: #000; }
.mistake p { margin: 0; padding: 9px 11px 11px; display: flex; flex-wrap: wrap; justify-content: space-between; column-gap: 8px; }
.mistake .said { color: var(--orange); font-weight: 650; }
.mistake .sure { color: var(--soft); }
.mistake .is { color: var(--soft); flex-basis: 100%; }
footer { margin-top: 44px; color: var(--faint); font-size: 13px; }
@media print { body { background: #fff; } .card { break-inside: avoid; } }
)css";

}  // namespace argand::cli
