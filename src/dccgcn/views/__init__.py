"""The two views of a graph: its topology, and the kNN graph of its features; and their neighbourhoods."""

from dccgcn.views.approximate import neighbours
from dccgcn.views.field import FieldInput, Layer, receptive_field
from dccgcn.views.hops import hop_blocks, hops
from dccgcn.views.knn import Neighbours, nearest
from dccgcn.views.scaling import Measured, Scaling, measured, measured_in, scaled, scaling, standardised, weighted
from dccgcn.views.view import Normalisation, View, feature_view, topology_view

__all__ = [
    "FieldInput",
    "Layer",
    "Measured",
    "Neighbours",
    "Normalisation",
    "Scaling",
    "View",
    "feature_view",
    "hop_blocks",
    "hops",
    "measured",
    "measured_in",
    "nearest",
    "neighbours",
    "receptive_field",
    "scaled",
    "scaling",
    "standardised",
    "topology_view",
    "weighted",
]
