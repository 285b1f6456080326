"""The code of one figure: the statements of its page that it needs, as a script that saves the picture."""

import ast
import dis
import re

SPENT = {"rng"}  # each use of it changes what the next one gives
CHANGING = {"append", "extend", "update"}  # methods


def script(cells, figure):
    """Python that draws what the last of code cells assigns to `figure`, and saves it.

    cells: sources, in the order of the page.
    figure: its name, which becomes that of the file.
    """
    kept, needed = [], {"figure"}
    statements = [(source, statement) for source in cells for statement in ast.parse(source).body]
    for source, statement in reversed(statements):
        used, bound, changed = _names(statement)
        if not (bound | changed | used & SPENT) & needed:
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            statement.names = [alias for alias in statement.names if (alias.asname or alias.name) in needed]
            kept.append(ast.unparse(statement))
        else:
            kept.append(ast.get_source_segment(source, statement))
        if isinstance(statement, (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef)):
            needed -= bound
        needed |= used
    return "\n".join([*reversed(kept), f'figure.savefig("{figure}.svg")', ""])


def _names(statement):
    """Global names that a statement uses, those that it binds, and those of objects that it changes."""
    parts = list(ast.walk(statement))
    code = compile(ast.Module([statement], []), "cell", "exec")
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    used = _operands(code, "LOAD_NAME", "LOAD_GLOBAL")
    used |= {name for text in texts for name in re.findall(r"@(\w+)", text)}  # as pandas names them in a query
    targets = [target for part in parts if isinstance(part, ast.Assign) for target in part.targets]
    items = [target.value for target in targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    items += [part.value for part in parts if isinstance(part, ast.Attribute) and part.attr in CHANGING]
    return used, _operands(code, "STORE_NAME"), {item.id for item in items if isinstance(item, ast.Name)}


def _operands(code, *operations):
    """What operations of compiled code, and of the functions within it, act on."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    within = [constant for constant in code.co_consts if hasattr(constant, "co_code")]
    return names.union(*(_operands(part, *operations) for part in within))
