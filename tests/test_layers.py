"""The layers of the package: a module imports only from its own folder and from layers above it."""

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import dccgcn

PACKAGE = Path(dccgcn.__file__).parent
LAYERS = [
    {"errors", "progress", "text", "settings", "palette", "kernel_cache"},
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
# of each method; a kernel and the torch operation that wraps it
ALIKE = {"fit", "predict_new", "model_specs"} | {
    "dropout", "relu_dropout", "spmm", "sddmm", "edge_distance", "edge_distance_grad", "neighbour_softmax",
    "neighbour_softmax_grad",
}  # fmt: skip
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


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_other_folders_are_imported_through_their_init(module):
    folders = set().union(*LAYERS) - {"datasets"}
    for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and (names := str(node.module).split("."))[0] == "dccgcn"
            and len(names) > 2
        ):
            assert names[1] == module.parts[0] or names[1] not in folders, f"{module} imports {node.module}"


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.pyi")))
def test_every_name_that_a_folder_exports_exists(folder):
    package = import_module(f"dccgcn.{folder}")
    assert package.__all__
    for name in package.__all__:
        assert not isinstance(getattr(package, name), ModuleType), f"dccgcn.{folder}.{name} is also a module"


def test_no_public_name_is_defined_twice():
    where: dict[str, list[str]] = {}
    for module in MODULES:
        if module.parts[0] != "cli":  # a command is named after the function that it calls
            for node in ast.parse((PACKAGE / module).read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                    where.setdefault(node.name, []).append(str(module))
    twice = {name: files for name, files in where.items() if len(files) > 1}
    assert twice.keys() <= ALIKE, {name: files for name, files in twice.items() if name not in ALIKE}
