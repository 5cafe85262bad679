"""The layers of the package: a module imports only from its own folder and from layers above it."""

import ast
from pathlib import Path

import pytest

import dccgcn

PACKAGE = Path(dccgcn.__file__).parent
LAYERS = [
    {"errors", "progress", "text", "settings", "palette"},
    {"runtime"},
    {"kernels"},
    {"graph"},
    {"features"},
    {"methods"},
    {"quality"},
    {"concord", "networks"},
    {"cluster"},
    {"tables"},
    {"datasets"},
    {"workflow"},
    {"store"},
    {"report"},
    {"label"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ROOT = {"__init__", "__main__"}  # they lead to all layers; any module may read dccgcn.__version__
# (module, folder): the methods of Result lead to what is built on it
KNOWN = {("workflow/result.py", "store"), ("workflow/result.py", "report")}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def imported(module: Path) -> set[str]:
    """Folders and top-level modules of the package that a module imports, at the top, in functions, or for types."""
    names = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative path"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    assert "dccgcn" not in names, f"{module} imports the whole package"
    return {name.split(".")[1] for name in names if name.startswith("dccgcn.")} - {"__version__"}


def test_imports_inside_functions_and_for_types_are_seen():
    assert {"runtime", "methods", "graph"} <= imported(Path("cli/fit.py"))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_imports_come_from_layers_above(module):
    own = module.parts[0].removesuffix(".py")
    if own not in ROOT:
        level = LEVEL[own]
        below = {name for name in imported(module) if LEVEL[name] >= level and name not in LAYERS[0] | {own}}
        assert below <= {name for where, name in KNOWN if where == str(module)}
