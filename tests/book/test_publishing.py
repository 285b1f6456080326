"""What publishes the book: CITATION.cff and workflows valid, actions pinned, all in step with the Makefile."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from attention_phases import __version__

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def check(schema, *names):
    """Check files against a schema that check-jsonschema carries."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def steps(path):
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def test_citation_is_valid_and_of_this_version():
    check("vendor.citation-file-format", "CITATION.cff")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert f'\nversion = "{__version__}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_workflows_are_valid():
    check("vendor.github-workflows", *map(str, WORKFLOWS))
    check("custom.github-workflows-require-timeout", *map(str, WORKFLOWS))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    named = re.findall(r"uses: *(.+)", path.read_text())
    assert named
    assert [action for action in named if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_make_target_of_a_workflow_exists(path):
    named = {target for step in steps(path) for target in re.findall(r"make ([a-z-]+)", step.get("run", ""))}
    assert named <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_token_that_can_write_meets_no_foreign_code(path):
    """No job may write by default, and a checkout leaves its token to no notebook."""
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] in ({}, {"contents": "read"})
    checkouts = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
