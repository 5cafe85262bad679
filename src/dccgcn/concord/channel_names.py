"""Channels in plain words, for people who have not read about the method."""

_CHANNELS = {
    "topology": ("edges", "Uses the edges: nodes that are connected tend to share a class."),
    "features": ("similar features", "Uses the features: nodes with similar features tend to share a class."),
    "own": ("own features", "Uses the node’s own features."),
    "hop1": ("neighbours’ features", "Uses the mean features of the neighbours."),
    "hop2": ("features two steps away", "Uses the mean features of the neighbours’ neighbours."),
    "propagated": ("features nearby", "Uses features propagated along the edges."),
    "structure": ("same neighbours", "Uses the edges alone: nodes with the same neighbours are alike."),
    "similar": ("similar nodes", "Uses the nodes with the most similar features."),
    "sizes": ("counts", "Uses the number of edges and the amount of features."),
    "joint": ("all together", "Uses all views of a node together."),
    "labels": ("labels nearby", "Uses the labels nearby, spread along the edges."),
}


def channel_title(name: str) -> str:
    """What a channel looks at; the channels of a relation begin with its name.

    >>> channel_title("hop1"), channel_title("cites.labels")
    ('neighbours’ features', 'cites: labels nearby')
    """
    relation, _, kind = name.rpartition(".")
    title = _CHANNELS.get(kind, (kind, ""))[0]
    return f"{relation}: {title}" if relation else title


def channel_description(name: str) -> str:
    """A sentence about what a channel uses; empty if it is not known."""
    return _CHANNELS.get(name.rpartition(".")[2], ("", ""))[1]
