"""Learned kernels: saved, loaded, and drawn with again."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, List, Optional, Union

from ._library import OK, Context, Error, Target, lib

_SETTLES = 100  # steps after which chains that start at draws of a map have forgotten where
_CLASSICAL = ("nuts", "hmc", "rwm", "henon", "anice", "+")


class Kernel:
    """What a run has learned: how to propose. It is exact for any density of its dimension, and fast for those that are
    like the one it was learned for."""

    def __init__(self, address: int, owner: Any, names: Optional[List[str]]):
        self._address, self._owner, self._names = address, owner, names

    @property
    def name(self) -> str:
        """Which kind of kernel, such as ``nuts@spline``, NUTS in the latent space of a spline map."""
        return lib.ais_kernel_name(self._address).decode()

    @property
    def dim(self) -> int:
        """Number of parameters that it was made for, 0 if it takes any number."""
        return lib.ais_kernel_dim(self._address)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the file that :func:`load_kernel` and ``aisampler sample -k`` read."""
        context = Context()
        target = Target(name=b"density", dim=self.dim)
        if self._names is not None and len(self._names) == self.dim:
            target.names = (ctypes.c_char_p * self.dim)(*(name.encode() for name in self._names))
        if lib.ais_kernel_save(context, self._address, target, os.fsencode(path)) != OK:
            raise Error(context.message.decode())

    @property
    def address(self) -> int:
        """Of the library's own, which lives as long as this object."""
        return self._address

    @property
    def warmup(self) -> int:
        """Steps per chain before the first draw, 0 for what a kernel needs that tunes itself or starts anywhere."""
        name = self.name
        alone = name.split("@")[0] if "@" not in name else ""
        return 0 if "+" in name or alone in _CLASSICAL else _SETTLES

    def __repr__(self) -> str:
        return f"<aisampler.Kernel {self.name} of {self.dim} parameters>"

    def __reduce__(self) -> Any:
        raise TypeError("a kernel cannot be pickled: save it, and load it there")


def load_kernel(path: Union[str, os.PathLike]) -> Kernel:
    """A kernel from the file that :meth:`Kernel.save`, ``aisampler train`` or ``aisampler run`` has written."""
    context, found = Context(), ctypes.c_void_p()
    if lib.ais_kernel_load(context, os.fsencode(path), None, ctypes.byref(found)) != OK:
        raise Error(context.message.decode())
    assert found.value is not None
    kernel = Kernel(found.value, None, None)
    weakref.finalize(kernel, lib.ais_kernel_free, found.value)
    return kernel
