"""Which texts fit a question: words in names count most, passages are cut where a reader would."""

from __future__ import annotations

import sqlite3

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.conversation import ranking
from jupyter_mcp.host.conversation.ranking import Document, passages, rank, words


def order(question: str, *documents: Document, limit: int = 10) -> list[str]:
    return [documents[at].name for at, _ in rank(documents, question, limit)]


FILLER = [Document(f"other{n}", "about something else", "plain words") for n in range(6)]


def test_a_word_in_the_name_counts_more_than_one_in_the_text() -> None:
    found = order("invoice", Document("letters", "", "an invoice"), Document("invoice", "", "numbers"), *FILLER)
    assert found == ["invoice", "letters"]


def test_what_shares_no_word_is_not_found() -> None:
    assert order("weather", *FILLER) == []


def test_a_question_without_words_finds_nothing() -> None:
    assert order("?!", *FILLER) == []
    assert rank([], "words") == []


def test_forms_of_a_word_and_accents_are_the_same_word() -> None:
    assert order("planned meetings", Document("a", "the meeting plan"), *FILLER) == ["a"]
    assert order("cafe", Document("a", "Café list"), *FILLER) == ["a"]


@pytest.mark.parametrize("name", ["get_current_time", "getCurrentTime", "GET-current.time", "HTTPCurrentServer"])
def test_words_inside_identifiers_are_words(name: str) -> None:
    assert order("current", Document(name), *FILLER) == [name]


def test_scripts_without_blanks_are_searched_character_by_character() -> None:
    assert order("天気", Document("a", "東京の天気予報"), *FILLER) == ["a"]
    assert words("天気x") == ["天", "気", "x"]


def test_what_looks_like_a_query_of_the_search_engine_is_only_words() -> None:
    found = order('drop" OR NEAR(x) * name:weather -- ; weather', Document("a", "weather"), *FILLER)
    assert found == ["a"]


def test_a_weight_multiplies_the_score() -> None:
    found = order("weather", Document("low", "weather", weight=0.5), Document("high", "weather", weight=1.5), *FILLER)
    assert found == ["high", "low"]


def test_at_most_so_many_are_found() -> None:
    many = [Document(f"weather{n}") for n in range(20)]
    assert len(order("weather", *many, *FILLER, *FILLER, *FILLER, *FILLER, limit=3)) <= 3


def test_halves_of_surrogate_pairs_and_zeros_harm_nothing() -> None:
    assert order("weather", Document("a", "weather \ud800 \0"), *FILLER) == ["a"]


def test_without_full_text_search_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Poor:
        def execute(self, *_: object) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    def connect(_: str) -> Poor:
        return Poor()

    monkeypatch.setattr(ranking.sqlite3, "connect", connect)
    with pytest.raises(UsageError, match=r"no FTS5\. Attach what you need by hand"):
        rank([Document("a")], "a")


def test_passages_are_cut_at_paragraphs_and_headings() -> None:
    text = "one\n\ntwo\n\n" + "x" * 30 + "\n# Head\nbody"
    assert passages(text, 32) == ["one\n\ntwo", "x" * 30, "# Head\nbody"]


def test_a_long_paragraph_is_cut_at_its_lines_and_nothing_is_lost() -> None:
    text = "\n".join(f"line {n} of the text" for n in range(40))
    pieces = passages(text, 100)
    assert all(len(piece) <= 100 for piece in pieces)
    assert "\n".join(pieces).split() == text.split()


def test_a_text_without_any_break_is_cut_all_the_same() -> None:
    assert "".join(passages("y" * 250, 100)) == "y" * 250
