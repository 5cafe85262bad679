"""Colours that colour-blind readers can distinguish, for all figures and reports."""

from collections.abc import Sequence

# Okabe & Ito (2008), strongest contrast first, and grey
OKABE_ITO = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # green
    "#D55E00",  # vermilion
    "#CC79A7",  # purple
    "#56B4E9",  # sky blue
    "#F0E442",  # yellow
    "#000000",  # black
    "#999999",  # grey
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")  # matplotlib's, so that no figure depends on colour alone
MOST_COLOURS = 18  # of classes: the palette as it is and in one lighter shade; more could not be told apart
SURFACE = "cividis"  # a colour map for values that colour-blind readers can distinguish


def colours(n: int) -> list[str]:
    """n colours: the palette, repeated in lighter shades.

    >>> colours(2)
    ['#0072B2', '#E69F00']
    >>> len(set(colours(19)))
    19
    """
    return [lighter(OKABE_ITO[i % len(OKABE_ITO)], 0.4 * (i // len(OKABE_ITO))) for i in range(n)]


def lighter(colour: str, share: float) -> str:
    """The colour mixed with this share of white, at most four fifths.

    >>> lighter("#000000", 0.5)
    '#808080'
    """
    share = min(share, 0.8)
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * share):02X}" for part in parts) if share else colour


def class_colours(sizes: Sequence[int]) -> list[str]:
    """A colour for each class: those of ``colours``, or where there are too many, only for the largest classes.

    sizes: nodes of each class. The other classes are grey.

    >>> class_colours([5, 1])
    ['#0072B2', '#E69F00']
    >>> many = class_colours(range(50))
    >>> many[0], many[49], many.count("#999999")
    ('#999999', '#0072B2', 34)
    """
    if len(sizes) <= MOST_COLOURS:
        return colours(len(sizes))
    grey = OKABE_ITO[-1]
    named = [colour for i, colour in enumerate(colours(MOST_COLOURS)) if i % len(OKABE_ITO) != len(OKABE_ITO) - 1]
    chosen = [grey] * len(sizes)
    for colour, k in zip(named, sorted(range(len(sizes)), key=lambda k: -sizes[k]), strict=False):
        chosen[k] = colour
    return chosen
