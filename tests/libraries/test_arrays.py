"""Views of torch's tensors and modules, scipy's sparse arrays, xarray's and dask's arrays, with those libraries."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import ViewError, Wanted, summary, view
from tests.libraries.shared import AS_JSON, cells, check_views, grown, pages

np: Any = importlib.import_module("numpy")
pd: Any = importlib.import_module("pandas")
MB = 1_000_000


def library(name: str) -> Any:
    return pytest.importorskip(name, exc_type=(ImportError, OSError))  # type: ignore[arg-type]


# --- torch -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch() -> Any:
    return library("torch")


def test_a_tensor_is_paged_like_an_array(torch: Any) -> None:
    tensor = torch.arange(3000).reshape(1000, 3)
    assert summary(tensor).line() == "Tensor 1,000 x 3 torch.int64"
    assert check_views(tensor).data["rows"] == [0, 100]
    found = [
        row for page in pages(tensor, Wanted(rows="0:1000", format="json", max_bytes=4000)) for row in page.data["data"]
    ]
    assert found == [{"0": 3 * at, "1": 3 * at + 1, "2": 3 * at + 2} for at in range(1000)]
    assert view(tensor, Wanted(rows="-1:", columns=("2",))).text == "2\n2999\n"
    assert view(tensor, Wanted(path="[2][1]")).data == 7
    assert view(torch.zeros(2, 3, 4), Wanted(rows="0:1")).data["values"] == [[[0.0] * 4] * 3]


def test_items_that_numpy_has_no_type_for_are_shown_as_numbers(torch: Any) -> None:
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        tensor = torch.tensor([1.5, -2.0]).to(getattr(torch, name))
        assert (view(tensor).text, summary(tensor).dtype) == ("value\n1.5\n-2.0\n", f"torch.{name}")
        assert views.fingerprint(tensor) is not None
    assert view(torch.tensor([1 + 2j]).conj()).text == "value\n1.0-2.0j\n"
    assert view(torch.tensor([True])).text == "value\ntrue\n"
    assert view(torch.tensor([1.0, float("nan")]), Wanted(deep=True)).data["deep"] == {"nulls": 1}


def test_a_tensor_that_learns_or_is_of_a_subclass_is_read_without_its_code(torch: Any) -> None:
    class Touchy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_: Any, **__: Any) -> Any:
            pytest.fail("foreign code")

    touchy = torch.ones(2).as_subclass(Touchy)
    parameter = torch.nn.Parameter(torch.ones(2))
    for value in (touchy, parameter, parameter * 1):
        assert view(value).text == "value\n1.0\n1.0\n"
        assert summary(value).shape == (2,)
        assert views.fingerprint(value) == views.fingerprint(torch.ones(2))
    assert parameter.grad is None


def test_what_holds_no_memory_here_says_so_and_is_listed(torch: Any) -> None:
    for value, text in ((torch.empty(3, device="meta"), "meta"), (torch.eye(3).to_sparse(), "sparse_coo")):
        assert summary(value).text == text
        with pytest.raises(ViewError) as refused:
            view(value)
        assert refused.value.reason == "unsupported"


def test_a_change_in_a_tensor_is_seen(torch: Any) -> None:
    for tensor in (torch.zeros(100), torch.zeros(10, 10).t(), torch.zeros(4, dtype=torch.bfloat16)):
        before = views.fingerprint(tensor)
        tensor[0] = 5
        assert views.fingerprint(tensor) != before


def test_a_large_tensor_is_not_copied(torch: Any) -> None:
    for tensor in (torch.zeros(25 * MB, 4), torch.zeros(25 * MB, 4, dtype=torch.bfloat16), torch.zeros(4, 25 * MB).t()):
        wanted = Wanted(rows="20000000:")
        assert grown(lambda t=tensor, w=wanted: (summary(t), view(t, w), views.fingerprint(t))) < 20 * MB


def test_a_module_shows_its_layers_and_the_shapes_of_its_parameters(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    model.loop = model  # a module that holds itself
    assert check_views(model).data["parameters"]["0.weight"] == "Parameter 2 x 3 torch.float32"
    assert summary(model).kind == "estimator"
    assert view(model, Wanted(path="[0].bias")).data["shape"] == [2]
    before = views.fingerprint(model)
    with torch.no_grad():
        model[0].bias += 1
    assert views.fingerprint(model) != before


# --- scipy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_sparse_arrays_are_shown_entry_by_entry(kind: str, form: str) -> None:
    sparse = library("scipy.sparse")
    value = getattr(sparse, f"{kind}_{form}")(np.array([[0, 5, 0], [7, 0, 9]]))
    assert (summary(value).shape, summary(value).text) == ((2, 3), f"{kind}, 3 entries")
    assert set((check_views(value).text or "").splitlines()[1:]) == {"0,1,5", "1,0,7", "1,2,9"}
    assert len(pages(value, Wanted(rows="0:3", max_bytes=512))[0].data["data"]) == 3
    before = views.fingerprint(value)
    value.data[0] = 1
    assert views.fingerprint(value) != before


def test_sparse_arrays_of_other_formats_are_described_and_say_what_helps() -> None:
    sparse = library("scipy.sparse")
    for kind in ("bsr", "dia", "dok", "lil"):
        value = getattr(sparse, f"{kind}_array")(np.eye(3))
        assert (summary(value).shape, summary(value).text) == ((3, 3), kind)
        with pytest.raises(ViewError, match="tocoo"):
            view(value)


def test_sparse_arrays_of_other_numbers_of_axes_name_them() -> None:
    sparse = library("scipy.sparse")
    assert cells(sparse.coo_array(np.array([0, 4]))) == [{"axis 0": 1, "value": 4}]
    assert cells(sparse.csr_array(np.array([0, 4]))) == [{"axis 0": 1, "value": 4}]
    assert list(cells(sparse.coo_array(np.ones((1, 1, 1))))[0]) == ["axis 0", "axis 1", "axis 2", "value"]


def test_a_large_sparse_array_is_not_copied() -> None:
    sparse = library("scipy.sparse")
    value = sparse.csr_array((np.ones(10 * MB), (np.arange(10 * MB), np.zeros(10 * MB, "i4"))), shape=(10 * MB, 1))
    assert cells(value, Wanted(rows="-1:", format="json"))[0]["row"] == 10 * MB - 1
    assert grown(lambda: (view(value, Wanted(rows="9000000:")), views.fingerprint(value))) < 20 * MB


# --- xarray and dask -------------------------------------------------------------------------------------------------


@pytest.fixture
def array() -> Any:
    xarray = library("xarray")
    coords = {"t": pd.date_range("2026-01-01", periods=2), "x": [1, 2, 3]}
    return xarray.DataArray(np.arange(6).reshape(2, 3), dims=("t", "x"), coords=coords, name="a")


def test_an_array_with_labels_shows_its_numbers_and_its_coordinates(array: Any) -> None:
    assert (summary(array).shape, summary(array).text) == ((2, 3), "(t, x)")
    assert check_views(array).text == "0,1,2\n0,1,2\n3,4,5\n"
    assert view(array, Wanted(rows="1:")).text == "0,1,2\n3,4,5\n"
    assert cells(array, Wanted(path="t", format="json"))[0] == {"values": "2026-01-01T00:00:00"}
    assert view(array.t).text == view(array, Wanted(path="t")).text
    assert (summary(array.t).dtype or "").startswith("datetime64")


def test_a_dataset_is_read_by_its_variables(array: Any) -> None:
    dataset = array.to_dataset()
    assert sorted(views.columns(dataset)) == ["a", "t", "x"]
    assert {"name": "a", "dtype": f"{array.dtype} (t, x)"} in check_views(dataset).data["columns"]
    assert view(dataset, Wanted(path="a", rows="0")).text == "0,1,2\n0,1,2\n"
    assert view(dataset, Wanted(path="x")).text == "values\n1\n2\n3\n"
    before = views.fingerprint(dataset)
    dataset.a[0, 0] = 9
    assert views.fingerprint(dataset) != before


def test_a_dataset_of_odd_names_is_described_without_their_code(array: Any) -> None:
    class Odd:
        __str__ = __repr__ = lambda self: pytest.fail("foreign code")

    dataset = library("xarray").Dataset({Odd(): ("t", [1])})
    assert views.columns(dataset) == [f"<{Odd.__module__}.Odd>"]


def test_what_dask_holds_is_computed_by_a_view_alone(array: Any) -> None:
    dask = library("dask.array")
    computed: list[int] = []

    def block(part: Any) -> Any:
        computed.append(part.size)
        return part

    lazy = dask.ones((1000, 5), chunks=(10, 5)).map_blocks(block, dtype="f8", meta=np.empty((0, 0)))
    computed.clear()
    assert (summary(lazy).shape, summary(lazy).dtype, summary(lazy).text) == ((1000, 5), "float64", "not computed")
    views.fingerprint(lazy)
    assert computed == []
    assert view(lazy, Wanted(rows="0:2")).text == "0,1,2,3,4\n" + "1.0,1.0,1.0,1.0,1.0\n" * 2
    assert sum(computed) <= 50  # one block of a hundred
    assert view(dask.ones((10, 10)).sum()).data == 100.0
    assert (summary(array.chunk(1)).shape, view(array.chunk(1)).text) == ((2, 3), view(array).text)
    assert view(lazy, Wanted(rows="0:2", format="json", columns=("4",))).data["data"] == [{"4": 1.0}] * 2
    with pytest.raises(ViewError):
        view(lazy, Wanted(rows="5:"))
    assert AS_JSON.format == "json"
