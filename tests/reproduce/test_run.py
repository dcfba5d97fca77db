"""A whole reproduction: the page, the same bytes again, and interrupted runs."""

import re
import shutil

import pytest

from capsieve.reproduce.options import ReproduceOptions
from capsieve.reproduce.run import reproduce
from capsieve.reproduce.study import STAGES
from support.html_page import Page
from support.small_study import small_options

pytestmark = pytest.mark.slow


def test_the_page_has_every_figure_and_table_of_the_paper(reproduced):
    page = Page(reproduced[1].page.read_text())
    ids = page.values("id")
    assert {f"figure-{number}" for number in range(1, 10)} < {*ids}
    assert {f"table-{number}" for number in ("I", "II", "III", "IV")} < {*ids}
    for address in page.values("href"):
        assert address.removeprefix("#") in ids


def test_the_page_is_one_file_that_fetches_nothing(reproduced):
    page = Page(reproduced[1].page.read_text())
    assert all(address.startswith("data:image/") for address in page.values("src"))
    assert all(address.startswith("#") for address in page.values("href"))


def test_the_page_says_that_a_phantom_is_not_five_patients(reproduced):
    assert "A phantom is not five patients" in Page(reproduced[1].page.read_text()).text


def test_both_readings_are_next_to_the_paper(reproduced):
    done = reproduced[1]
    for key in ("numbers", "table-1", "table-2", "table-3"):
        labels = " ".join(column.label for column in done.tables[key].columns)
        assert re.search(r"Paper.*As printed.*As inferred", labels), key
    assert done.tables["table-4"].column("source") == ["Paper", "As printed", "As inferred"] * 8


def test_the_tables_are_also_files(reproduced):
    out, done = reproduced
    for key in done.tables:
        assert (out / "tables" / f"{key}.csv").is_file()
        assert (out / "tables" / f"{key}.tex").is_file()


def test_the_same_command_gives_the_same_bytes_in_another_folder(reproduced, tmp_path):
    out, done = reproduced
    shutil.copytree(out / "phantom", tmp_path / "phantom")
    again = reproduce(tmp_path, options=small_options())
    assert again.page.read_bytes() == done.page.read_bytes()


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupted_study_continues_to_the_same_page(reproduced, tmp_path, stage):
    out, done = reproduced
    if stage != "rendering":
        shutil.copytree(out / "phantom", tmp_path / "phantom")

    def interrupt(told, share):
        if told == stage and (share > 0.2 or stage == "evaluating"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, options=small_options(), progress=interrupt)
    assert not (tmp_path / "reproduction.html").exists()
    again = reproduce(tmp_path, options=small_options())
    assert again.page.read_bytes() == done.page.read_bytes()


def test_the_stages_rise_to_the_end(reproduced, tmp_path):
    shutil.copytree(reproduced[0], tmp_path / "study")
    told = []
    reproduce(tmp_path / "study", options=small_options(), progress=lambda *each: told.append(each))
    order = list(STAGES)
    places = [(order.index(stage), share) for stage, share in told]
    assert places == sorted(places)
    assert dict(told) == dict.fromkeys(STAGES, 1.0)


def test_own_exams_give_the_same_numbers_without_the_phantom(reproduced, tmp_path):
    out, done = reproduced
    phantom = out / "phantom"
    own = reproduce(
        tmp_path / "own",
        options=ReproduceOptions(
            exams=phantom / "exams",
            labels=phantom / "labels.csv",
            train_patient="4",
            regions=phantom,
            workers=1,
        ),
    )
    assert own.tables["readings"] == done.tables["readings"]
    assert own.tables["numbers"].rows == done.tables["numbers"].rows
    text = Page(own.page.read_text()).text
    assert "phantom" not in text
    assert "synthetic" not in text
    assert {*own.tables["table-2"].column("paper_frames")} == {None}
    total = own.tables["table-2"].total
    assert total is not None
    assert total[:3] == ("Total", 230, "13 of 16")
