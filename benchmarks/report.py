"""What a benchmark says in the end, and writes down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import srsly

Targets = dict[str, tuple[str, float]]  # ">=" or "<=", by the names of results


def report(results: dict[str, Any], targets: Targets, output: Path) -> None:
    """Print results beside what was aimed for, and write all of them to a file."""
    for name, (sign, target) in targets.items():
        section, field = name.split(".")
        found = results[section][field]
        met = found >= target if sign == ">=" else found <= target
        print(
            f"{name:30} {found:12.4g}   {sign} {target:<8g} {'' if met else 'MISSED'}"
        )
    output.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(output, results)
    print(f"Written to {output}")
