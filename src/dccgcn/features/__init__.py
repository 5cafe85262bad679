"""Matrices that follow from a graph: its normalised topology and feature kNN graph, m-hop rows, scaled features."""

from dccgcn.features.approximate_knn import is_searched_exactly, neighbours
from dccgcn.features.exact_knn import Neighbours, exact_knn
from dccgcn.features.hops import hop_blocks, hops
from dccgcn.features.operator import (
    Normalisation,
    Operator,
    knn_operator,
    mean_operator,
    neighbour_mean,
    topology_operator,
)
from dccgcn.features.scaling import (
    NumericColumns,
    Scaling,
    columns_to_standardise,
    normalise_rows,
    numeric_columns,
    numeric_columns_of,
    scaling,
    standardised,
    weight_columns,
)

__all__ = [
    "Neighbours",
    "Normalisation",
    "NumericColumns",
    "Operator",
    "Scaling",
    "columns_to_standardise",
    "exact_knn",
    "hop_blocks",
    "hops",
    "is_searched_exactly",
    "knn_operator",
    "mean_operator",
    "neighbour_mean",
    "neighbours",
    "normalise_rows",
    "numeric_columns",
    "numeric_columns_of",
    "scaling",
    "standardised",
    "topology_operator",
    "weight_columns",
]
