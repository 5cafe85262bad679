"""The methods by name, their published settings, and GCN on Cora."""

import numpy as np
import pytest
import torch

from dccgcn import datasets
from dccgcn.concord.cost import concord_cost
from dccgcn.errors import DccgcnError, SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task
from dccgcn.methods.registry import ENTRIES, METHODS, get_method
from dccgcn.methods.resources import PROCESS_BYTES, network_cost
from dccgcn.networks.baselines.gcn import GcnSettings
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.training import seeded
from dccgcn.workflow.fitting import run
from helpers import literal

# dataset: lr, weight decay, hidden 1, hidden 2, dropout, k, λ1, λ2 (Table 8), epochs (Appendix D)
TABLE_8 = {
    "cora": (5e-3, 1e-5, 256, 128, 0.5, 6, 0.25, 0.5, 200),
    "citeseer": (1e-3, 1e-5, 768, 128, 0.5, 6, 0.25, 0.5, 200),
    "pubmed": (1e-3, 1e-5, 768, 256, 0.5, 3, 0.25, 0.5, 500),
    "corafull": (2e-4, 1e-5, 512, 128, 0.5, 10, 0.25, 0.5, 1000),
    "acm": (1e-4, 5e-4, 768, 256, 0.5, 9, 0.2, 0.8, 300),
    "flickr": (1e-4, 5e-4, 512, 128, 0.5, 5, 0.4, 0.8, 200),
    "uai2010": (1e-4, 5e-4, 512, 128, 0.5, 6, 0.35, 0.7, 200),
}
COLUMNS = ("lr", "weight_decay", "hidden1", "hidden2", "dropout", "k", "lambda1", "lambda2", "epochs")


@pytest.mark.parametrize("dataset", TABLE_8)
def test_dcc_gcns_published_settings_are_table_8(dataset):
    settings = METHODS["dcc-gcn"].published_settings(dataset)
    assert tuple(getattr(settings, column) for column in COLUMNS) == TABLE_8[dataset]
    assert settings.m == 2
    assert settings.features == ("row" if dataset in ("cora", "citeseer", "pubmed") else "raw")
    rest = settings.model_dump(exclude={*COLUMNS, "features"})
    assert rest == DccSettings().model_dump(exclude={*COLUMNS, "features"})  # the other choices are the same everywhere


def test_dcc_gcns_defaults_are_the_printed_equations():
    s = DccSettings()
    assert s.calibration_bias == 1e-9  # Eq. 7: r = 1/d
    assert s.influence_bias == 1.0  # Eq. 6 has self-loops
    assert (s.channel_classifier, s.output_activation) == ("padded", False)
    assert (s.cross_entropy_reduction, s.penalty_reduction) == ("mean", "sum")
    assert s.calibration_rounds == 1


def test_pseudo_labels_choose_by_dcc_gcns_published_settings():
    for dataset in TABLE_8:
        theirs = METHODS["dcc-gcn"].published_settings(dataset).model_dump()
        assert METHODS["pseudo-labels"].published_settings(dataset).dcc == theirs


@pytest.mark.parametrize("dataset", [name for name, info in datasets.DATASETS.items() if info.paper_edges])
def test_every_dataset_of_the_paper_has_published_settings(dataset):
    settings = METHODS["dcc-gcn"].published_settings(dataset)
    assert tuple(getattr(settings, column) for column in COLUMNS) in TABLE_8.values()


def test_another_source_of_a_dataset_shares_its_settings():
    method = METHODS["dcc-gcn"]
    assert method.published_settings("citeseer-amgcn") == method.published_settings("citeseer")
    assert method.published_settings("something of mine") == DccSettings()


def test_options_come_before_what_is_published():
    settings = METHODS["dcc-gcn"].published_settings("pubmed", {"k": 4})
    assert (settings.k, settings.hidden2) == (4, 256)
    with pytest.raises(SettingsError, match="neighbours"):
        METHODS["dcc-gcn"].published_settings("pubmed", {"neighbours": 4})


def test_gcns_settings_are_its_papers():
    s = GcnSettings()
    assert (s.hidden, s.dropout, s.lr, s.weight_decay, s.epochs) == (16, 0.5, 0.01, 5e-4, 200)
    assert (s.features, s.normalisation) == ("row", "symmetric")


def test_methods_are_found_by_name():
    assert all(get_method(name).name == name for name in METHODS)
    with pytest.raises(DccgcnError, match=r"no method 'GCNN'. Did you mean 'gcn'.*dcc-gcn"):
        get_method("GCNN")


def test_no_two_methods_share_a_name_and_each_says_what_it_is():
    assert len(METHODS) == len({method.fit for method in METHODS.values()})
    for name, entry in ENTRIES.items():
        assert METHODS[name].name == name
        assert entry.summary.endswith(".")
        assert entry.reference


def test_each_method_states_its_own_cost():
    assert METHODS["gcn"].cost is network_cost
    assert METHODS["concord"].cost is concord_cost
    graph = NodeGraph(np.eye(12), [(0, 1)], np.arange(12) % 2)
    for method in METHODS.values():
        cost = method.cost(graph, method.settings())
        assert cost.bytes > PROCESS_BYTES
        assert cost.seconds > 0
        assert cost.remedy


def test_gcn_on_coras_public_split():
    cora = datasets.load("cora")
    result = run(cora.graph, cora.splits["public"], METHODS["gcn"], GcnSettings(), seed=0)
    assert result.accuracy > 0.79  # published: 81.5
    assert result.prediction.channels_agree is None


# GCN on a small graph


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    return NodeGraph(np.abs(rng.normal(size=(15, 6))), rng.integers(0, 14, (25, 2)), np.arange(15) % 3)


def dense_gcn(graph, train, s, seed):
    """S relu(S X W0) W1 in dense matrices, with torch's own optimiser and the same start; dropout left out."""
    a = graph.adjacency.toarray().astype(float)
    prop = torch.from_numpy(literal.normalised_adjacency(a, s.normalisation))
    x = torch.from_numpy(literal.normalise_rows(graph.features.astype(float), s.features))
    with seeded(seed):
        weights = [torch.empty(graph.d, s.hidden), torch.empty(s.hidden, graph.c)]
        weights = [torch.nn.init.xavier_uniform_(w).double().requires_grad_() for w in weights]
    groups = [{"params": weights[:1], "weight_decay": s.weight_decay}, {"params": weights[1:]}]
    optimiser = torch.optim.Adam(groups, lr=s.lr)
    truth = torch.from_numpy(np.eye(graph.c)[graph.labels[train]])
    for _ in range(s.epochs):
        optimiser.zero_grad()
        logits = prop @ torch.clamp(prop @ x @ weights[0], min=0) @ weights[1]
        literal.l_cross(logits[train], truth, "mean").backward()
        optimiser.step()
    return (prop @ torch.clamp(prop @ x @ weights[0], min=0) @ weights[1]).softmax(1).detach().numpy()


@pytest.mark.parametrize("options", [{}, {"features": "unit", "normalisation": "row", "weight_decay": 0.1}])
def test_gcn_trains_as_dense_matrices_do(graph, options):
    s = GcnSettings(dropout=0, epochs=30, hidden=8, **options)
    train = np.array([0, 1, 2, 6, 7, 9])
    found = METHODS["gcn"].fit(Task(graph, train, 4), s).probabilities
    np.testing.assert_allclose(found, dense_gcn(graph, train, s, 4), atol=1e-4)


def test_gcn_is_the_same_to_the_bit_for_a_seed(graph):
    train = np.array([0, 1, 2])
    s = GcnSettings(epochs=10)
    first, again, other = (METHODS["gcn"].fit(Task(graph, train, seed), s).probabilities for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_gcn_takes_training_nodes_in_any_order(graph):
    s = GcnSettings(dropout=0, epochs=10)
    order = np.random.default_rng(0).permutation(graph.n)
    first, second = (METHODS["gcn"].fit(Task(graph, train), s).probabilities for train in (order, np.sort(order)))
    np.testing.assert_allclose(first, second, atol=1e-4)
