"""DCC-GCN as a whole: a training step against dense matrices, and what must hold of every prediction."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.api import run
from dccgcn.errors import GraphError, TrainingError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split
from dccgcn.models.dcc.method import TrainingStep, build_operators, classify, fit
from dccgcn.models.dcc.model import DccGcn
from dccgcn.models.dcc.settings import DccSettings
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import METHODS, Method
from dccgcn.models.training import seeded, train_full_batch
from dccgcn.operators import topology_operator
from helpers import literal

N, C = 24, 3
TRAIN = np.array([0, 2, 3, 7, 11, 12, 16, 20])


def small_graph(seed=0, order=None):
    """24 nodes with real-valued features, so that no two neighbours tie; order permutes them."""
    rng = np.random.default_rng(seed)
    order = np.arange(N) if order is None else order
    x, edges, weights = rng.normal(size=(N, 7)), rng.integers(0, N - 1, (26, 2)), rng.uniform(0.5, 2, 26)
    labels = np.arange(N) % C
    place = np.argsort(order)  # where each node went
    return NodeGraph(x[order], place[edges], labels[order], edge_weights=weights)


@pytest.fixture(scope="module")
def graph():
    return small_graph()


def settings_of(**options):
    return DccSettings.of({"hidden1": 6, "hidden2": 4, "k": 2, "dropout": 0.0, "epochs": 4, **options})


def random_model(graph, s, seed=0):
    """Parameters away from where they start, so that no term of the loss is special."""
    with seeded(seed):
        model = DccGcn(graph.n, graph.d, graph.c, s)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter += (1.0 if "theta" in name else 0.1 if "bias" in name else 0.4) * torch.randn_like(parameter)
    return model


def torn_model(graph, s):
    """The first random model whose channels agree on some nodes only and let a labelled node be calibrated."""
    operators = build_operators(graph, s)
    for seed in range(100):
        model = random_model(graph, s, seed)
        prediction = classify(graph, operators, model)
        low = ~prediction.channels_agree[TRAIN]
        if 0.2 < prediction.channels_agree.mean() < 0.8 and (
            low.any() if not s.calibration else prediction.corrected[TRAIN].any()
        ):
            return model.train()
    raise AssertionError("no such model")


def doubled(model):
    return {name: p.detach().double().requires_grad_(p.requires_grad) for name, p in model.named_parameters()}


def compare_step(graph, s, epoch, calibrating):
    """The loss of a step and all its gradients against the literal one."""
    model = torn_model(graph, s)
    loss = TrainingStep(graph, TRAIN, build_operators(graph, s), model, seed=0).loss(epoch)
    loss.backward()
    parameters = doubled(model)
    expected, seen = literal.step_loss(graph, TRAIN, s, parameters, calibrating)
    expected.backward()
    assert 0 < seen["high"].sum() < N
    assert seen["corrected"][TRAIN].any() == calibrating  # so that the labelled nodes' own calibration is in the loss
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            known = parameters[name].grad
            assert parameter.grad is not None, name
            tolerance = 1e-5 * max(1.0, float(known.abs().max()))
            torch.testing.assert_close(parameter.grad.double(), known, rtol=1e-4, atol=tolerance, msg=name)


# a training step


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("influence", ["softmax", "inverse"])
@pytest.mark.parametrize("propagation", ["product", "normalised", "influence"])
@pytest.mark.parametrize("calibration_sum", ["normalised", "plain"])
def test_step_with_every_kind_of_weight(graph, calibrate_from, influence, propagation, calibration_sum):
    s = settings_of(
        calibrate_from=calibrate_from, influence=influence, propagation=propagation, calibration_sum=calibration_sum
    )
    compare_step(graph, s, epoch=0, calibrating=calibrate_from == 0)


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("mu", ["softmax", "free"])
@pytest.mark.parametrize("share_mu", [True, False])
@pytest.mark.parametrize("smooth_over", ["topology", "both"])
@pytest.mark.parametrize("penalty_reduction", ["sum", "mean"])
def test_step_with_every_kind_of_label_distribution(
    graph, calibrate_from, mu, share_mu, smooth_over, penalty_reduction
):
    s = settings_of(
        calibrate_from=calibrate_from,
        mu=mu,
        share_mu=share_mu,
        smooth_over=smooth_over,
        penalty_reduction=penalty_reduction,
    )
    compare_step(graph, s, epoch=0, calibrating=calibrate_from == 0)


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("channel_classifier", ["padded", "mlp"])
@pytest.mark.parametrize("aggregation", [True, False])
@pytest.mark.parametrize("cross_entropy_reduction", ["mean", "sum"])
@pytest.mark.parametrize("calibration_bias", [1e-9, 1.0])
def test_step_with_every_kind_of_classification(
    graph, calibrate_from, channel_classifier, aggregation, cross_entropy_reduction, calibration_bias
):
    s = settings_of(
        calibrate_from=calibrate_from,
        channel_classifier=channel_classifier,
        aggregation=aggregation,
        cross_entropy_reduction=cross_entropy_reduction,
        calibration_bias=calibration_bias,
        output_activation=False,
    )
    compare_step(graph, s, epoch=0, calibrating=calibrate_from == 0)


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize(
    "options",
    [
        {"aggregation": False},
        {"output_activation": True, "channel_classifier": "mlp"},
        {"aggregation": False, "output_activation": True, "share_mu": False},
        {"learn_sigma": False},
        {"normalisation": "symmetric", "features": "raw"},
        {"normalisation": "none", "features": "row"},
        {"m": 1},
        {"m": 3, "influence": "softmax"},
        {"phi": 0.3, "head_weight": 0.2, "lambda1": 2.0, "lambda2": 0.0, "influence_bias": 0.2},
        {"influence_bias": 0.2, "calibration_bias": 3.0},
        {"channel_classifier": "padded", "calibration_rounds": 10},
        {"k": N - 1},
    ],
    ids=lambda options: ", ".join(f"{name}={value}" for name, value in options.items()),
)
def test_step_with_the_other_choices(graph, calibrate_from, options):
    compare_step(graph, settings_of(calibrate_from=calibrate_from, **options), 0, calibrate_from == 0)


def test_step_calibrates_from_the_epoch_asked_for(graph):
    for epoch in range(4):
        compare_step(graph, settings_of(calibrate_from=0.5), epoch, calibrating=epoch >= 2)
    compare_step(graph, settings_of(calibrate_from=0.0, calibration=False), 0, calibrating=False)


def test_step_takes_training_nodes_in_any_order_and_once(graph):
    s = settings_of(calibrate_from=0.0)
    model, operators = torn_model(graph, s), build_operators(graph, s)
    shuffled = np.array([20, 3, 3, 0, 2, 16, 12, 11, 7])
    losses = [TrainingStep(graph, train, operators, model, 0).loss(0).item() for train in (TRAIN, shuffled)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("calibration_bias", [1e-9, 1.0])
def test_step_is_finite_where_every_distribution_is_the_same(graph, calibrate_from, calibration_bias):
    s = settings_of(calibrate_from=calibrate_from, calibration_bias=calibration_bias)
    model = random_model(graph, s)
    with torch.no_grad():
        model.mu_scores[0].fill_(0.3)
    loss = TrainingStep(graph, TRAIN, build_operators(graph, s), model, 0).loss(0)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_weight_decay_spares_the_label_distributions(graph):
    model = random_model(graph, settings_of(share_mu=False, weight_decay=0.1))
    network, free = model.groups()
    assert network["weight_decay"] == 0.1
    assert "weight_decay" not in free
    assert {id(p) for p in free["params"]} == {id(p) for p in [*model.mu_scores, *model.log_s]}
    assert len(network["params"]) + len(free["params"]) == len(list(model.parameters()))
    fixed = random_model(graph, settings_of(learn_sigma=False))
    assert {id(p) for p in fixed.groups()[1]["params"]} == {id(p) for p in fixed.mu_scores}


# classifying


@pytest.mark.parametrize(
    "options",
    [{}, {"influence": "softmax", "propagation": "product"}, {"calibration_sum": "plain", "m": 1}, {"share_mu": False}],
)
@pytest.mark.parametrize("aggregation", [True, False])
def test_classify_against_dense_matrices(graph, options, aggregation):
    s = settings_of(aggregation=aggregation, **options)
    model = torn_model(graph, s)
    prediction = classify(graph, build_operators(graph, s), model)
    parameters = doubled(model)
    for calibrating, found in ((True, prediction.probabilities), (False, prediction.uncorrected)):
        _, seen = literal.step_loss(graph, TRAIN, s, parameters, calibrating)
        np.testing.assert_allclose(found, seen["logits"].softmax(1).detach(), rtol=2e-4, atol=1e-6)
    _, seen = literal.step_loss(graph, TRAIN, s, parameters, True)
    assert prediction.channels_agree.tolist() == seen["high"].tolist()
    assert prediction.corrected.tolist() == seen["corrected"].tolist()
    assert prediction.corrected.any()
    same = [p.argmax(axis=1) for p in prediction.channels.values()]
    np.testing.assert_array_equal(prediction.channels_agree, same[0] == same[1])


@pytest.mark.parametrize("channel_classifier", ["padded", "mlp"])
@pytest.mark.parametrize("aggregation", [True, False])
@pytest.mark.parametrize("rounds", [1, 2, 3, 10])
def test_calibration_in_rounds_against_dense_matrices(graph, channel_classifier, aggregation, rounds):
    s = settings_of(
        channel_classifier=channel_classifier, aggregation=aggregation, calibration_rounds=rounds, m=1,
        calibration_bias=1e-9, output_activation=False,
    )  # fmt: skip
    joined = 0
    for seed in range(12):
        model = random_model(graph, s, seed)
        prediction = classify(graph, build_operators(graph, s), model)
        _, seen = literal.step_loss(graph, TRAIN, s, doubled(model), True, rounds)
        expected = seen["logits"].softmax(1).detach()
        np.testing.assert_allclose(prediction.probabilities, expected, rtol=2e-3, atol=1e-5)
        assert prediction.channels_agree.tolist() == seen["high"].tolist()  # the selection, before any calibration
        assert prediction.corrected.tolist() == seen["corrected"].tolist()
        joined += int((seen["trusted"] & ~seen["high"]).sum())
    assert joined > 0


def test_padded_classification_has_no_weights_of_its_own(graph):
    """What Eq. 12 does not train is not there: Eq. 8's layer classifies each channel too."""
    model = random_model(graph, settings_of(channel_classifier="padded"))
    assert not list(model.classifiers.parameters())
    prediction = classify(graph, build_operators(graph, model.settings), model)
    logits = [np.log(p) for p in prediction.channels.values()]
    both = np.log(prediction.uncorrected) + torch.log_softmax(model.b, 0).detach().numpy()  # y1 + y2 = ŷ + b
    difference = logits[0] + logits[1] - both
    np.testing.assert_allclose(difference - difference[:, :1], 0, atol=1e-4)


def test_classify_does_not_drop_units(graph):
    calm, dropping = settings_of(), settings_of(dropout=0.9)
    operators = build_operators(graph, calm)
    first, second = (classify(graph, operators, random_model(graph, s)) for s in (calm, dropping))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


@pytest.mark.parametrize("options", [{}, {"influence": "softmax", "share_mu": False}])
def test_permuting_the_nodes_permutes_the_predictions(options):
    order = np.random.default_rng(7).permutation(N)
    s = settings_of(**options)
    graph, permuted = small_graph(), small_graph(order=order)
    model, moved = torn_model(graph, s), random_model(permuted, s)
    state = model.state_dict()
    for name in state:
        if name.startswith(("mu_scores", "log_s")):  # a row per node
            state[name] = state[name][order]
    moved.load_state_dict(state)
    here = classify(graph, build_operators(graph, s), model)
    there = classify(permuted, build_operators(permuted, s), moved)
    np.testing.assert_allclose(there.probabilities, here.probabilities[order], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(there.uncorrected, here.uncorrected[order], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(there.channels_agree, here.channels_agree[order])
    np.testing.assert_array_equal(there.corrected, here.corrected[order])


# ablations


def test_without_calibration_nothing_changes_afterwards(graph):
    prediction = fit(graph, TRAIN, settings_of(calibration=False), 0)
    assert not prediction.channels_agree.all()
    np.testing.assert_array_equal(prediction.uncorrected, prediction.probabilities)
    assert not prediction.corrected.any()


@pytest.mark.parametrize("aggregation", [True, False])
def test_without_aggregation_the_second_channel_only_selects(graph, aggregation):
    s = settings_of(aggregation=aggregation)
    model, operators = random_model(graph, s), build_operators(graph, s)
    first = classify(graph, operators, model)
    with torch.no_grad():
        model.channels[1].theta2 += 1
    second = classify(graph, operators, model)
    assert not np.array_equal(first.channels["features"], second.channels["features"])
    assert np.array_equal(first.uncorrected, second.uncorrected) == (not aggregation)


# findings of a run


def decided(model, first, second):
    """Make the channels' classifiers give one class to every node."""
    with torch.no_grad():
        for classifier, k in zip(model.classifiers, (first, second), strict=True):
            classifier[2].weight.zero_()
            classifier[2].bias.zero_()
            classifier[2].bias[k] = 1
    return model


def test_row_35_no_disagreement_is_a_note_and_changes_nothing(graph):
    s = settings_of(channel_classifier="mlp")
    prediction = classify(graph, build_operators(graph, s), decided(random_model(graph, s), 1, 1))
    assert [(f.level, f.code) for f in prediction.findings] == [("note", "no-disagreement")]
    assert prediction.channels_agree.all()
    assert not prediction.corrected.any()
    np.testing.assert_array_equal(prediction.uncorrected, prediction.probabilities)


def test_row_35_nothing_but_disagreement_is_a_warning_and_changes_nothing(graph):
    s = settings_of(channel_classifier="mlp")
    prediction = classify(graph, build_operators(graph, s), decided(random_model(graph, s), 0, 2))
    assert [(f.level, f.code) for f in prediction.findings] == [("warning", "no-agreement")]
    assert not prediction.channels_agree.any()
    assert not prediction.corrected.any()
    np.testing.assert_array_equal(prediction.uncorrected, prediction.probabilities)


def test_row_34_a_node_without_trusted_neighbours_keeps_its_own_and_is_counted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 7))
    x[-2:] = 0  # no edge in either graph, so that their embeddings are 0 and the classifiers' biases decide
    graph = NodeGraph(x, rng.integers(0, N - 2, (26, 2)), np.arange(N) % C)
    s = settings_of(output_activation=False, channel_classifier="mlp")
    model = random_model(graph, s)
    with torch.no_grad():
        for k, classifier in enumerate(model.classifiers):
            classifier[0].bias.zero_()
            classifier[2].bias.copy_(torch.eye(C)[k] / 100)
    prediction = classify(graph, build_operators(graph, s), model)
    left = ~prediction.channels_agree & ~prediction.corrected
    assert left[-2:].all()
    assert prediction.corrected.any()
    np.testing.assert_array_equal(prediction.probabilities[left], prediction.uncorrected[left])
    assert np.isfinite(prediction.probabilities).all()
    (finding,) = (f for f in prediction.findings if f.code == "uncalibrated")
    assert f"{left.sum()} of {(~prediction.channels_agree).sum()} low-confidence nodes" in finding.text


# training


def test_same_seed_same_prediction_to_the_bit():
    s = settings_of(dropout=0.5, epochs=12, hidden1=16)
    first, again, other = (fit(small_graph(), TRAIN, s, seed) for seed in (5, 5, 6))
    for name in ("probabilities", "uncorrected", "channels_agree", "corrected"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    for kind in ("channels", "embeddings"):
        for channel, values in getattr(first, kind).items():
            assert values.tobytes() == getattr(again, kind)[channel].tobytes()
    assert not np.array_equal(first.probabilities, other.probabilities)


def test_fit_leaves_the_callers_random_numbers_alone(graph):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    fit(graph, TRAIN, settings_of(dropout=0.5), 1)
    assert torch.equal(torch.rand(3), expected)


def test_fit_learns_its_labels(graph):
    prediction = fit(graph, TRAIN, settings_of(epochs=150, lr=0.02, calibration=False), 0)
    assert (prediction.y_pred[TRAIN] == graph.labels[TRAIN]).all()


def test_fit_reports_its_progress(graph):
    seen = []
    fit(NodeGraph(graph.features, graph.edges, graph.labels), TRAIN, settings_of(), 0, lambda *step: seen.append(step))
    assert seen[0] == ("feature graph", N, N)
    assert seen[1:] == [("training", epoch, 4) for epoch in (1, 2, 3, 4)]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e10, -float("inf")])
def test_row_36_a_broken_loss_names_the_epoch_and_makes_no_step(bad):
    def train(epochs, breaks):
        w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))

        def loss(epoch):
            return w.square().sum() * (bad if epoch == breaks else 1)

        try:
            train_full_batch(loss, [{"params": [w]}], 0.1, epochs)
        finally:
            kept.append(w.detach().clone())

    kept = []
    with pytest.raises(TrainingError, match=r"in epoch 4 of 10\..*learning rate"):
        train(10, breaks=3)
    train(3, breaks=None)
    assert torch.equal(*kept)


def test_row_36_a_broken_gradient_makes_no_step():
    w = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(TrainingError):
        train_full_batch(
            lambda epoch: w.sqrt().sum(), [{"params": [w]}], 0.1, 5
        )  # the slope of a root at 0 is infinite
    assert w.isfinite().all()


def test_row_36_huge_features_are_refused_before_training(graph):
    with pytest.raises(GraphError, match="beyond single precision"):
        NodeGraph(graph.features * 1e30, graph.edges, graph.labels)


# what must hold of any graph


@st.composite
def any_graph(draw):
    """2 to 30 nodes: with or without edges, rows of zeros, twins, words or numbers; some nodes labelled."""
    n, d, classes = draw(st.integers(2, 30)), draw(st.integers(1, 8)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = rng.normal(size=(n, d)) if draw(st.booleans()) else (rng.random((n, d)) < 0.3).astype(float)
    x[rng.random(n) < draw(st.sampled_from([0.0, 0.5]))] = 0
    x[0] = x[1] + 1  # features must differ
    edges = rng.integers(0, n, (draw(st.integers(0, 3 * n)), 2))
    train = rng.permutation(n)[: draw(st.integers(2, n))]
    labels = rng.integers(0, classes, n)
    labels[train[:2]] = 0, 1
    features = sp.csr_array(x) if draw(st.booleans()) else x
    graph = NodeGraph(features, edges, labels, classes=range(classes))
    return graph, Split.from_parts(graph, "drawn", train, [], np.setdiff1d(np.arange(n), train))


@given(any_graph(), st.sampled_from(["softmax", "inverse"]), st.sampled_from([0.0, 1.0]), st.booleans())
@settings(max_examples=25)
def test_probabilities_are_finite_and_sum_to_one(drawn, influence, calibrate_from, share_mu):
    graph, split = drawn
    s = settings_of(
        k=min(3, graph.n - 1), dropout=0.5, influence=influence, calibrate_from=calibrate_from, share_mu=share_mu
    )
    result = run(graph, split, METHODS["dcc-gcn"], s, seed=0)
    prediction = result.prediction
    unseen = np.setdiff1d(np.arange(graph.c), graph.labels[split.train])
    for probabilities in (prediction.probabilities, prediction.uncorrected, *prediction.channels.values()):
        assert probabilities.shape == (graph.n, graph.c)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
        assert (probabilities >= 0).all()
        assert (probabilities[:, unseen] == 0).all()
    np.testing.assert_array_equal(prediction.y_pred, prediction.probabilities.argmax(axis=1))
    assert not (prediction.corrected & prediction.channels_agree).any()
    changed = (prediction.probabilities != prediction.uncorrected).any(axis=1)
    assert not (changed & ~prediction.corrected).any()


# classes without a label


@pytest.fixture
def unseen(graph):
    """A split that trains on classes 0 and 1 only."""
    train = np.flatnonzero(graph.labels < 2)[:6]
    return Split.from_parts(graph, "two-classes", train, [], np.setdiff1d(np.arange(N), train))


def test_an_unseen_class_has_probability_nought_and_the_method_does_not_see_it(graph, unseen):
    seen_by_method = []

    def fit(seen, train, *_):
        seen_by_method.append((seen.classes, set(seen.labels[train])))
        return Prediction(np.tile([0.25, 0.75], (N, 1)).astype(np.float32))

    result = run(graph, unseen, Method("fixed", DccSettings, fit), settings_of(), 0)
    assert seen_by_method == [(graph.classes[:2], {0, 1})]
    np.testing.assert_allclose(result.prediction.probabilities, np.tile([0.25, 0.75, 0], (N, 1)))
    assert "unseen-classes" in [f.code for f in result.findings]


def test_with_an_unseen_class_in_the_middle_the_columns_stay_in_place(graph):
    train = np.flatnonzero(graph.labels != 1)[:8]
    split = Split.from_parts(graph, "two-classes", train, [], np.setdiff1d(np.arange(N), train))
    prediction = run(graph, split, METHODS["dcc-gcn"], settings_of(), 0).prediction
    for probabilities in (prediction.probabilities, prediction.uncorrected, *prediction.channels.values()):
        assert (probabilities[:, 1] == 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    shown = [p.argmax(axis=1) for p in prediction.channels.values()]
    np.testing.assert_array_equal(prediction.channels_agree, shown[0] == shown[1])


def test_fewer_classes_share_the_operator(graph):
    assert topology_operator(graph.with_classes(np.array([0, 2])), "row") is topology_operator(graph, "row")
