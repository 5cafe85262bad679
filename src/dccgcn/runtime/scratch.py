"""A scratch folder: results of finished stages as memory-mapped files, which a repeated run goes on from.

    FOLDER/dccgcn-<identity>/.lock           held while a process uses it
    FOLDER/dccgcn-<identity>/<stage>/        value.json and one .npy file for each array

The identity is a hash of the inputs, so that stages are reused by a run on the same inputs only. A stage is written to
a temporary name, synchronised to disk, and renamed when it is complete. value.json has a digest of itself and of every
file that the value consists of, those of other stages included. A process checks them once for a stage that it did not
write; a damaged stage is removed, and so made again. The folder is removed at the end of a run. What a killed or failed
run leaves is continued by the same run, and removed by any other one that uses the same folder.
"""

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, Finding
from dccgcn.runtime.csr import checked_csr
from dccgcn.runtime.files import (
    LOCK,
    is_temporary,
    lock_folder,
    sha256,
    sync_folder,
    temporary_path,
    write_and_sync,
    write_errors,
)
from dccgcn.runtime.memory import format_bytes

_PREFIX = "dccgcn-"
_VALUE = "value.json"
_DAMAGE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.ELOOP)


def digest_of(*parts: Any) -> str:
    """A hash of arrays, sparse matrices and texts, 16 hexadecimal digits."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        if sp.issparse(part):
            part = sp.csr_array(part)
            found.update(digest_of(str(part.shape), part.data, part.indices, part.indptr).encode())
        elif isinstance(part, np.ndarray):
            found.update(f"{part.shape}{part.dtype}".encode())
            found.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        else:
            found.update(str(part).encode())
    return found.hexdigest()


def stages_of(cache: Any) -> "Stages | None":
    """The stages of a graph's cache, if they are kept in a folder."""
    return cache if isinstance(cache, Stages) and cache.folder is not None else None


class Stages(dict[Any, Any]):
    """A cache whose values are kept in a folder, as memory-mapped arrays, and found there again.

    Values are arrays, sparse matrices, plain values, and tuples, lists and dataclasses of them; others stay in memory.
    ``classes`` are the dataclasses that values may consist of. ``read_only``: arrays cannot be changed, their mapping
    takes none of the memory that a limit of the process allows, and another process of this run has checked them.
    """

    def __init__(self, folder: Path, classes: Mapping[str, type], prefix: str = "", *, read_only: bool = False) -> None:
        super().__init__()
        self._mode: Literal["r", "c"] = "r" if read_only else "c"
        self.folder: Path | None = folder  # None: it is gone, and values stay in memory
        self._classes, self._prefix = classes, prefix
        self._names: dict[tuple[int, int], str] = {}  # of the files of mapped arrays, by address and size
        self._digests: dict[str, str] = {}  # of files that this process has written or checked, by name
        self.damaged: list[str] = []  # stages that were found and not used
        self._children: list[Stages] = []

    def child(self, features: Any) -> "dict[Any, Any]":
        """A cache for the same graph with other features, in the same folder."""
        if self.folder is None:
            return {}
        child = Stages(self.folder, self._classes, digest_of(features))
        child._names, child._digests, child.damaged = self._names, self._digests, self.damaged
        self._children.append(child)
        return child

    def empty(self, shape: tuple[int, ...]) -> np.ndarray:
        """A float32 array to fill, mapped to a file without a name: its space is free when the array, or a killed
        process, is gone."""
        if self.folder is None or 0 in shape:
            return np.empty(shape, np.float32)
        with TemporaryFile(dir=self.folder) as file:
            return np.asarray(np.memmap(file, np.float32, "w+", shape=shape))

    def keep(self, array: np.ndarray) -> np.ndarray:
        """A copy of a float32 array, mapped to a file without a name."""
        copy = self.empty(array.shape)
        copy[:] = array
        return copy

    def close(self) -> None:
        """Keep further values in memory."""
        self.folder = None
        for child in self._children:
            child.close()

    def __contains__(self, key: object) -> bool:
        if not super().__contains__(key) and (path := self._path(key)) and os.path.lexists(path):
            try:
                super().__setitem__(key, self._read(path))
            except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                if isinstance(error, OSError) and error.errno not in _DAMAGE:
                    raise  # such as too little memory to map a file
                self._remove(path)
        return super().__contains__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if path := self._path(key):
            with suppress(_NotStorable):
                self._write(path, value)
                value = self._read(path)
        super().__setitem__(key, value)

    def read(self, key: Any) -> Any:
        """The value of a key that is known to be there."""
        if key not in self:
            raise DataFileError(f"A stage is missing in {self.folder}.", "Is the folder shared by all machines?")
        return self[key]

    def _path(self, key: object) -> Path | None:
        return self.folder / digest_of(self._prefix, repr(key)) if self.folder else None

    def _write(self, path: Path, value: Any) -> None:
        temporary = temporary_path(path.parent)
        arrays: list[np.ndarray] = []
        files: dict[str, str] = {}  # digest by name

        def keep(array: np.ndarray) -> str:
            at = array.__array_interface__["data"][0], array.nbytes
            if (name := self._names.get(at)) is None:
                arrays.append(array)
                return f"{path.name}/{len(arrays) - 1}.npy"
            files[name] = self._digests[name]
            return name

        coded = _encode(value, keep, self._classes)
        remedy = "Free some space, or choose another scratch folder. Finished stages are kept."
        with write_errors(path.parent.parent, remedy):
            try:
                temporary.mkdir()
                for number, array in enumerate(arrays):
                    with open(temporary / f"{number}.npy", "xb") as file:
                        np.save(file, array, allow_pickle=False)
                        file.flush()
                        os.fsync(file.fileno())
                    files[f"{path.name}/{number}.npy"] = sha256(temporary / f"{number}.npy")
                content = {"value": coded, "files": files}
                write_and_sync(temporary / _VALUE, json.dumps({"digest": _digest(path, content), **content}))
                sync_folder(temporary)
                os.replace(temporary, path)
                sync_folder(path.parent)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        self._digests |= files

    def _read(self, path: Path) -> Any:
        """The value of a stage; a ValueError or what follows from a damage, unless it is as it was written."""
        content = json.loads((path / _VALUE).read_text(encoding="utf-8"))
        digest, files = content.pop("digest"), content["files"]
        if digest != _digest(path, content):
            raise ValueError(f"{path / _VALUE} was altered")
        unchecked = [] if self._mode == "r" else [name for name in files if name not in self._digests]
        found = {**self._digests, **{name: sha256(path.parent / name) for name in unchecked}}
        if self._mode != "r" and any(found[name] != files[name] for name in files):
            raise ValueError(f"an array of {path} was altered")
        names: dict[tuple[int, int], str] = {}

        def load(name: str) -> np.ndarray:
            file = path.parent / name
            # copy on write: writable arrays, for which kernels are compiled already, and never a change of the file
            try:
                array = np.asarray(np.load(file, mmap_mode=self._mode, allow_pickle=False))
            except ValueError:  # an empty array cannot be mapped
                return np.asarray(np.load(file, allow_pickle=False))
            names[array.__array_interface__["data"][0], array.nbytes] = name
            return array

        value = _decode(content["value"], load, self._classes, checked_csr if unchecked else _csr)
        self._names |= names
        self._digests |= files
        return value

    def _remove(self, path: Path) -> None:
        """Remove a damaged stage, so that it is made again; and so are those that share its arrays, if these change."""
        if self._mode == "r":
            return  # it belongs to another process
        self.damaged.append(path.name)
        for name in [name for name in self._digests if name.startswith(f"{path.name}/")]:
            del self._digests[name]
        for at in [at for at, name in self._names.items() if name not in self._digests]:
            del self._names[at]
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def damage_findings(damaged: Sequence[str]) -> tuple[Finding, ...]:
    """What to say about damaged stages, which were made again."""
    if not damaged:
        return ()
    stages = "1 stage was" if len(damaged) == 1 else f"{len(damaged)} stages were"
    text = f"{stages} damaged in the scratch folder and made again. Check the disk if there was no loss of power."
    return (Finding("warning", "scratch-damaged", text),)


def _digest(path: Path, content: Mapping[str, Any]) -> str:
    """The digest of a stage under its name, so that one in the place of another is noticed."""
    return digest_of(path.name, json.dumps(content))


@contextmanager
def open_stages(folder: Path, identity: str, needed: float, classes: Mapping[str, type]) -> Iterator[Stages]:
    """The stages of a run with this identity in a scratch folder, which needs about so many bytes.

    Removes what killed runs of another identity left there.
    """
    place = folder / f"{_PREFIX}{identity}"
    with lock_folder(place):  # removes unfinished stages
        for other in folder.glob(f"{_PREFIX}*"):
            if other != place and _holds_only_stages(other):
                _remove_if_left(other)
        used = sum(file.lstat().st_size for file in place.rglob("*.npy"))
        free = shutil.disk_usage(folder).free
        if needed - used > free:
            if not used:
                shutil.rmtree(place, ignore_errors=True)
            raise DataFileError(
                f"The stages need about {format_bytes(needed)} in {folder}, where {format_bytes(free)} are free.",
                "Free some space, or choose another folder.",
            )
        stages = Stages(place, classes)
        try:
            yield stages
        finally:
            stages.close()
        shutil.rmtree(place, ignore_errors=True)  # mapped files stay readable until they are released


def _holds_only_stages(place: Path) -> bool:
    """Whether a folder was made by ``open_stages``: its name and everything in it, so that no user's file is lost."""
    if not _is_fingerprint(place.name.removeprefix(_PREFIX)) or place.is_symlink() or not (place / LOCK).is_file():
        return False
    names = [entry.name for entry in place.iterdir()]
    return all(name == LOCK or is_temporary(name) or _is_fingerprint(name) for name in names)


def _is_fingerprint(name: str) -> bool:
    return re.fullmatch("[0-9a-f]{16}", name) is not None


def _remove_if_left(place: Path) -> None:
    """Remove a folder of stages that no process holds."""
    with suppress(DataFileError), lock_folder(place):
        shutil.rmtree(place, ignore_errors=True)


class _NotStorable(Exception):
    """A value that stays in memory."""


def _encode(value: Any, keep: Callable[[np.ndarray], str], classes: Mapping[str, type]) -> Any:
    """A value as JSON; ``keep`` gives the name of the file of an array."""

    def inner(part: Any) -> Any:
        return _encode(part, keep, classes)

    match value:
        case np.ndarray() if value.dtype.kind in "biuf":
            return {"array": keep(value)}
        case sp.csr_array():
            return {"csr": [inner(value.data), inner(value.indices), inner(value.indptr)], "shape": list(value.shape)}
        case tuple():
            return {"tuple": [inner(part) for part in value]}
        case list():
            return {"list": [inner(part) for part in value]}
        case dict() if all(isinstance(key, str) for key in value):
            return {"dict": {key: inner(part) for key, part in value.items()}}
        case None | str() | int() | float():
            return value
    if is_dataclass(value) and type(value).__name__ in classes:
        parts = {field.name: inner(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"class": type(value).__name__, "fields": parts}
    raise _NotStorable


def _csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    return sp.csr_array((data, indices, indptr), shape=tuple(shape), copy=False)


def _decode(
    coded: Any, load: Callable[[str], np.ndarray], classes: Mapping[str, type], csr: Callable[..., sp.csr_array]
) -> Any:
    """The value that ``_encode`` wrote."""

    def inner(part: Any) -> Any:
        return _decode(part, load, classes, csr)

    match coded:
        case {"array": name}:
            return load(name)
        case {"csr": [data, indices, indptr], "shape": shape}:
            return csr(inner(data), inner(indices), inner(indptr), np.array(shape))
        case {"tuple": parts}:
            return tuple(inner(part) for part in parts)
        case {"list": parts}:
            return [inner(part) for part in parts]
        case {"dict": parts}:
            return {key: inner(part) for key, part in parts.items()}
        case {"class": name, "fields": parts}:
            return classes[name](**{key: inner(part) for key, part in parts.items()})
    return coded
