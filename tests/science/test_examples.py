"""The examples in the docstrings of the verbs run, and importing these costs nothing before they are used."""

import doctest
import subprocess
import sys

import pytest

import attention_phases

VERBS = sorted(set(attention_phases.__all__) - {"BadInput", "Cluster", "Direction", "Measured", "linear_baseline"})


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_the_example_of_a_verb_runs(name):
    thing, finder = getattr(attention_phases, name), doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(thing, name, globs={})
    assert example.examples, "no example"
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(example).failed == 0


def test_to_import_the_library_loads_nothing_large():
    code = "import sys, attention_phases; print({'torch', 'numba', 'scipy', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "set()\n"
    assert set(attention_phases.__all__) == set(dir(attention_phases))
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = attention_phases.trian
