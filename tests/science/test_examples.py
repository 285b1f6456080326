"""What the packages offer has examples that run, and importing costs nothing before it is used."""

import doctest
import subprocess
import sys

import pytest

import attention_book
import attention_phases

OFFERED = [*sorted({*attention_phases.__all__} - {"BadInput"}), "sweep"]


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFERED)
def test_the_example_of_what_is_offered_runs(name):
    package, finder = attention_book if name == "sweep" else attention_phases, doctest.DocTestFinder(recurse=False)
    thing = getattr(package, name)
    (example,) = finder.find(thing, name, globs={})
    assert example.examples, "no example"
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(example).failed == 0


def test_to_import_the_library_loads_nothing_large_and_theory_no_torch():
    code = "import sys, attention_phases; print({'torch', 'numba', 'scipy', 'pandas'} & set(sys.modules))"
    code += "; import attention_book.experiments.theory_lines; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "set()\nFalse\n"
    assert set(attention_phases.__all__) == set(dir(attention_phases))
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = attention_phases.trian
