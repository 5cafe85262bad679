"""kill -9 of the labelling server at random times: no label that it acknowledged is lost."""

import sqlite3
import time
from pathlib import Path
from threading import Thread

import httpx
import numpy as np
import pandas as pd

from dccgcn.label.events import replay
from dccgcn.label.log import read_events
from helpers.served import labelling

N, CLASSES = 200, ("a", "b", "c")


def tables(folder: Path) -> list[str]:
    """A small graph, and the options that read it."""
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame({"id": [f"n{i}" for i in range(N)], "x": rng.random(N), "y": rng.random(N)})
    nodes.to_csv(folder / "nodes.csv", index=False)
    edges = pd.DataFrame(rng.integers(0, N, (400, 2)), columns=["source", "target"]).map(lambda i: f"n{i}")
    edges.to_csv(folder / "edges.csv", index=False)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--id", "id"]
    return [*tables, "--classes", ",".join(CLASSES), "--method", "lp"]


def fingerprint(folder: Path) -> str:
    with sqlite3.connect(folder / "nodes.labels.sqlite") as database:
        return str(database.execute("SELECT graph FROM about").fetchone()[0])


def send(address: str, rng: np.random.Generator, acknowledged: dict[str, str], undone: set[str]) -> None:
    """Label, skip and undo until the server is gone. Only what it answered with success is noted."""
    base = address.split("/?")[0]
    with httpx.Client(base_url=base, headers={"origin": base}, timeout=30) as client:
        try:
            client.get(address.removeprefix(base))
            while True:
                node, label = f"n{rng.integers(N)}", str(rng.choice(CLASSES))
                body = {"who": "Ann", "client": "one", "kind": "label", "node": node, "label": label}
                answer = client.post("/api/event", json=body)
                assert answer.status_code == 200, answer.text
                event = answer.json()["event"]
                acknowledged[event] = f"{node} {label}"
                if rng.random() < 0.2:
                    body = {"who": "Ann", "client": "one", "kind": "undo", "target": event}
                    assert client.post("/api/event", json=body).status_code == 200
                    undone.add(event)
        except httpx.HTTPError:  # the server is gone
            return


def kill_rounds(count: int, folder: Path, seed: int = 0, longest: float = 2.0) -> int:
    """Start, label, kill; after each kill every acknowledged event must be in the log. The number of events."""
    rng = np.random.default_rng(seed)
    options = tables(folder)
    acknowledged: dict[str, str] = {}
    undone: set[str] = set()
    for _ in range(count):
        with labelling(*options, cwd=folder) as process:
            sender = Thread(target=send, args=(process.address, rng.spawn(1)[0], acknowledged, undone))
            sender.start()
            before = len(acknowledged)
            while len(acknowledged) == before and sender.is_alive():  # until the first label of this round
                time.sleep(0.01)
            time.sleep(rng.uniform(0, longest))
            process.kill()
            process.wait()
            sender.join()
        events = {event.id: event for event in read_events(folder / "nodes.labels.sqlite", fingerprint(folder))}
        for event, what in acknowledged.items():
            assert event in events, "an acknowledged label is lost"
            assert f"{events[event].node} {events[event].label}" == what
        effective = {event.id for event in replay(events.values()).undoable["Ann"]}
        assert not undone & effective, "an acknowledged undo is lost"
    return len(acknowledged)
