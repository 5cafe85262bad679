"""Draw the output of ``make demo`` as docs/images/demo.svg."""

import sys
from pathlib import Path

from dccgcn.cli import display, main

ARGUMENTS = "fit cora --labels-per-class 5 --baseline gcn"

if __name__ == "__main__":
    display.output.record = True
    display.output.width = 72
    display.output.print(f"$ dccgcn {ARGUMENTS}\n", style="bold")
    sys.argv = ["dccgcn", *ARGUMENTS.split()]
    try:
        main()
    finally:
        picture = Path(__file__).parent.parent / "docs" / "images" / "demo.svg"
        picture.parent.mkdir(parents=True, exist_ok=True)
        display.output.save_svg(str(picture), title="dccgcn")
