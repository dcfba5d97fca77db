"""``capsieve parameters``."""

from capsieve import Parameters
from support.commands import assert_failed


def test_the_printed_toml_gives_the_default_parameters(run):
    result = run("parameters")
    assert result.exit_code == 0
    assert Parameters.from_toml(result.stdout) == Parameters()


def test_the_comments_contain_the_symbols_of_the_paper(run):
    text = run("parameters").stdout
    for symbol in ("Nx", "T_L", "T_U", "S_L", "S_U", "E_max", "R_P"):
        assert f"# {symbol}: " in text


def test_the_written_file_can_be_loaded(run, tmp_path):
    path = tmp_path / "mine.toml"
    result = run("parameters", "-o", path)
    assert result.exit_code == 0
    assert str(path) in result.stdout
    assert Parameters.load(path) == Parameters()


def test_a_missing_folder_is_reported(run, tmp_path):
    path = tmp_path / "absent" / "mine.toml"
    assert_failed(run("parameters", "-o", path), path)


def test_a_file_is_overwritten_only_with_force(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("width = 128\n")
    assert_failed(run("parameters", "-o", file), file, "--force")
    assert file.read_text() == "width = 128\n"
    assert run("parameters", "-o", file, "--force").exit_code == 0
    assert "width = 256" in file.read_text()
