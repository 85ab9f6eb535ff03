"""The few shapes that the pictures of docs/ are made of, as text, and their colours, which do on white and on black."""

BLUE, GREEN, ORANGE, GREY = "#2f81f7", "#2da44e", "#d9730d", "#7d8590"
TEXT = GREY


def open_picture(width, height):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="12">')


def text(x, y, words, anchor="middle", colour=TEXT, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{words}</text>'


def line(points, colour, more=""):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}"{more}/>'


def grid_line(x1, y1, x2, y2):
    return line([(x1, y1), (x2, y2)], TEXT, ' stroke-opacity="0.3"')


def dot(x, y, colour, radius=3.5):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def bar(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
