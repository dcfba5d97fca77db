from capsieve.statistics.accounts import account_table
from capsieve.statistics.matching import match
from small_results import label_set, write_results


def a_muddle(tmp_path):
    """Two exams with everything that can go wrong, counted by hand below."""
    video = write_results(
        tmp_path / "video",
        status=["decoded", "decoded", "undecodable", "decoded", "unscreened", "decoded"],
        score=[40.0, 0.0, None, None, None, 12.0],
    )
    folder = write_results(tmp_path / "folder", file=["a.png", "b.png", "c.png"])
    rows = [
        {"exam": "video", "frame": 0, "label": "polyp"},
        {"exam": "video", "frame": 1, "label": "normal"},
        {"exam": "video", "frame": 2, "label": "polyp"},
        {"exam": "video", "frame": 5, "label": "other"},
        {"exam": "video", "frame": 6, "label": "normal"},
        {"exam": "folder", "frame": 0, "label": "normal"},
        {"file": "a.png", "label": "normal"},
        {"exam": "folder", "frame": 1, "label": "normal"},
        {"file": "b.png", "label": "polyp"},
        {"file": "z.png", "label": "polyp"},
        {"exam": "elsewhere", "frame": 0, "label": "polyp"},
    ]
    return account_table(match([folder, video], label_set(rows))), len(rows)


def lines(table):
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, row, strict=True)) for row in (*table.rows, table.total)]


def test_accounts_are_those_counted_by_hand(tmp_path):
    table, _ = a_muddle(tmp_path)
    folder, video, nowhere, _ = lines(table)
    assert folder == {
        "exam": "folder", "found": 3, "undecoded": 0, "unscorable": 0, "scored": 3, "polyp": 0,
        "normal": 1, "other": 0, "contradicted": 1, "unlabelled": 1, "labelled_unscored": 0,
        "label_rows": 4, "repeated_rows": 1, "contradicting_rows": 2, "rows_without_frame": 0,
    }  # fmt: skip
    assert video == {
        "exam": "video", "found": 6, "undecoded": 2, "unscorable": 1, "scored": 3, "polyp": 2,
        "normal": 1, "other": 1, "contradicted": 0, "unlabelled": 2, "labelled_unscored": 1,
        "label_rows": 5, "repeated_rows": 0, "contradicting_rows": 0, "rows_without_frame": 1,
    }  # fmt: skip
    assert (nowhere["label_rows"], nowhere["rows_without_frame"], nowhere["found"]) == (2, 2, 0)


def test_accounts_add_up(tmp_path):
    table, rows = a_muddle(tmp_path)
    for line in lines(table):
        labelled = line["polyp"] + line["normal"] + line["other"]
        assert line["found"] == line["undecoded"] + line["unscorable"] + line["scored"]
        assert line["found"] == labelled + line["contradicted"] + line["unlabelled"]
        wrong = line["repeated_rows"] + line["contradicting_rows"] + line["rows_without_frame"]
        assert line["label_rows"] == labelled + wrong
    *exams, total = lines(table)
    for key in total.keys() - {"exam"}:
        assert total[key] == sum(line[key] for line in exams)
    assert total["label_rows"] == rows
    assert total["found"] == 9


def test_only_screened_exams_have_a_line_where_all_labels_fit(tmp_path):
    folder = write_results(tmp_path / "exam", 2)
    table = account_table(match([folder], label_set([{"exam": "exam", "frame": 0}])))
    assert table.column("exam") == ["exam"]
