"""Sentences that say which nodes a part of the page shows."""

from dccgcn.graph import NodeGraph
from dccgcn.methods.prediction import Prediction
from dccgcn.report.embedding import FINAL, final_embedding


def map_note(graph: NodeGraph, nodes: int, edges: int, drawn: int) -> str:
    if nodes == graph.n:
        note = f"All {nodes:,} nodes and {edges:,} edges."
    else:
        note = (
            f"{nodes:,} of {graph.n:,} nodes: the training labels and a random sample of each community, in proportion "
            f"to its size, with the {edges:,} edges between them."
        )
    return note if drawn == edges else f"{note} {drawn:,} of these edges are drawn, chosen at random."


def embeddings_note(graph: NodeGraph, prediction: Prediction, nodes: int) -> str:
    which = f"All {nodes:,} nodes"
    if nodes < graph.n:
        which = f"{nodes:,} of {graph.n:,} nodes, training labels and a random sample of the others"
    final = "the final embedding"
    if final_embedding(prediction) is None:
        final = "the logarithms of the predicted probabilities"
    channels = "each channel’s embedding and of " if prediction.embeddings.keys() - set(FINAL) else ""
    return f"{which}, in two dimensions by t‑SNE of {channels}{final}."


def table_note(graph: NodeGraph, nodes: int) -> str:
    if nodes == graph.n:
        return f"All {nodes:,} nodes, the least trusted first. The download is the run’s predictions.csv."
    return (
        f"{nodes:,} of {graph.n:,} nodes, the least trusted first: training labels, the least trusted predictions, the "
        "nodes of the map, and neighbours of these. "
        "The download holds these rows; the run’s predictions.csv holds all."
    )
