import pytest

from capsieve.engine.training_card import CardTexts, DataTexts, read_card_texts
from capsieve.errors import FileError, ParameterError


def test_the_texts_of_a_source_that_gave_no_frame_are_refused():
    texts = CardTexts(data=(DataTexts(source="sea-ai", name="misspelt"),))
    with pytest.raises(ParameterError, match=r"'sea-ai'.*they name 'kvasir' and 'see-ai'"):
        texts.check(("see-ai", "kvasir"))
    with pytest.raises(ParameterError, match="they name none"):
        texts.check(("",))


def test_texts_for_every_source_fit_all():
    texts = CardTexts(data=(DataTexts(name="ours"), DataTexts(source="b", name="theirs")))
    texts.check(("a", "b"))
    assert texts.of("a").name == "ours"
    assert texts.of("b").name == "theirs"


@pytest.mark.parametrize("content", ["name = ", "colour = 'red'", "data = 3"])
def test_a_file_that_means_nothing_is_one_sentence(tmp_path, content):
    (tmp_path / "card.toml").write_text(content)
    with pytest.raises(FileError, match=r"card\.toml"):
        read_card_texts(tmp_path / "card.toml")
