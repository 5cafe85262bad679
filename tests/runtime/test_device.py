"""The device of a run: every method predicts the same on another device as on the CPU."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from dccgcn import NodeClassifier
from dccgcn.features import topology_operator
from dccgcn.graph.splits import Split
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import seeded
from dccgcn.runtime.device import default_device, use_threads
from dccgcn.workflow.fitting import run
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import scores
from helpers import pretend
from helpers.command import dccgcn, refused
from helpers.runs import short, words_graph


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    use_threads(1)
    yield
    use_threads(before)


@pytest.fixture(scope="module")
def graph():
    return words_graph()


@pytest.mark.parametrize("checked", [range(12, 20), []], ids=["validation", "no validation"])
@pytest.mark.parametrize("method", map(get_method, ENTRIES), ids=ENTRIES.keys())
def test_every_method_predicts_the_same_on_another_device(graph, method, checked):
    split = Split.from_parts(graph, "some", np.arange(12), np.array(checked, dtype=np.int64), np.arange(20, 40))
    here, there = (run(graph, split, method, short(method), 1, device=device) for device in ("cpu", pretend.NAME))
    np.testing.assert_allclose(there.prediction.probabilities, here.prediction.probabilities, atol=1e-5)
    for name, probabilities in here.prediction.channels.items():
        np.testing.assert_allclose(there.prediction.channels[name], probabilities, atol=1e-5)
    assert there.summary()["device"] == pretend.NAME
    assert torch.get_default_device() == torch.device("cpu")


def test_the_pretended_device_refuses_what_a_gpu_would():
    there = torch.ones(3, device=pretend.NAME)
    with pytest.raises(RuntimeError, match="mixes"):
        there + torch.ones(3)
    with pytest.raises((RuntimeError, TypeError)):
        there.numpy()
    assert (2 * there).cpu().tolist() == [2, 2, 2]


def test_an_operators_tensors_are_kept_for_each_device(graph):
    operator = topology_operator(graph, "row")
    here = TorchOperator.of(operator)
    with default_device(pretend.NAME):
        there = TorchOperator.of(operator)
        assert TorchOperator.of(operator) is there
    assert (here.alpha.device.type, here.pattern.backend) == ("cpu", "numba")
    assert (there.alpha.device.type, there.pattern.backend) == (pretend.NAME, "torch")
    assert TorchOperator.of(operator) is here


def test_seeding_restores_the_random_state():
    with default_device(pretend.NAME):
        before = torch.get_rng_state()
        with seeded(3):
            first = torch.rand(4)
        assert first.device.type == pretend.NAME
        assert torch.equal(torch.get_rng_state(), before)


def test_estimators_and_jobs_use_their_device(graph):
    fitted = [
        NodeClassifier("ssgc", seed=1, graph=graph, device=device).fit(graph.ids, graph.labels)
        for device in ("cpu", pretend.NAME)
    ]
    assert [one.result_.device for one in fitted] == ["cpu", pretend.NAME]
    assert fitted[1].get_params()["device"] == pretend.NAME
    new = graph.features[:3] + 1  # nodes that were not there
    here, there = (one.predict_proba(new) for one in fitted)
    np.testing.assert_allclose(there, here, atol=1e-5)
    job = Job("cora", "per-class", 2, 0, "ssgc", 0, {"epochs": 5})
    here, there = scores(job), scores(replace(job, device=pretend.NAME))
    assert there["accuracy"] == pytest.approx(here["accuracy"], abs=0.01)


def test_label_next_trains_on_its_device(monkeypatch):
    used = []
    monkeypatch.setattr(
        "dccgcn.workflow.fitting.default_device", lambda name: used.append(name) or default_device(name)
    )
    done = dccgcn("label-next", "cora", "--method", "ssgc", "--count", "2", "--device", pretend.NAME, "--json")
    assert done.returncode == 0, done.stderr
    assert used == [pretend.NAME]
    assert len(json.loads(done.stdout)["next"]) == 2


@pytest.mark.parametrize("command", ["fit cora", "compare cora --methods lp", "label-next cora"])
def test_commands_refuse_an_unknown_device(command, tmp_path):
    refused(dccgcn(*command.split(), "--device", "tpu", cwd=tmp_path), "no device 'tpu'", "Choose one of: cpu")
