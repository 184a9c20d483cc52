"""kansetsu bench walk-seed: the computed example of the article on contacts, beside the time it prints."""

from __future__ import annotations

import json

from kansetsu_protocol import BAD_FILE, OK, run


def test_the_figure_walks_and_its_time_is_beside_the_printed_one():
    result = run("bench", "walk-seed", "--json")
    assert result.exit_code == OK, result.stderr
    found = json.loads(result.stdout)
    assert found["printed_ms"] == 30 and 0 < found["ms"]
    assert not found["fallen"] and found["walked"] > 2.5 and found["samples"] > 1000
    text = run("bench", "walk-seed").stdout
    assert "as printed" in text and "on its feet" in text


def test_a_clip_that_is_not_there_is_reported(tmp_path):
    result = run("bench", "walk-seed", "--clip", str(tmp_path / "no.bvh"))
    assert result.exit_code == BAD_FILE and "no.bvh" in result.stderr
