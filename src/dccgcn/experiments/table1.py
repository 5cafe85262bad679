"""docs/results/table1.md: the paper's Table 1 beside the counts of the graphs as they are read here."""

from dccgcn.datasets import describe
from dccgcn.text import markdown_table

# classes, features, nodes and edges as the paper prints them
PRINTED = {
    "cora": (7, 1433, 2708, 5429),
    "citeseer": (6, 3703, 3327, 4732),
    "pubmed": (3, 500, 19717, 44338),
    "corafull": (70, 8710, 19793, 65331),
    "acm": (3, 1870, 3025, 13128),
    "flickr": (9, 12047, 7575, 239738),
    "uai2010": (19, 4973, 3067, 28311),
}


def table1_page() -> str:
    """The page; every number and every name in its sentences follows from the table and the catalogue."""
    rows: list[list[str]] = []
    same: list[str] = []
    fewer: list[str] = []
    for name, printed in PRINTED.items():
        info = describe(name)
        ours = (info.classes, info.features, info.nodes, info.pairs)
        cells = [f"{a:,}" if a == b else f"{a:,} / {b:,}" for a, b in zip(printed, ours, strict=True)]
        zero = "unknown" if info.zero_rows is None else f"{info.zero_rows:,}"
        rows.append([info.title, *cells, f"{info.isolated:,}", zero])
        missing = printed[3] - info.pairs
        if missing:
            fewer.append(f"{info.title} ({missing:,} fewer)")
        else:
            same.append(info.title)
    header = ["dataset", "classes", "features", "nodes", "edges", "nodes without edges", "nodes without features"]
    parts = [
        "# Table 1: the graphs",
        "The paper's counts, and after a slash ours where they differ. Every graph is checked against ours each time "
        "it is read.",
        markdown_table(header, rows),
        f"Edges differ for {', '.join(fewer)}, and agree for {', '.join(same)}. "
        "The paper's numbers are half of the lines of the public files, which list each edge from both of its "
        "ends: a pair that is listed more often counts more often, and a "
        "node's edge to itself counts too. (CoraFull's file was not at hand to check this.) Here an edge is an "
        "unordered pair of two nodes and counts once; methods add their own self-loops.",
        f"The paper's text names eight datasets; its table has {len(PRINTED)} of them.",
        "Made by `dccgcn reproduce all`; `dccgcn datasets NAME` shows the counts of any graph.",
    ]
    return "\n\n".join(parts) + "\n"
