"""The page's style: system fonts, one column, dark text on white, tables that scroll inside themselves, and paper."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; color: #1a1a1a; background: #fff;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.2rem 0 0.8rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 0.6rem; border-bottom: 2px solid #2b5c8a; }
.edition { margin: 0; color: #2b5c8a; font-weight: 600; }
.internal .edition { color: #a01818; }
header p { margin: 0.4rem 0; }
nav ul { columns: 2; padding-left: 1.2rem; }
a { color: #1b4f7f; }
.wide { overflow-x: auto; margin: 0.8rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; min-width: 50%; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0; border-bottom: 1px solid #ccc; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
th, td { overflow-wrap: normal; } .long { overflow-wrap: anywhere; min-width: 14rem; }
.warning { border: 2px solid #a01818; padding: 0.5rem; font-weight: 600; }
pre { background: #f3f5f7; padding: 0.7rem; overflow-x: auto; font-size: 0.85rem; }
code { font-family: ui-monospace, "Liberation Mono", Consolas, monospace; font-size: 0.9em; }
figure { margin: 1.2rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-weight: 600; }
summary { cursor: pointer; color: #1b4f7f; padding: 0.3rem 0; }
@media (max-width: 32rem) { nav ul { columns: 1; } body { padding: 0.7rem; } }
@media print { nav, summary { display: none; } body { max-width: none; font-size: 10pt; }
  figure, tr { break-inside: avoid; } h2 { break-after: avoid; } .wide, pre { overflow: visible; } pre { white-space: pre-wrap; }
  table { font-size: 8pt; } th, td { padding-right: 0.4rem; } .long { min-width: 0; } }
"""
