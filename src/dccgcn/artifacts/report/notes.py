"""The sentences that say what a part of the page shows, and what it leaves out."""

from dccgcn.artifacts.report.embedding import FINAL, final_embedding
from dccgcn.graph import NodeGraph
from dccgcn.workflow.run import Run


def on_map(graph: NodeGraph, nodes: int, edges: int, drawn: int) -> str:
    if nodes == graph.n:
        told = f"All {nodes:,} nodes and {edges:,} edges."
    else:
        told = (
            f"{nodes:,} of {graph.n:,} nodes: the labels, the most doubtful answers and what lies around both, "
            f"with the {edges:,} edges between them."
        )
    return told if drawn == edges else f"{told} {drawn:,} of these edges are drawn, chosen at random."


def in_pictures(result: Run, nodes: int) -> str:
    which = f"All {nodes:,} nodes"
    if nodes < result.graph.n:
        which = f"Labels and a random choice of the others, {nodes:,} nodes"
    prediction = result.prediction
    final = "the final embedding"
    if final_embedding(prediction) is None:
        final = "the final answer’s probabilities, on a logarithmic scale"
    each = "each channel’s embedding and of " if prediction.embeddings.keys() - set(FINAL) else ""
    return f"{which}, placed by t-SNE of {each}{final}."


def in_table(graph: NodeGraph, nodes: int) -> str:
    if nodes == graph.n:
        return f"All {nodes:,} nodes. The download is predictions.csv as the run writes it."
    return (
        f"{nodes:,} of {graph.n:,} nodes, those around the labels and the doubts first. "
        "All of them are in the run’s predictions.csv; the download has the rows of this page."
    )
