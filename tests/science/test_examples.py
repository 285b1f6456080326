"""The examples in docstrings run, and importing the packages loads nothing that is slow."""

import dataclasses
import doctest
import re
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages

import pytest

import attention_book
import attention_phases

OFFERED = [*sorted({*dir(attention_phases)} - {"BadInput"}), "sweep"]


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFERED)
def test_the_example_of_what_is_offered_runs(name):
    package, finder = attention_book if name == "sweep" else attention_phases, doctest.DocTestFinder(recurse=False)
    thing = getattr(package, name)
    (example,) = finder.find(thing, name, globs={})
    assert example.examples, "no example"
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(example).failed == 0


def test_every_field_of_a_record_is_described():
    """The reference takes the description from a comment that begins with "#:", or from the docstring of the class."""
    analyzer = pytest.importorskip("sphinx.pycode").ModuleAnalyzer  # sphinx is a dependency of the book
    fields = 0
    for name in [module.name for module in walk_packages(attention_phases.__path__, "attention_phases.")]:
        said = analyzer.for_module(name).find_attr_docs()
        for kind in [kind for _, kind in getmembers(import_module(name), isclass) if kind.__module__ == name]:
            of_data_class = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else ()
            names = getattr(kind, "_fields", of_data_class)
            for field in vars(kind).get("__annotations__", {}).keys() & names:
                fields += 1
                described = (kind.__name__, field) in said or re.search(rf"\b{field}\b", kind.__doc__ or "")
                assert described, f"{name}.{kind.__name__}.{field}"
    assert fields > 100


@pytest.mark.slow
def test_to_import_the_library_and_the_commands_loads_nothing_large_and_theory_no_torch(python):
    large = {"torch", "numba", "scipy", "pandas", "matplotlib", "distributed"}
    code = f"import sys, attention_phases, attention_book.command_line.main; print({large} & set(sys.modules))"
    code += "; import attention_phases.theory; print('torch' in sys.modules)"
    assert python("-c", code).stdout == "set()\nFalse\n"
    with pytest.raises(AttributeError, match="attention_phases attribute trian"):
        getattr(attention_phases, "trian")  # noqa: B009  # a type checker knows that the name is missing
