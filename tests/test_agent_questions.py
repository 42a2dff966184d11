"""The questions of bench/agents.py are well formed; `bench/agents.py --check` compares them with the sources."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "bench"))
from agents import (  # found through the line above
    CONCEPTS,
    KINDS,
    MAX_OPENED,
    Attempt,
    Question,
    Search,
    agent_projects,
    closest,
    first_calls,
    holds,
    line_range,
    load_questions,
    matching_lines,
    next_to_read,
    rg_places,
    search_until_found,
    shown_places,
    shown_source,
)

QUESTIONS = load_questions()
GROUPED = """\
Results 1-3 of 3 matching lines in 2 files.
lib/a.py
  in Engine.run
  12: run()
  120: run()
lib/b.py:7: run()
"""


def test_there_are_enough_questions_of_each_kind_and_project() -> None:
    projects = agent_projects()
    assert len(QUESTIONS) >= 40
    assert len({question["ask"] for question in QUESTIONS}) == len(QUESTIONS)
    kinds = Counter(question["kind"] for question in QUESTIONS)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 10
    asked = Counter((question["project"], question["kind"]) for question in QUESTIONS)
    more = {project for project, kind in asked if kind == "more concepts"}
    others = {project["name"] for project in projects} - more
    assert set(asked) == {(name, kind) for name in others for kind in KINDS if kind != "more concepts"} | {
        (name, "more concepts") for name in more
    }
    assert len({project["language"] for project in projects}) == len(projects) == len(more) + len(others) == 7


def test_no_question_is_about_a_project_that_ranking_may_not_be_tuned_on() -> None:
    assert all(project.get("split", "tune") == "tune" for project in agent_projects())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["ask"])
def test_a_question_has_facts_and_follows_the_rules_of_its_kind(question: Question) -> None:
    assert len(set(question["facts"])) == len(question["facts"]) >= 1
    assert ("words" in question) == (question["kind"] in CONCEPTS)
    assert ("calls" in question) == (question["kind"] == "imports and classes")
    assert len(question.get("open", [])) <= MAX_OPENED
    for place in question.get("open", []):
        _, first, last = line_range(place)
        assert 1 <= first <= last
    for call in first_calls(question):
        # Everything else keeps its default.
        assert set(call) <= {"tool", "query", "path", "symbol"}


def test_an_answer_holds_a_place_as_path_and_line_or_as_a_line_below_its_path() -> None:
    assert holds(GROUPED, "lib/a.py:12")
    assert holds(GROUPED, "lib/a.py:120")
    assert holds(GROUPED, "lib/b.py:7")
    assert not holds(GROUPED, "lib/a.py:1")
    assert not holds(GROUPED, "lib/b.py:12")
    assert not holds(GROUPED, "lib/a.py:7")
    assert holds("run_all() and run()", "run")
    assert not holds("run_all()", "run")


def test_an_agent_stops_as_soon_as_it_has_every_fact() -> None:
    outcome = Attempt(["lib/a.py:1", "second"]).follow(iter(["lib/a.py:1: first\n", "second\n", "third\n"]))
    assert (outcome.calls, outcome.missing) == (2, ())
    outcome = Attempt(["first", "second"]).follow(iter(["first\n"]))
    assert (outcome.calls, outcome.missing) == (1, ("second",))


def test_an_agent_opens_the_line_closest_to_the_wanted_one_among_those_that_results_show() -> None:
    rows = """\
a.py:30:[method] (1.00) def A.run(self)
  → Purpose: Runs.
  → 95: go()
  :300 [function] def other()
b.py:40:[class] (0.50) class B
"""
    shown = ["a.py:30-49", "a.py:95", "a.py:300-319", "b.py:40-59"]
    assert shown_places(rows) == shown
    assert closest(shown, ["a.py:99"]) == ["a.py:95", "a.py:30-49", "a.py:300-319", "b.py:40-59"]
    assert closest(shown, ["b.py:60"])[0] == "b.py:40-59"
    assert closest(shown, []) == shown


def test_an_agent_reads_on_from_the_closest_line_towards_a_fact() -> None:
    shown = rg_places("a.py:30:def run():\na.py:300:def other():\nb.py:40:x: int\n")
    assert shown == ["a.py:30", "a.py:300", "b.py:40"]
    assert next_to_read(shown, [], [("a.py", 35)], 3) == "a.py:20-39"
    # The fact is 25 lines below what the agent reads first.
    assert next_to_read(shown, [], [("a.py", 64)], 3) == "a.py:20-39"
    assert next_to_read(shown, ["a.py:20-39"], [("a.py", 64)], 2) == "a.py:40-59"
    assert next_to_read(shown, ["a.py:20-39", "a.py:40-59"], [("a.py", 64)], 1) == "a.py:60-79"
    assert next_to_read(shown, [], [("a.py", 280)], 3) == "a.py:290-309"
    assert next_to_read(shown, ["a.py:290-309"], [("a.py", 280)], 2) == "a.py:270-289"
    # Too far, or in a file that no line shown is in.
    assert next_to_read(shown, [], [("a.py", 150)], 3) is None
    assert next_to_read(shown, [], [("c.py", 40)], 3) is None
    assert next_to_read(shown, [], [], 3) is None


EXCERPT = """\
Results 1-2 of 9 files; all others score below 0.20. Next page: offset=2.
lib/a.py:12:[function] (1.00) def run(engine) +1
13\t    if engine:
14\t        engine.run()
lib/b.py:7:[class] (0.30) class Engine
"""


def test_source_in_an_answer_is_open_and_is_read_on_from_its_end() -> None:
    assert shown_source(EXCERPT) == ["lib/a.py:13-14"]
    assert next_to_read([], ["lib/a.py:13-14"], [("lib/a.py", 20)], 3) == "lib/a.py:15-34"
    assert next_to_read([], ["lib/a.py:53-54"], [("lib/a.py", 40)], 3) == "lib/a.py:33-52"


def test_lines_that_match_a_pattern_are_places_to_read() -> None:
    assert matching_lines(GROUPED) == ["lib/a.py:12", "lib/a.py:120", "lib/b.py:7"]


@pytest.mark.parametrize(("seen", "last"), [("see _oddNumber", "name _oddNumber"), ("nothing", "next page")])
def test_the_last_search_is_for_a_name_that_was_seen_or_the_next_page(seen: str, last: str) -> None:
    question = QUESTIONS[0] | {"facts": ["lib/odd_number.py", "_oddNumber", "Any(value)"]}
    attempt = Attempt(question["facts"])
    page = Search("next page", [], [], None)
    planned = [lambda: Search("first", [], [], lambda: page), lambda: Search("second", [], [], None)]
    answers = []
    for found in search_until_found(planned, lambda name: Search(f"name {name}", [], [], None), attempt, question):
        attempt.follow(iter([seen]))
        answers.append(found.answer)
    assert answers == ["first", "second", last]
