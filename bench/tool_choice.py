"""Check whether the list of tools alone leads a reader to the right tool, for the tasks in tests/fixtures.

    .venv/bin/python bench/tool_choice.py --seed 7                      # prints the list and the tasks, in random order
    .venv/bin/python bench/tool_choice.py --seed 7 --reader WHO [--record] < ANSWERS

The reader writes one tool per line, in the order of the tasks. WHO says who read it, and whether the reader had seen
the tasks or written the texts: a reader who knows the answers proves little.
"""

import argparse
import random
import subprocess
import sys
import tomllib

from record import HERE, save_record

from keyhole.core.types.choices import ToolSet
from keyhole.core.view.budget.tokens import estimate_tokens

TASKS = HERE.parent / "tests/fixtures/tool_tasks.toml"
LEAST_SHARE = 28 / 30
# In its own process: in this folder, mcp.py would be imported in place of the library of that name.
LIST = """
import sys
from keyhole.core.types.choices import ToolSet
from keyhole.mcp_server.definitions import definitions
print("[" + ",\\n".join(tool.sent for tool in definitions(ToolSet(sys.argv[1]))) + "]")
"""


def main() -> None:
    """Print the questions, or compare the answers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--reader")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    tasks = tomllib.loads(TASKS.read_text())["task"]
    random.Random(options.seed).shuffle(tasks)
    if not options.reader:
        print_questions(tasks)
        return
    figures = compare(tasks, sys.stdin.read().split())
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.record:
        print(save_record("tool-choice", {"reader": options.reader, "seed": options.seed, **figures}))


def print_questions(tasks: list[dict[str, str]]) -> None:
    """Print the list as it is sent, and the tasks without their tools."""
    print(tool_list(ToolSet.ALL))
    print("\n".join(f"{number}. {task['task']}" for number, task in enumerate(tasks, 1)))


def tool_list(tools: ToolSet) -> str:
    """Return the list of tools as it is sent, with a line for each tool."""
    command = [sys.executable, "-c", LIST, tools]
    return subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True).stdout.strip()


def compare(tasks: list[dict[str, str]], answers: list[str]) -> dict[str, object]:
    """Return how many answers are right, and each one that is not."""
    if len(answers) != len(tasks):
        raise SystemExit(f"{len(answers)} answers to {len(tasks)} tasks")
    wrong = {task["task"]: answer for task, answer in zip(tasks, answers, strict=True) if answer != task["tool"]}
    right = len(tasks) - len(wrong)
    return {
        "tasks": len(tasks),
        "right": right,
        "met": right >= LEAST_SHARE * len(tasks),
        "wrong": wrong,
        **{f"tokens of tools, {tools}": estimate_tokens(tool_list(tools).replace("\n", "")) for tools in ToolSet},
    }


if __name__ == "__main__":
    main()
