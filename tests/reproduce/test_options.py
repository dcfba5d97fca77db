"""Options of a reproduction."""

from pathlib import Path
from typing import Any

import pytest

from capsieve.errors import ParameterError
from capsieve.reproduce.options import ReproduceOptions

OWN = {"exams": Path("exams"), "labels": Path("labels.csv"), "train_patient": "p3"}


def test_the_phantom_has_the_training_patient_of_the_paper():
    assert ReproduceOptions().patient == "4"
    assert ReproduceOptions(**OWN).patient == "p3"


@pytest.mark.parametrize(("name", "words"), [("p3", "patient p3"), ("Patient-3", "Patient-3")])
def test_the_patient_is_named_as_such_once(name, words):
    assert ReproduceOptions(**OWN | {"train_patient": name}).patient_words == words


@pytest.mark.parametrize("name", ["labels", "train_patient"])
def test_own_exams_need_labels_and_a_patient(name):
    with pytest.raises(ParameterError) as error:
        ReproduceOptions(**{key: value for key, value in OWN.items() if key != name})
    assert error.value.field == name


@pytest.mark.parametrize("name", ["labels", "train_patient", "regions", "label_format"])
def test_options_of_own_exams_need_exams(name):
    given: dict[str, Any] = {name: "x"}
    with pytest.raises(ParameterError) as error:
        ReproduceOptions(**given)
    assert error.value.field == name


def test_own_exams_cannot_be_short():
    with pytest.raises(ParameterError) as error:
        ReproduceOptions(**OWN, short=True)
    assert error.value.field == "short"
