"""The seedable generator is for what is not protected, and no mechanism can take it."""

import ast
from pathlib import Path

import pytest

import discreet
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.public import generator

SRC = Path(discreet.__path__[0])


def test_a_seed_fixes_the_stream():
    assert generator(7).integers(0, 2**60, 5).tolist() == generator(7).integers(0, 2**60, 5).tolist()
    assert generator(7).integers(0, 2**60, 5).tolist() != generator(8).integers(0, 2**60, 5).tolist()


def test_the_public_generator_is_no_source_of_noise():
    with pytest.raises(AttributeError):
        DiscreteLaplace(10).draw(1, generator(7))


@pytest.mark.parametrize("module", sorted((SRC / "noise").glob("*.py")), ids=lambda path: path.name)
def test_no_sampler_imports_the_public_generator(module):
    imported = [node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.ImportFrom)]
    assert all("public" not in (node.module or "") for node in imported)
    assert all(alias.name != "public" for node in imported for alias in node.names)
