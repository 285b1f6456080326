"""What the code of one cell of a notebook needs: earlier cells, functions of this package, experiments."""

import ast
from functools import cache
from importlib import import_module

from ..experiments import GRIDS

PACKAGE = __package__.partition(".")[0]
EXPERIMENT = f"{PACKAGE}.experiments.results.experiment"


def needed(cells, number):
    """The code cells that the cell of a number needs, itself the last: those which set a name that is used later.

    Parameters
    ----------
    cells : list of nbformat.NotebookNode
    number : int

    Returns
    -------
    list of nbformat.NotebookNode
    """
    kept, wanted = [], set()
    for each in range(number, -1, -1):
        if cells[each].cell_type != "code":
            continue
        stored, used = _names(ast.parse(cells[each].source))
        if each == number or stored & wanted:
            kept.append(each)
            wanted |= used
    return [cells[each] for each in reversed(kept)]


def _names(tree):
    """Names that code sets or changes, and names that it uses."""
    stored, used = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            stored |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            stored.add(node.name)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            stored |= {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
    return stored, used


def as_program(all_cells, cells):
    """The code of some cells of a notebook, each below the line of prose that stands above it as a comment."""
    parts = []
    for cell in cells:
        above = all_cells[max(0, all_cells.index(cell) - 1)]
        hidden = above.cell_type == "markdown" and "remove-cell" in above.metadata.get("tags", ())
        comment = "".join(f"# {line}\n" for line in above.source.splitlines()) if hidden else ""
        parts.append(comment + cell.source)
    return "\n\n".join(parts) + "\n"


def imported(cells):
    """What each imported name stands for, with its dots."""
    found = {}
    for cell in cells:
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
            elif isinstance(node, ast.Import):
                found |= {each.asname or each.name.partition(".")[0]: each.name for each in node.names}
    return found


def calls(cells):
    """Calls of this package's functions: the cell, the node, and the function's full name where it is defined."""
    names = imported(cells)
    for cell in cells:
        for node in ast.walk(ast.parse(cell.source)):
            head, _, rest = ast.unparse(node.func).partition(".") if isinstance(node, ast.Call) else ("", "", "")
            if (full := names.get(head, "")).startswith(PACKAGE) and (name := _defined(f"{full}.{rest}".strip("."))):
                yield cell, node, name


@cache
def _defined(name):
    """The full name of a function where it is defined, of a name with dots by which it can be had; None if none."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            thing = import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            thing = getattr(thing, part, None)
        named = hasattr(thing, "__qualname__") and hasattr(thing, "__module__")
        return f"{thing.__module__}.{thing.__qualname__}" if named else None
    return None


def functions(cells):
    """Functions of this package that some cells call: the drawing ones, and those that compute."""
    called = dict.fromkeys(name for *_, name in calls(cells) if not name.endswith(".use_svg"))
    draws = [name for name in called if ".figures." in name or name.rpartition(".")[2].startswith("draw")]
    return {"draw": draws, "compute": [name for name in called if name not in draws]}


def experiments(cells, values):
    """Experiments that some cells read, by name, with what each is changed by.

    Parameters
    ----------
    cells : list of nbformat.NotebookNode
    values : dict
        Parameters of the notebook, by name.

    Returns
    -------
    dict of dict
    """
    found = {}
    for cell, node, name in calls(cells):
        if name == EXPERIMENT:
            inside = [node.args[0]] if isinstance(node.args[0], ast.Constant) else ast.walk(ast.parse(cell.source))
            words = [each.value for each in inside if isinstance(each, ast.Constant) and each.value in GRIDS]
            changes = {each.arg: each.value for each in node.keywords if each.arg != "quiet"}
            changes = {arg: values[value.id] if isinstance(value, ast.Name) else ast.literal_eval(value)
                       for arg, value in changes.items()}  # fmt: skip
            found |= dict.fromkeys(words, changes)
    return found
