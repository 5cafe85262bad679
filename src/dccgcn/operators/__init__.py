"""The two views of a graph: its topology, and the kNN graph of its features; and their neighbourhoods."""

from dccgcn.operators.approximate_knn import neighbours
from dccgcn.operators.exact_knn import Neighbours, exact_knn
from dccgcn.operators.hops import hop_blocks, hops
from dccgcn.operators.operator import Normalisation, Operator, knn_operator, topology_operator
from dccgcn.operators.receptive_field import Layer, ReceptiveField, receptive_field
from dccgcn.operators.scaling import (
    NumericColumns,
    Scaling,
    normalise_rows,
    numeric_columns,
    numeric_columns_of,
    scaling,
    standardised,
    weight_columns,
)

__all__ = [
    "Layer",
    "Neighbours",
    "Normalisation",
    "NumericColumns",
    "Operator",
    "ReceptiveField",
    "Scaling",
    "exact_knn",
    "hop_blocks",
    "hops",
    "knn_operator",
    "neighbours",
    "normalise_rows",
    "numeric_columns",
    "numeric_columns_of",
    "receptive_field",
    "scaling",
    "standardised",
    "topology_operator",
    "weight_columns",
]
