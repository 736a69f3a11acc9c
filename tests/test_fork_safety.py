"""A child that is forked from a process that has computed is told so; it does not wait for threads that it lacks."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARENT = """
import os, sys, warnings
warnings.simplefilter("ignore")
import polars as pl
import reticent as rt

def job():
    return rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(2)])

def frame():
    return pl.DataFrame({"age": [20, 20, 30, 30] * 5, "illness": ["flu", "cold"] * 10})

def in_child(asked):
    number = os.fork()
    if number == 0:
        try:
            asked()
            print("worked", flush=True)
        except rt.errors.ReticentError as error:
            print(type(error).__name__, str(error).replace(chr(10), " "), flush=True)
        os._exit(0)
    assert os.waitpid(number, 0)[1] == 0

def publish():
    rt.publish(job(), frame=frame())
"""
REFUSED = "RequestError This process was forked from one that had computed tables already"


def run(script, *, seconds=100):
    """What a Python process of its own prints; one that waits for ever is killed and fails the test."""
    ran = subprocess.run(
        [sys.executable, "-c", PARENT + script], capture_output=True, text=True, timeout=seconds, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout.splitlines()


@pytest.mark.parametrize("used", ["publish()", "frame().sort('age').lazy().collect()"])
def test_a_child_forked_after_use_is_refused_whatever_it_asks_for(used):
    asked = [
        "publish",
        "lambda: rt.check(job(), frame=frame())",
        "lambda: rt.risk(frame())",
        "lambda: rt.open('nowhere')",
    ]
    found = run(used + "\n" + "\n".join(f"in_child({one})" for one in asked) + "\npublish()\nprint('parent goes on')\n")
    assert found[-1] == "parent goes on"
    assert len(found) == len(asked) + 1
    assert all(line.startswith(REFUSED) and 'get_context("spawn")' in line for line in found[:-1])


def test_a_grandchild_of_a_process_that_was_used_is_refused_too():
    refused, outer = run("frame().sort('age')\nframe().lazy().collect()\nin_child(lambda: in_child(publish))\n")
    assert refused.startswith(REFUSED) and outer == "worked"


def test_a_process_that_has_only_loaded_the_package_may_fork():
    loaded = "import reticent.publish, reticent.audit, reticent.methods.mondrian\n"
    assert run(loaded + "in_child(publish)\n") == ["worked"]


def test_processes_that_are_spawned_work_after_use(tmp_path):
    script = (
        PARENT
        + """
if __name__ == "__main__":
    import multiprocessing
    publish()
    child = multiprocessing.get_context("spawn").Process(target=publish)
    child.start()
    child.join()
    print(child.exitcode)
"""
    )
    (tmp_path / "spawning.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "spawning.py")], capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.stdout.splitlines() == ["0"], ran.stderr[-2000:]
