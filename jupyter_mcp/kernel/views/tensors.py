"""Views of torch's tensors on the CPU: slices are read as numpy's, on the same memory where numpy has their type."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.arrays import Numpy
from jupyter_mcp.kernel.views.base import ViewError, clipped

if TYPE_CHECKING:
    from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["TENSORS", "Torch"]

_SAMPLED = 256
_BLOCK = 1_000_000


class Torch(Numpy):
    """torch.Tensor; what a subclass would do is left out."""

    def facts(self, value: object) -> dict[str, Any]:
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunctionSubclass():
            tensor, base = cast("Any", value), torch.Tensor
            if base.is_nested.__get__(tensor):
                return {"dtype": str(base.dtype.__get__(tensor)), "text": "nested"}
            shape = tuple(map(int, base.shape.__get__(tensor)))
            device, layout = str(base.device.__get__(tensor)), base.layout.__get__(tensor)
            words = [device] if device != "cpu" else []
            size: int | None = int(base.element_size(tensor) * base.nelement(tensor))
            if layout is not torch.strided:
                words.append(clipped(str(layout).removeprefix("torch."), 40))
                size = None
            return {
                "shape": shape,
                "dtype": str(base.dtype.__get__(tensor)),
                "nbytes": size,
                "text": " ".join(words) or None,
            }

    def plain(self, value: object) -> Any:
        torch = sys.modules["torch"]
        for cls in safe.mro(type(value)):
            if cls is torch.Tensor:
                break
            if "__torch_dispatch__" in safe.class_dict(cls):
                raise ViewError("unsupported", f"a {safe.label_of(value)} has no memory of its own that can be shown")
        with torch._C.DisableTorchFunctionSubclass():
            base, tensor = torch.Tensor, cast("Any", value)
            strided = base.layout.__get__(tensor) is torch.strided and not base.is_nested.__get__(tensor)
            if base.device.__get__(tensor).type != "cpu" or not strided:
                raise ViewError("unsupported", "only dense tensors on the CPU can be shown; copy it there first")
            return base.as_subclass(base.detach(tensor), base)

    def dtype(self, array: Any) -> str:
        return clipped(str(array.dtype).removeprefix("torch."), 80)

    def names(self, array: Any) -> tuple[str, ...]:
        return ()

    def read(self, array: Any, index: Any) -> Any:
        small = array[index]
        if small.is_quantized:
            small = small.dequantize()
        elif small.is_floating_point() and not _known_to_numpy(small.dtype):
            small = small.float()  # bfloat16 and the small ones: every value of theirs is a float's
        try:
            return small.resolve_conj().resolve_neg().numpy()
        except TypeError:
            raise ViewError("unsupported", f"numpy has no {self.dtype(array)}; show it as another type") from None

    def nulls(self, array: Any) -> int:
        if not (array.is_floating_point() or array.is_complex()):
            return 0
        rows = max(1, _BLOCK // max(1, array[:1].numel()))
        return sum(int(array[at : at + rows].isnan().sum()) for at in range(0, len(array), rows))

    def sample(self, array: Any) -> Any:
        if array.is_contiguous():
            flat = array.view(-1)
            return self.read(flat, slice(None, None, max(1, len(flat) // _SAMPLED)))
        each = max(1, int(_SAMPLED ** (1 / array.ndim)))
        return self.read(array, tuple(slice(None, None, -(-size // each)) for size in array.shape))


def _known_to_numpy(dtype: Any) -> bool:
    torch = sys.modules["torch"]
    return dtype in (torch.float16, torch.float32, torch.float64)


TENSORS: tuple[tuple[str, Viewer], ...] = (("torch.Tensor", Torch()),)
