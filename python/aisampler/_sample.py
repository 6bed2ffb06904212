"""aisampler.sample: a density in, a result out."""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from ._bounds import Bounds
from ._density import Density
from ._library import OK, STOPPED, Context, Error, RunOptions, RunResult, Target, lib
from ._result import Result, read_result


def _count(name: str, value: Any, most: int = 2**31 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name} must be between 0 and {most}, not {number}")
    return number


def _options(seed: int, chains: int, draws: int, threads: int, effective: float, evaluations: int, seconds: float,
             stop: ctypes.c_int) -> RunOptions:
    return RunOptions(
        size=ctypes.sizeof(RunOptions),
        seed=_count("seed", seed, 2**64 - 1),
        chains=_count("chains", chains),
        draws=_count("draws", draws),
        threads=_count("threads", threads),
        effective=float(effective),
        evaluations=_count("evaluations", evaluations, 10**15),
        seconds=float(seconds),
        stop=ctypes.pointer(stop),
    )


def _open(spec: str, start_scale: float) -> Any:
    """A built-in target, or a C file, which is compiled. Whoever runs it closes it."""
    context, target = Context(), ctypes.POINTER(Target)()
    if lib.ais_target_open(context, spec.encode(), target) != OK:
        raise Error(context.message.decode())
    if start_scale:
        target.contents.start_scale = start_scale
    return target


def _own(density: Density, dim: int, names: Optional[Sequence[str]], start_scale: float) -> Target:
    target = Target(name=b"density", dim=dim, start_scale=start_scale)
    if names is not None:
        target.names = (ctypes.c_char_p * dim)(*(name.encode() for name in names))
    density.fill(target)
    return target


def _run(target: Any, options: RunOptions, density: Optional[Density], stop: ctypes.c_int,
         bounds: Optional[Bounds] = None) -> Result:
    """ais_run in a thread of its own, so that this one hears Ctrl-C: the first asks the run to end with the draws so
    far, a second one leaves it alone. That thread closes the target: it may be the last to need it."""
    context, made, status = Context(), ctypes.POINTER(RunResult)(), []
    done = threading.Event()  # join of a thread, once interrupted, takes it for finished (Python 3.11)

    def work() -> None:
        status.append(lib.ais_run(context, target, options, made))
        if density is None:
            lib.ais_target_close(target)
        done.set()

    threading.Thread(target=work, name="aisampler", daemon=True).start()
    interrupted = False
    while not done.is_set():
        try:
            done.wait(0.2)
        except KeyboardInterrupt:
            if interrupted:
                if density:
                    density.give_up()
                raise
            interrupted = True
            stop.value = 1
    try:
        if density and density.error:
            raise density.error
        if interrupted and not (made and made.contents.draws):
            raise KeyboardInterrupt
        if status[0] not in (OK, STOPPED) or not made.contents.draws:
            raise Error(context.message.decode())
        return read_result(made.contents, interrupted, bounds)
    finally:
        lib.ais_run_free(made)


def sample(
    logp: Union[Callable, str, os.PathLike],
    dim: Optional[int] = None,
    *,
    grad: Optional[Callable] = None,
    vectorized: bool = True,
    names: Optional[Sequence[str]] = None,
    bounds: Optional[Sequence[Tuple[Optional[float], Optional[float]]]] = None,
    seed: int = 1,
    effective: float = 0,
    evaluations: int = 0,
    seconds: float = 0,
    chains: int = 16,
    draws: int = 0,
    threads: int = 0,
    start_scale: float = 0,
) -> Result:
    """Learns how to draw from a density, draws under an exact Metropolis-Hastings test, and judges the draws.

    Parameters
    ----------
    logp
        The logarithm of the density up to a constant: a function of a batch, (n, dim) -> (n,), or with
        ``vectorized=False`` of one point, (dim,) -> number. ``-inf`` outside of the support. Or the name of a built-in
        target ("mog6"), or the path of a C file ("own.c"), which is compiled.
    dim
        Number of parameters of a function.
    grad
        Its gradient, (n, dim) -> (n, dim), or with ``vectorized=False`` (dim,) -> (dim,).
    names
        Of the parameters; x.1, x.2, ... when left out.
    bounds
        A pair (low, high) for each parameter, None where there is no bound. ``logp`` is asked inside of them only and
        knows nothing of the transform: draws, ``logp`` and log Z are those of the parameters themselves. Warnings and
        ``start_scale`` are about the unbounded scale: log-odds between two bounds, the logarithm of the distance to one.
    seed
        The same seed gives the same draws, unless ``seconds`` or ``effective`` is given.
    effective
        Draw until the worst effective sample size of all chains is this, and learn as much as that is worth.
    evaluations, seconds
        Budgets of the whole call; 0: no limit. Learning gets half at most.
    chains, draws
        ``draws`` per chain, at most; 0: 1000, or as many as ``effective`` takes.
    threads
        Of the library; 0: one per core. A function in Python is called by one thread at a time.
    start_scale
        Chains start from, and modes are looked for in, N(0, start_scale^2); 0: 1, or the target's own.

    Returns
    -------
    Result
        After Ctrl-C with the draws so far, and ``stopped`` true. When there are none yet, ``KeyboardInterrupt``.

    Raises
    ------
    DensityError
        The function raised (its exception is the cause, with its traceback) or returned what is no log density;
        ``point`` is where.
    Error
        The library refused or failed, and says why.
    """
    if not 0 <= start_scale < float("inf"):
        raise ValueError(f"start_scale must be a positive number, not {start_scale!r}")
    stop = ctypes.c_int(0)
    options = _options(seed, chains, draws, threads, effective, evaluations, seconds, stop)
    if isinstance(logp, (str, os.PathLike)):
        if dim is not None or grad is not None or names is not None or bounds is not None or not vectorized:
            raise TypeError("dim, grad, names, bounds and vectorized belong to a function: a target that is named has its own")
        return _run(_open(os.fspath(logp), start_scale), options, None, stop)
    if not callable(logp):
        raise TypeError(f"logp must be a function, a target's name or a C file, not {logp!r}")
    if dim is None:
        raise TypeError("dim is missing: how many parameters logp has")
    dim = _count("dim", dim)
    if names is not None and (isinstance(names, str) or len(names) != dim):
        raise ValueError(f"names must be {dim}, one for each parameter, not {names!r}")
    between = None if bounds is None else Bounds(bounds, dim)
    density = Density(logp, grad, dim, vectorized, between, stop)
    return _run(_own(density, dim, names, start_scale), options, density, stop, between)
