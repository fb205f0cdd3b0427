"""Docstrings of every style, taken apart."""

from __future__ import annotations

import pytest

from jupyter_mcp.server.docstrings import parse

GOOGLE = """Forecast the weather.

    More about it,
    on two lines.

    Args:
        city (str): Any city,
            also small ones.
        days: How many: 1 to 14.
        *rest: Ignored.

    Returns:
        The forecast.

    Raises:
        ValueError: never.
    """
NUMPY = """Forecast the weather.

    Parameters
    ----------
    city : str
        Any city.
    days, nights : int, optional
        How many.

        A second paragraph.
    units

    Returns
    -------
    Report
        The forecast.

    Raises
    ------
    ValueError
        Never.

    And a last word.
    """
REST = """Forecast the weather.

    :param city: Any city,
        also small ones.
    :param int days: How many.
    :type city: str
    :returns: The forecast.
    :raises ValueError: never.
    """


def test_google_sections_become_parameter_descriptions_and_leave_the_text():
    doc = parse(GOOGLE)
    assert doc.parameters == {"city": "Any city, also small ones.", "days": "How many: 1 to 14.", "rest": "Ignored."}
    assert doc.text == "Forecast the weather.\n\nMore about it,\non two lines.\n\nReturns:\n    The forecast."
    assert doc.summary == "Forecast the weather."


def test_numpy_sections_become_parameter_descriptions_and_leave_the_text():
    doc = parse(NUMPY)
    assert doc.parameters == {
        "city": "Any city.",
        "days": "How many. A second paragraph.",
        "nights": "How many. A second paragraph.",
    }
    assert "Never" not in doc.text
    assert "Parameters" not in doc.text
    assert doc.text.startswith("Forecast the weather.\n\nReturns\n-------\nReport")
    assert doc.text.endswith("And a last word.")


def test_rest_fields_become_parameter_descriptions_and_leave_the_text():
    doc = parse(REST)
    assert doc.parameters == {"city": "Any city, also small ones.", "days": "How many."}
    assert doc.text == "Forecast the weather.\n\nReturns: The forecast."


@pytest.mark.parametrize("docstring", [None, "", "   \n  "])
def test_no_docstring_says_nothing(docstring: str | None):
    doc = parse(docstring)
    assert (doc.text, doc.summary, doc.parameters) == ("", "", {})


@pytest.mark.parametrize(
    "docstring",
    [
        "One line with Args: in it.",
        "Note: this is prose.\n\nParameters are fine.",
        "Args:\nnot indented, so prose.",
        "A\n    strange\n  indentation: here",
    ],
)
def test_prose_that_looks_like_a_section_stays(docstring: str):
    doc = parse(docstring)
    assert doc.parameters == {}
    assert doc.text.split()[0] == docstring.split()[0]
    assert len(doc.text.split()) == len(docstring.split())


def test_types_with_brackets_do_not_end_the_item():
    assert parse("X.\n\nArgs:\n    a (dict[str, tuple(int)]): The a.").parameters == {"a": "The a."}
