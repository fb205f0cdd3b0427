"""Views of scikit-learn's estimators, statsmodels' results, plotly's and altair's figures, with those libraries."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import View, ViewError, Wanted, summary, view
from tests.libraries.shared import check_views

np: Any = importlib.import_module("numpy")
pd: Any = importlib.import_module("pandas")


def test_an_estimator_shows_its_parameters_and_what_fitting_left() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.Ridge(alpha=2.0)
    assert (summary(model).kind, summary(model).text) == ("estimator", "not fitted")
    before = views.fingerprint(model)
    model.fit(np.arange(6.0).reshape(3, 2), [1, 2, 3])
    assert views.fingerprint(model) != before
    found = check_views(model).data
    assert (summary(model).text, found["parameters"]["alpha"]) == ("fitted", 2.0)
    assert "coef_" in found["fitted"]
    assert view(model, Wanted(path="coef_")).data["shape"] == [2]
    assert view(model, Wanted(path="alpha")).data == 2.0


def test_estimators_in_estimators_are_reached_by_a_path_and_secrets_are_masked() -> None:
    base, pipeline = pytest.importorskip("sklearn.base"), importlib.import_module("sklearn.pipeline")

    class Model(base.BaseEstimator):
        def __init__(self, depth: int = 3, api_key: str = "abcdefgh") -> None:
            self.depth = depth
            self.api_key = api_key

    pipe = pipeline.Pipeline([("model", Model())])
    assert view(Model()).data["parameters"] == {"depth": 3, "api_key": "•••"}
    assert check_views(pipe).data["parameters"]["steps"][0][0] == "model"
    assert view(pipe, Wanted(path="steps[0][1].depth")).data == 3
    with pytest.raises(ViewError, match="hidden"):
        view(pipe, Wanted(path="steps[0][1].api_key"))


def test_results_of_statsmodels_show_their_parameters_by_name() -> None:
    models = pytest.importorskip("statsmodels.api")
    frame = pd.DataFrame({"x": np.arange(10.0), "y": np.arange(10.0) * 2 + 1})
    results = models.OLS(frame.y, models.add_constant(frame[["x"]])).fit()
    found = check_views(results).data
    assert (round(found["parameters"]["const"], 6), round(found["parameters"]["x"], 6)) == (1.0, 2.0)
    assert (found["model"], found["nobs"]) == ("statsmodels.regression.linear_model.OLS", 10.0)
    assert view(results, Wanted(path="params")).data["shape"] == [2]
    assert views.fingerprint(results) is not None


@pytest.mark.parametrize("name", ["plotly.graph_objects:Figure", "altair:Chart"])
def test_a_figure_is_shown_as_it_was_captured(name: str) -> None:
    module, _, made = name.partition(":")
    figure = getattr(pytest.importorskip(module), made)()
    assert summary(figure).kind == "figure"
    with pytest.raises(ViewError, match="display it first"):
        view(figure)
    views.captured_by(lambda value: (b"\x89PNG", "image/png") if value is figure else None)
    try:
        assert view(figure) == View("image/png", blob=b"\x89PNG")
    finally:
        views.captured_by(None)


LIBRARIES = (
    *("altair", "dask", "duckdb", "ibis", "matplotlib", "numpy", "pandas", "PIL", "plotly", "polars", "pyarrow"),
    *("pyspark", "scipy", "sklearn", "statsmodels", "torch", "xarray"),
)
PROGRAM = """
import importlib, sys
from jupyter_mcp.kernel import views
libraries = set({libraries!r})
views.summary(object()), views.view([1, {{"a": 2}}]), views.fingerprint([1])
assert not libraries & set(sys.modules), libraries & set(sys.modules)
importlib.import_module({name!r})
value = {value}
before = libraries & set(sys.modules)  # a library may import others for itself
assert views.summary(value).kind == {kind!r}
views.view(value), views.fingerprint(value), views.columns(value)
assert libraries & set(sys.modules) == before, libraries & set(sys.modules) - before
"""


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("numpy", "sys.modules['numpy'].arange(3)", "array"),
        ("pandas", "sys.modules['pandas'].DataFrame({'a': [1], 's': ['x']})", "table"),
        ("polars", "sys.modules['polars'].DataFrame({'a': [1], 's': ['x']})", "table"),
        ("pyarrow", "sys.modules['pyarrow'].table({'a': [1], 's': ['x']})", "table"),
        ("torch", "sys.modules['torch'].ones(3)", "array"),
        ("xarray", "sys.modules['xarray'].DataArray([1, 2])", "array"),
    ],
)
def test_no_library_is_imported_for_a_view(name: str, value: str, kind: str) -> None:
    pytest.importorskip(name)
    program = PROGRAM.format(libraries=LIBRARIES, name=name, value=value, kind=kind)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
