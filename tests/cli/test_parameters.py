from capsieve import Parameters


def test_prints_toml_that_reads_back(run):
    result = run("parameters")
    assert result.exit_code == 0
    assert Parameters.from_toml(result.stdout) == Parameters()


def test_every_field_has_its_symbol_and_meaning(run):
    text = run("parameters").stdout
    for symbol in ("Nx", "T_L", "T_U", "S_L", "S_U", "E_max", "R_P"):
        assert f"# {symbol}: " in text


def test_writes_a_file_that_loads(run, tmp_path):
    path = tmp_path / "mine.toml"
    result = run("parameters", "-o", path)
    assert result.exit_code == 0
    assert str(path) in result.stdout
    assert Parameters.load(path) == Parameters()


def test_a_place_that_cannot_be_written_is_exit_code_1(run, tmp_path):
    result = run("parameters", "-o", tmp_path / "absent" / "mine.toml")
    assert result.exit_code == 1
    assert result.stderr.startswith("capsieve: cannot write")


def test_an_edited_file_is_not_overwritten_unasked(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("width = 128\n")
    result = run("parameters", "-o", file)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert file.read_text() == "width = 128\n"
    assert run("parameters", "-o", file, "--force").exit_code == 0
    assert "width = 256" in file.read_text()
