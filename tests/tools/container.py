"""The commands where neither the package nor the home folder can be written, as in many containers.

    cd tests && ../.venv/bin/python -m tools.container    # as `make container` does: about two minutes

Both folders are mounted read-only in a mount namespace (unshare), which leaves the rest of the machine alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import dccgcn

COMMANDS = [
    "methods",
    "datasets",
    "doctor cora",
    "fit cora --labels-per-class 2 --method lp --out out --report",
    "label-next out --count 2",
    "report out --out page.html",
    "export cora tables",
    "compare cora --methods lp,poisson --splits 1 --jobs 1",
]
MOUNT = (
    'for folder in "$1" "$2"; do mount --bind "$folder" "$folder" && mount -o remount,ro,bind "$folder" || exit 9; done'
)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package, home, work = (folder / part for part in ("package", "home", "work"))
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(dccgcn.__file__).parent, package / "dccgcn", ignore=ignored)
        home.mkdir()
        work.mkdir()
        lines = [f"{sys.executable} -m dccgcn {command}" for command in COMMANDS]
        checks = [
            'touch "$2/x" 2>/dev/null && exit 8',
            *(f"echo '== {line}' && {line} > /dev/null || exit 7" for line in lines),
        ]
        script = "\n".join([MOUNT, *checks])
        kept = {key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
        environment = {**kept, "HOME": str(home), "PYTHONPATH": str(package)}
        command = ["unshare", "--mount", "--map-root-user", "bash", "-c", script, "bash", str(package), str(home)]
        done = subprocess.run(command, cwd=work, env=environment, check=False)
    explained = {9: "mounting is not allowed here", 8: "the home folder was written to", 7: "a command failed"}
    print(explained.get(done.returncode, "Every command worked." if done.returncode == 0 else "unshare failed"))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
