"""An SVG plot: a line for each cell, a dot for each peer, time on a logarithmic scale."""

import html
import itertools
import math

COLOURS = ["#000000", "#d1242f", "#f4777f", "#1f6feb", "#9a6700", "#2da44e", "#bf8700", "#8250df", "#57606a", "#bf3989"]
LEFT, WIDTH, LINE, TOP = 320, 640, 24, 60


def axis(values):
    """Powers of ten around all values."""
    return 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))


def ticks(low, high):
    tick = low
    while tick <= high * 1.001:
        yield tick
        tick *= 10


def dot(x, y, title, colour):
    """Sherd is drawn larger; the floor is a bar."""
    if title == "floor":
        return f'<rect x="{x - 1.5:.1f}" y="{y - 9}" width="3" height="18" fill="{colour}"/>'
    radius = 6 if title.startswith("Sherd") else 4.5
    return f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}" fill-opacity="0.85"><title>{html.escape(title)}</title></circle>'


def svg(table):
    """The plot of a report.Table of milliseconds."""
    rows = list(table.rows())
    low, high = axis([value for _, _, row in rows for value in row.values()])
    blocks = list(dict.fromkeys(block for block, _, _ in rows))
    height = TOP + (len(rows) + len(blocks)) * LINE + 30
    colours = dict(zip(table.titles, itertools.cycle(COLOURS)))

    def at(value):
        return LEFT + WIDTH * math.log10(value / low) / math.log10(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 40} {height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for i, title in enumerate(table.titles):
        x, y = 20 + i % 5 * 190, 18 + i // 5 * 20
        out += [dot(x, y, title, colours[title]), f'<text x="{x + 12}" y="{y + 4}">{html.escape(title)}</text>']
    for tick in ticks(low, high):
        x = at(tick)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height - 26}" stroke="#d0d7de"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle">{tick:g} ms</text>')
    y, last = TOP, None
    for block, title, row in rows:
        if block != last:
            y += LINE
            out.append(f'<text x="12" y="{y - 6}" font-weight="bold">{html.escape(block)}</text>')
            last = block
        out.append(f'<text x="{LEFT - 12}" y="{y + LINE / 2 + 4:.0f}" text-anchor="end">{html.escape(title)}</text>')
        # Sherd is drawn last, so that nothing hides it.
        for name in sorted(row, key=lambda each: each.startswith("Sherd")):
            out.append(dot(at(row[name]), y + LINE / 2, name, colours[name]))
        y += LINE
    return "\n".join([*out, "</svg>"]) + "\n"
