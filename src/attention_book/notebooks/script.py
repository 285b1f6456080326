"""The code of one figure: the statements of its page that it needs, as a script that saves the picture."""

import ast
import dis

SPENT = {"rng"}  # each use of it changes what the next one gives


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
    """Global names that a statement uses, those that it binds, and those of which it sets an item or an attribute."""
    code = compile(ast.Module([statement], []), "cell", "exec")
    targets = [target for node in ast.walk(statement) if isinstance(node, ast.Assign) for target in node.targets]
    items = [target.value for target in targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    changed = {item.id for item in items if isinstance(item, ast.Name)}
    return _operands(code, "LOAD_NAME", "LOAD_GLOBAL"), _operands(code, "STORE_NAME"), changed


def _operands(code, *operations):
    """What operations of compiled code, and of the functions within it, act on."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    within = [constant for constant in code.co_consts if hasattr(constant, "co_code")]
    return names.union(*(_operands(part, *operations) for part in within))
