#include "argand/runtime/cuda/memory_monitor.h"

#include "argand/base/str.h"
#include "argand/runtime/cuda/memory_report.h"

namespace argand::cuda {
namespace {

// A self-contained page.  It shows a row per segment with its blocks; below, the bytes in use over the recorded
// history; at the end, the holders.
constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Device memory</title>
<style>
:root { color-scheme: light dark; --line: #8886; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em; }
pre { overflow-x: auto; }
canvas { width: 100%; display: block; border: 1px solid var(--line); }
.segment { margin: .6em 0; } .segment canvas { height: 36px; } #history { height: 220px; }
table { border-collapse: collapse; } td, th { padding: .15em .8em; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
#tip { position: fixed; display: none; background: Canvas; border: 1px solid var(--line); padding: .3em .6em;
  pointer-events: none; white-space: pre; }
</style></head><body><h1>Device memory</h1>
)";

constexpr const char* kTail = R"(
<h2>Segments</h2><div id="segments"></div>
<div id="timeline" hidden><h2>Bytes in use</h2><canvas id="history"></canvas></div>
<h2>Held by</h2><table id="holders"><tr><th>op</th><th>shape</th><th>blocks</th><th>bytes</th><th>oldest</th></tr></table>
<div id="tip"></div>
<script>
'use strict';
const snapshot = JSON.parse(document.getElementById('snapshot').textContent);
const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
function bytes(n) {
  let u = 0;
  for (; n >= 1024 && u < units.length - 1; ++u) n /= 1024;
  return (u ? n.toFixed(2) : n) + ' ' + units[u];
}
function time(us) { return isFinite(us) ? new Date(us / 1000).toISOString() : ''; }
function colour(text) {
  let h = 0;
  for (const c of text) h = (h * 31 + c.codePointAt(0)) % 360;
  return `hsl(${h} 55% 55%)`;
}
const tip = document.getElementById('tip');
function on_hover(canvas, text_at) {
  canvas.onmousemove = e => {
    const box = canvas.getBoundingClientRect(), text = text_at((e.clientX - box.left) / box.width);
    tip.style.display = text ? 'block' : 'none';
    tip.textContent = text || '';
    tip.style.left = Math.min(e.clientX + 12, innerWidth - tip.offsetWidth - 8) + 'px';
    tip.style.top = e.clientY + 12 + 'px';
  };
  canvas.onmouseleave = () => { tip.style.display = 'none'; };
}
function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  return [pen, box.width, box.height];
}
function block_text(b) {
  if (b.state === 'inactive') return `free\n${bytes(b.size)}`;
  return `${b.op} ${b.shape}\n${bytes(b.size)} (asked for ${b.requested_size} bytes)\n${b.state}, allocation ` +
    b.sequence + (b.time_us ? '\n' + time(b.time_us) : '');
}
for (const s of snapshot.segments) {
  const row = document.createElement('div'), canvas = document.createElement('canvas');
  row.className = 'segment';
  row.append(`${s.segment_type} blocks, stream 0x${s.stream.toString(16)}` + (s.pool ? `, graph pool ${s.pool}` : '') +
    `, ${bytes(s.reserved_bytes)}`, canvas);
  document.getElementById('segments').append(row);
  const [pen, width, height] = prepare(canvas);
  let at = 0;  // pages without memory between blocks are left out
  const places = s.blocks.map(b => { const from = at; at += b.size; return {from, to: at, b}; });
  for (const p of places) {
    if (p.b.state === 'inactive') continue;
    pen.globalAlpha = p.b.state === 'active_allocated' ? 1 : 0.4;
    pen.fillStyle = colour(p.b.op + p.b.shape);
    pen.fillRect(p.from / at * width, 0, Math.max((p.to - p.from) / at * width - 0.5, 0.5), height);
  }
  on_hover(canvas, x => { const p = places.find(q => x * at >= q.from && x * at < q.to); return p && block_text(p.b); });
}
const events = (snapshot.device_traces || [[]])[0];
if (events.length) {
  document.getElementById('timeline').hidden = false;
  const canvas = document.getElementById('history'), [pen, width, height] = prepare(canvas);
  let used = 0, low = 0;
  const levels = events.map(e => {
    if (e.action === 'alloc') used += e.size;
    if (e.action === 'free_requested') used -= e.size;
    low = Math.min(low, used);
    return used;
  });
  const high = levels.reduce((most, v) => Math.max(most, v - low), 1), y = v => height - (v - low) / high * (height - 8);
  pen.strokeStyle = pen.fillStyle = 'hsl(210 60% 55%)';
  pen.beginPath();
  levels.forEach((v, i) => pen.lineTo((i + 0.5) / levels.length * width, y(v)));
  pen.stroke();
  pen.fillStyle = 'hsl(0 70% 55%)';
  events.forEach((e, i) => { if (e.action === 'oom') pen.fillRect((i + 0.5) / levels.length * width, 0, 2, height); });
  on_hover(canvas, x => {
    const i = Math.min(Math.floor(x * events.length), events.length - 1), e = events[i];
    return `${e.action} ${e.op} ${bytes(e.size)}\nin use, beside what was before: ${bytes(levels[i] - low)}`;
  });
}
const holders = new Map();
for (const s of snapshot.segments) for (const b of s.blocks) {
  if (b.state === 'inactive') continue;
  const key = JSON.stringify([b.op, b.shape]), h = holders.get(key) || {b, count: 0, bytes: 0, oldest: Infinity};
  ++h.count;
  h.oldest = Math.min(h.oldest, b.time_us || Infinity);
  h.bytes += b.size;
  holders.set(key, h);
}
for (const h of [...holders.values()].sort((a, b) => b.bytes - a.bytes)) {
  const row = document.getElementById('holders').insertRow();
  for (const text of [h.b.op, h.b.shape, h.count, bytes(h.bytes), time(h.oldest)]) row.insertCell().textContent = text;
  row.cells[2].className = row.cells[3].className = 'number';
}
</script></body></html>
)";

}  // namespace

MemoryStatsMap CachingMonitor::stats() { return stats_map(blocks_.stats()); }

std::string CachingMonitor::snapshot_html() {
  return str(kHead, "<pre>", summary(), "</pre>\n<script type=\"application/json\" id=\"snapshot\">\n", snapshot_json(),
             "</script>", kTail);
}

}  // namespace argand::cuda
