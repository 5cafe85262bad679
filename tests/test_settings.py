"""Settings: mistakes are readable errors, files read back as written, old names are read with a warning."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dccgcn.errors import SettingsError
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.networks.baselines.gcn import GcnSettings
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.settings import parse_assignments, read_yaml

MODELS = {name: get_method(name).settings for name in ENTRIES}


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request):
    return request.param


@pytest.mark.parametrize(("name", "meant"), [("lambda_1", "lambda1"), ("hiden1", "hidden1"), ("K", "k"), ("zzz", None)])
def test_an_unknown_option_is_refused_with_the_nearest(name, meant):
    with pytest.raises(SettingsError) as caught:
        DccSettings.of({"lr": 0.1, name: 1})
    assert f"There is no option {name!r}." in caught.value.what
    assert ("Did you mean" in caught.value.what) == (meant is not None)
    if meant:
        assert f"Did you mean {meant!r}?" in caught.value.what
    assert "lambda2" in caught.value.remedy  # all options are listed


@pytest.mark.parametrize(
    "option",
    [
        {"k": 0}, {"m": 0}, {"epochs": 0}, {"hidden1": 0}, {"k": -3}, {"k": 2.5}, {"k": "many"}, {"k": None},
        {"lr": 0}, {"lr": -0.1}, {"lr": float("nan")}, {"weight_decay": -1e-9}, {"weight_decay": float("nan")},
        {"dropout": 1}, {"dropout": -0.1}, {"lambda1": -1}, {"lambda2": -1}, {"phi": 0}, {"influence_bias": 0},
        {"head_weight": -1}, {"calibrate_from": 1.1}, {"calibrate_from": -0.1},
        *({name: float("inf")} for name in ("lr", "weight_decay", "lambda1", "phi", "influence_bias")),
        {"mu": "softmx"}, {"influence": ""}, {"calibration": "perhaps"},
    ],
    ids=str,
)  # fmt: skip
def test_an_option_out_of_range_is_refused_by_name(option):
    (name,) = option
    with pytest.raises(SettingsError, match=rf"Option {name} = ") as caught:
        DccSettings.of(option)
    assert DccSettings.model_fields[name].description in caught.value.remedy


@pytest.mark.parametrize("option", [{"k": 1}, {"m": 1}, {"dropout": 0}, {"weight_decay": 0}, {"calibrate_from": 1}])
def test_the_ends_of_a_range_are_in_it(option):
    (name,) = option
    assert getattr(DccSettings.of(option), name) == option[name]


def test_settings_cannot_be_changed_but_copied(model):
    settings = model()
    with pytest.raises(ValueError, match="frozen"):
        setattr(settings, next(iter(model.model_fields)), None)
    assert settings.changed({}) == settings
    if "lr" in model.model_fields:  # what is solved for has no learning rate
        assert settings.changed({"lr": 0.5}).lr == 0.5
        with pytest.raises(SettingsError, match="lr"):
            settings.changed({"lr": -1})


def test_every_option_says_what_it_means(model):
    assert all(field.description and field.description.endswith(".") for field in model.model_fields.values())


@pytest.mark.parametrize(
    "settings",
    [
        DccSettings(),
        DccSettings(lr=1e-5, weight_decay=5e-9, k=10, mu="softmax", share_mu=False, normalisation="none"),
        GcnSettings(),
        GcnSettings(features="raw", weight_decay=0, dropout=1 / 3),
    ],
    ids=["dcc", "dcc changed", "gcn", "gcn changed"],
)
def test_what_is_written_reads_back_as_itself(tmp_path, settings):
    file = tmp_path / "settings.yaml"
    file.write_text(settings.to_yaml(), encoding="utf-8")
    read = read_yaml(file)
    assert type(settings).of(read) == settings
    assert {name: type(value) for name, value in read.items()} == {
        name: type(value) for name, value in settings.model_dump().items()
    }
    comments = [line[2:] for line in settings.to_yaml().splitlines() if line.startswith("# ")]
    assert comments == [field.description for field in type(settings).model_fields.values()]


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(1, 10**12), st.booleans())
def test_any_number_survives_yaml(lr, k, flag):
    settings = DccSettings(lr=lr, k=k, calibration=flag)
    assert DccSettings.of(yaml.safe_load(settings.to_yaml())) == settings


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "holds no settings"), (b"- 1\n", "holds no settings"), (b"k: [1", "not readable"), (b"\xff\xfe\x00", "not"),
     (b"format: 2\nk: 5\n", "is of format 2, and this version of dccgcn reads format 1")],
)  # fmt: skip
def test_a_file_without_settings_is_refused(tmp_path, content, message):
    file = tmp_path / "settings.yaml"
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=message) as caught:
        read_yaml(file)
    assert str(file) in caught.value.what
    with pytest.raises(SettingsError, match=r"no settings file .*nowhere\.yaml"):
        read_yaml(tmp_path / "nowhere.yaml")
    file.write_text("lr: 1e-4\nk: 5\n", encoding="utf-8")  # a hand-written exponent is a number
    assert DccSettings.of(read_yaml(file)) == DccSettings(lr=1e-4, k=5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4), ("1E-4", 1e-4), ("2.5e3", 2500.0), ("0.5", 0.5), ("7", 7), ("-3", -3),
        ("softmax", "softmax"), ("none", "none"), ("row", "row"), ("inverse", "inverse"), ("free", "free"),
        ("a=b", "a=b"), ("'7'", "7"), ("true", True), ("True", True), ("yes", True), ("on", True), ("false", False),
        ("no", False), ("off", False),
    ],
)  # fmt: skip
def test_assignments_are_read_as_what_they_look_like(text, value):
    (found,) = parse_assignments([f"x={text}"]).values()
    assert found == value
    assert type(found) is type(value)


def test_assignments_become_settings():
    given = ["lr=1e-4", "k = 5", "calibration=false", "share_mu=true", "mu=softmax", "epochs=1e2", "normalisation=none"]
    assert DccSettings.of(parse_assignments(given)) == DccSettings(
        lr=1e-4, k=5, calibration=False, share_mu=True, mu="softmax", epochs=100, normalisation="none"
    )


@pytest.mark.parametrize("text", ["k", "=5", "", "k:5"])
def test_what_is_no_assignment_is_refused(text):
    with pytest.raises(SettingsError, match=r"not an assignment.*option=value"):
        parse_assignments([text])
