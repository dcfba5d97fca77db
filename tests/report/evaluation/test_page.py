import base64
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.report.evaluation.galleries import choose
from capsieve.report.evaluation.gallery_pictures import Place, draw
from capsieve.report.evaluation.page import evaluation_page
from capsieve.report.evaluation.sections import Drawn
from capsieve.statistics.evaluation import Evaluation, OperatingPoint
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.table import Column, Table
from support.html_page import Page
from support.made_evaluation import made_evaluation

EVIL = "<script>alert(1)<\"'&>\u202e\n"
CURVES = ("roc_frames", "roc_polyps", "effort", "alarms", "froc", "comparison")
SVG = base64.b64encode(b'<svg xmlns="x"/>').decode()
NAMES = ("roc", "roc-low", "reading-effort", "false-positives-per-patient", "causes", "comparison")


def a_page(evaluation: Evaluation) -> str:
    drawn = {name: Drawn(f"data:image/svg+xml;base64,{SVG}", 10, 10) for name in NAMES}
    frame = np.full((64, 64, 3), 90, np.uint8)

    def fetch(places: Iterable[Place]) -> dict[Place, NDArray[np.uint8]]:
        return {place: frame for place in places if place[2] % 2 == 0}

    shown = [(gallery, draw(gallery, fetch)) for gallery in choose(evaluation)]
    return evaluation_page(evaluation, drawn=drawn, galleries=shown, files=["metrics.json"])


def bare_page(evaluation: Evaluation) -> str:
    return evaluation_page(evaluation, drawn={})


KINDS: dict[str, dict[str, Any]] = {
    "whole": {},
    "leaks": {"leaks": ("patient 3 is in both parts",)},
    "bare": dict.fromkeys(CURVES)
    | {"metrics": (), "tables": (), "points": (), "histograms": (), "problems": (), "warnings": ()},
}


@pytest.fixture(scope="module", params=KINDS)
def page(request: pytest.FixtureRequest) -> str:
    evaluation = made_evaluation(**KINDS[request.param])
    return bare_page(evaluation) if request.param == "bare" else a_page(evaluation)


@pytest.fixture(scope="module")
def whole() -> Page:
    return Page(a_page(made_evaluation()))


def test_tags_are_balanced_and_ids_are_unique(page: str) -> None:
    ids = Counter(Page(page).values("id"))
    assert max(ids.values()) == 1


def test_every_link_and_label_leads_somewhere_on_the_page(page: str) -> None:
    parsed = Page(page)
    ids = set(parsed.values("id"))
    assert {link.removeprefix("#") for link in parsed.values("href")} <= ids
    assert set(parsed.values("aria-labelledby")) <= ids


def test_nothing_is_fetched_from_elsewhere(page: str) -> None:
    assert "://" not in page
    assert "@import" not in page
    assert all(value.startswith("data:image/") for value in Page(page).values("src"))


def test_the_policy_allows_this_style_alone(page: str) -> None:
    policy = next(value for value in Page(page).values("content") if "default-src" in value)
    [inside] = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(sha256(inside.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "<script" not in page
    assert Page(page).values("style") == []


def test_pictures_have_a_text_and_headings_do_not_jump(page: str) -> None:
    parsed = Page(page)
    assert all(each.get("alt") for tag, each in parsed.attributes if tag == "img")
    levels = [int(tag[1]) for tag, _ in parsed.attributes if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_it_says_that_it_is_no_medical_device(page: str) -> None:
    assert "Research software, not a medical device." in Page(page).text


def test_tables_have_captions_and_heads_with_a_scope(whole: Page) -> None:
    assert all(each.get("scope") for tag, each in whole.attributes if tag == "th")
    tables = sum(
        tag == "table" and each.get("class") in ("data", "numbers")
        for tag, each in whole.attributes
    )
    assert sum(tag == "caption" for tag, _ in whole.attributes) >= tables > 5


def test_the_answer_comes_first_with_the_papers_numbers(whole: Page) -> None:
    start = whole.text[: whole.text.index("What was evaluated")]
    assert "finds 13 of 16 polyps (81.25 %) and 109 of 230 polyp frames (47.4 %)" in start
    assert "16,901 of 18,738 normal frames (90.2 %)" in start
    assert "An interval over patients cannot be given, for there are 5 patients, too few" in start
    assert "sensitivity per polyp 57.0 to 93.4 % (Wilson, n = 16)" in start
    assert "3 of 16 polyps that are not shown" in start


def test_every_metric_stands_with_its_definition(whole: Page) -> None:
    definitions = whole.text[whole.text.index("Every number and its definition") :]
    for metric in made_evaluation().metrics:
        assert metric.key in definitions
        assert metric.definition in definitions


def test_the_reason_stands_in_place_of_an_interval(whole: Page) -> None:
    areas = whole.text[whole.text.index("ROC curves") : whole.text.index("Polyp by polyp")]
    assert areas.count("no interval a") == 3
    assert areas.count("a 5 patients: too few for an interval, which takes at least 10.") == 1


def test_leaks_are_shouted_and_otherwise_silent(whole: Page) -> None:
    text = Page(a_page(made_evaluation(leaks=("patient 3 is in both parts",)))).text
    assert text.index("Leaks") < text.index("In short")
    assert "patient 3 is in both parts" in text
    assert "were overridden" not in whole.text


def test_empty_sections_say_why_in_a_line() -> None:
    evaluation = made_evaluation(**KINDS["bare"])
    text = Page(bare_page(evaluation)).text
    assert "No outlines of polyps (masks or boxes) were given." in text
    assert "The times of the frames are unknown" in text
    assert "Compared with" not in text


def test_an_optimistic_threshold_is_called_so() -> None:
    point = OperatingPoint("fitted", 37.0, "The smallest.", optimistic=True)
    text = Page(a_page(made_evaluation(points=(point,)))).text
    assert "fitted to these very frames: expect less on others" in text
    assert "Optimistic" in text


def test_long_tables_are_cut_aloud() -> None:
    rows = tuple((f"polyp {n}", n) for n in range(500))
    table = Table("sequences", "S", (Column("p", "P"), Column("n", "N", "count")), rows)
    text = Page(a_page(made_evaluation(tables=(table,)))).text
    assert "The first 60 of 500 rows; tables/sequences.csv has them all." in text
    assert "polyp 60 " not in text


def test_a_table_of_an_unknown_kind_is_not_lost() -> None:
    table = Table("odd", "An odd table", (Column("p", "P"),), (("here I am",),))
    assert "here I am" in Page(a_page(made_evaluation(tables=(table,)))).text


def test_hostile_names_are_only_text() -> None:
    evaluation = made_evaluation(
        results=EVIL,
        labels=EVIL,
        leaks=(EVIL,),
        warnings=(EVIL,),
        settings={EVIL: EVIL},
        detector={"name": EVIL, EVIL: EVIL},
        problems=(LabelProblem(EVIL, 1, (EVIL,)),),
        points=(OperatingPoint(EVIL, 37.0, EVIL),),
        tables=(Table("t", EVIL, (Column("a", EVIL),), ((EVIL,),), EVIL, (EVIL,)),),
        metrics=(
            Metric("k", EVIL, 0.5, EVIL, note=EVIL, intervals=(Interval(EVIL, 0.1, 0.2, EVIL),)),
        ),
    )
    judged = evaluation.judged
    names = {
        name: (EVIL,) * len(getattr(judged, name))
        for name in ("exams", "polyps", "patients", "groups", "findings", "reasons")
    }
    page = a_page(replace(evaluation, judged=replace(judged, group_kind=EVIL, **names)))
    assert "<script" not in page
    assert "\u202e" not in page
    Page(page)


def test_the_same_evaluation_gives_the_same_page() -> None:
    assert a_page(made_evaluation()) == a_page(made_evaluation())
