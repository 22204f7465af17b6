"""The look of a page: light and dark, one column that fits a phone, few inks."""

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #595959; --line: #ccc; --bar: #0072b2; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --faint: #b0b0b0; --line: #555; --bar: #56b4e9; --page: #181818; }
}
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
main { max-width: 46rem; margin: 1.5rem auto; padding: 0 1rem; }
p, li, h1, h2, h3, summary { overflow-wrap: anywhere; }
tbody th { overflow-wrap: break-word; hyphens: auto; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin-bottom: .25rem; }
.stamp { border: 2px solid #d55e00; padding: .5rem 1rem; font-weight: bold; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--faint); font-size: .9rem; }
th, td { text-align: right; padding: .2rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: normal; }
thead th { color: var(--faint); }
th:first-child { text-align: left; }
figure { margin: 0 0 1rem; }
summary { cursor: pointer; color: var(--faint); font-size: .9rem; }
svg { width: 100%; max-width: 30rem; height: auto; display: block; }
svg.own text { fill: var(--ink); font: 11px system-ui, sans-serif; }
svg.own text.small { font-size: 9px; }
svg.own rect { fill: var(--bar); fill-opacity: .55; }
svg.own rect.void { fill: none; stroke: var(--line); }
svg.own rect.full { fill-opacity: 1; }
svg.own path { stroke: var(--ink); fill: none; }
@media (max-width: 30rem) { table { font-size: .85rem; } th, td { padding: .2rem .25rem; } }
@media print { details { display: block; } body { background: #fff; color: #000; } }
"""
