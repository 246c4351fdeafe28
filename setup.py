"""What pyproject.toml can't say: the compiled reader, which may fail to compile."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

FOLDER = "refreader_spacy/reader/kernels"
UNIX = sys.platform != "win32"

modules = cythonize(
    [
        Extension(
            "refreader_spacy.reader.kernels.entity",
            [f"{FOLDER}/entity.pyx"],
            depends=[f"{FOLDER}/entity.h"],
            extra_compile_args=["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
            if UNIX
            else [],
        )
    ]
)
for module in modules:
    module.optional = True  # without a compiler, NumPy reads; cythonize forgets it
setup(ext_modules=modules)
