"""What pyproject.toml can't say: the compiled reader, which may fail to compile.

With the environment variable SANITIZE, its memory accesses are checked (`make fuzz`).
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = "refreader_spacy/reader/kernels"
UNIX = sys.platform != "win32"
SANITIZE = bool(os.environ.get("SANITIZE"))
QUICK = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
CHECKED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
flags = CHECKED if SANITIZE else QUICK if UNIX else []

modules = cythonize(
    [
        Extension(
            "refreader_spacy.reader.kernels.entity",
            [f"{FOLDER}/entity.pyx"],
            depends=[f"{FOLDER}/entity.h"],
            extra_compile_args=flags,
            extra_link_args=["-fsanitize=address,undefined"] if SANITIZE else [],
        )
    ]
)
for module in modules:
    module.optional = (
        not SANITIZE
    )  # without a compiler, NumPy reads; cythonize forgets it
setup(ext_modules=modules)
