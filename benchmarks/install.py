"""From nothing to the first clusters: time, and room on disk, of a fresh environment.

    python -m benchmarks.install

Makes a virtual environment in a temporary folder, installs torch's CPU build
(constraints.txt) and this package's wheel there, and reads a text. pip may take what it
has downloaded before, so time depends on the network and on its cache. Writes
metrics/install.json.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.report import Targets, report

ROOT = Path(__file__).resolve().parents[1]
TARGETS: Targets = {
    "install.seconds": ("<=", 180.0),
    "install.megabytes": ("<=", 1500.0),
}


def main() -> None:
    """Install, read, and look at clock and disk."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--outdir", name, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        (wheel,) = folder.glob("*.whl")
        environment = folder / "environment"
        started = monotonic()
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        python = environment / "bin" / "python"
        pip = [python, "-m", "pip", "install", "--quiet"]
        constraints = ROOT / "constraints.txt"
        subprocess.run([*pip, "-c", constraints, "torch", wheel], check=True)
        subprocess.run([python, ROOT / "tests" / "smoke.py"], check=True, cwd=folder)
        seconds = monotonic() - started
        (packages,) = environment.glob("lib/python*/site-packages")
        found = {
            "seconds": seconds,
            "megabytes": megabytes(environment),
            "torch_megabytes": megabytes(packages / "torch"),
            "package_megabytes": megabytes(packages / "refreader_spacy"),
            "wheel_megabytes": wheel.stat().st_size / 1e6,
        }
    report({"install": found}, TARGETS, ROOT / "metrics" / "install.json")


def megabytes(folder: Path) -> float:
    """What the files of a folder take."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if not path.is_symlink()) / 1e6


if __name__ == "__main__":
    main()
