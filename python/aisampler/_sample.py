"""aisampler.sample: a density in, a result out."""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import threading
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._backend import adapt
from ._density import Density
from ._kernel import Kernel, load_kernel
from ._library import OK, STOPPED, Context, Error, RunOptions, RunResult, Target, TrainOptions, lib
from ._parameters import Bound, Parameters, Prior, Summed, has_observations
from ._progress import ProgressLine
from ._stan import Data, data_text, open_stan
from ._result import Result, Run, read_result


def _count(name: str, value: Any, most: int = 2**31 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name} must be between 0 and {most}, not {number}")
    return number


def _amount(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None


def _options(seed: int, chains: int, draws: int, threads: int, effective: float, evaluations: int, seconds: float,
             stop: ctypes.c_int) -> RunOptions:
    return RunOptions(
        size=ctypes.sizeof(RunOptions),
        seed=_count("seed", seed, 2**64 - 1),
        chains=_count("chains", chains),
        draws=_count("draws", draws),
        threads=_count("threads", threads),
        effective=_amount("effective", effective),
        evaluations=_count("evaluations", evaluations, 10**15),
        seconds=_amount("seconds", seconds),
        stop=ctypes.pointer(stop),
    )


def _configuration(options: RunOptions) -> List[str]:
    """The settings of the call, as the report shows them."""
    names = ("seed", "chains", "draws", "threads", "effective", "evaluations", "seconds")
    return [f"{name} = {getattr(options, name):g}" if isinstance(getattr(options, name), float)
            else f"{name} = {getattr(options, name)}" for name in names if name == "seed" or getattr(options, name)]


def _take_kernel(kernel: Union[Kernel, str, os.PathLike, None], options: RunOptions) -> Optional[Kernel]:
    if kernel is None:
        return None
    if isinstance(kernel, (str, os.PathLike)):
        kernel = load_kernel(kernel)
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be the kernel of a result, or a file, not {kernel!r}")
    options.before.kernel = kernel.address
    options.before.warmup = kernel.warmup
    return kernel


def _keep(checkpoint: Union[str, os.PathLike, None], resume: bool, progress: ProgressLine, options: RunOptions) -> None:
    if checkpoint is None:
        if resume:
            raise TypeError("resume needs checkpoint: the file to continue from")
        return
    path = os.fsencode(checkpoint)
    options.checkpoint, options.resume = path, resume
    if not options.before.kernel:
        learning = TrainOptions(checkpoint=path + b".training", resume=resume)
        if progress.wanted:
            learning.progress = progress.on_train
        options.learning = ctypes.pointer(learning)


def _learned(options: RunOptions) -> None:
    """The kernel is safe in the checkpoint of the draws: that of learning goes."""
    if options.checkpoint and not options.before.kernel:
        with contextlib.suppress(FileNotFoundError):
            os.remove(options.checkpoint + b".training")


def _report_to(progress: ProgressLine, options: RunOptions) -> None:
    if not progress.wanted:
        return
    options.progress = progress.on_draw
    if not options.before.kernel:
        options.learning = ctypes.pointer(TrainOptions(progress=progress.on_train))


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


class _Job:
    """One call of ais_run, with everything that it needs."""

    def __init__(self, target: Any, options: RunOptions, stop: ctypes.c_int, title: str, kernel: Optional[Kernel],
                 progress: ProgressLine, density: Optional[Density] = None, parameters: Optional[Parameters] = None,
                 open_target: Optional[Callable[[], Any]] = None, again: Optional[Callable[[int], Result]] = None):
        self._target, self._options, self._stop, self._density, self._parameters = target, options, stop, density, parameters
        self._title, self._kernel, self._progress, self._open_target = title, kernel, progress, open_target
        self._again = again
        self._context, self._made, self._status = Context(), ctypes.POINTER(RunResult)(), OK

    def run(self) -> Result:
        interrupted = self._wait()
        made, error = self._made, self._density.error if self._density else None
        if self._parameters is not None and self._parameters.error is not None:
            error = self._parameters.error
        run = Run(made, self._kernel, self._target, self._open_target, self._title, self._options.seed,
                  _configuration(self._options), self._again)
        drawn = bool(made) and bool(made.contents.draws)
        result = read_result(run, interrupted or error is not None) if drawn else None
        if error is not None:
            error.result = result
            self._progress.end(f"ended by {type(error.__cause__ or error).__name__}")
            raise error
        if interrupted and result is None:
            self._progress.end("stopped before the first draw")
            raise KeyboardInterrupt
        if result is None or self._status not in (OK, STOPPED):
            self._progress.end("failed")
            raise Error(self._context.message.decode())
        self._progress.end(f"{'stopped' if interrupted else 'done'}: {result.draws.shape[0]} x {result.draws.shape[1]} draws, "
                           f"{result.evaluations.total} evaluations")
        return result

    def _wait(self) -> bool:
        """ais_run in a thread of its own, so that this one receives Ctrl-C: the first ends the run with the draws so
        far, a second one leaves it alone. That thread closes the target: it may be the last to need it."""
        done = threading.Event()  # join of a thread, once interrupted, takes it for finished (Python 3.11)

        def work() -> None:
            self._status = lib.ais_run(self._context, self._target, self._options, self._made)
            if self._density is None:
                lib.ais_target_close(self._target)
            done.set()

        threading.Thread(target=work, name="aisampler", daemon=True).start()
        interrupted = False
        while not done.is_set():
            try:
                done.wait(0.1)
                self._progress.show()
            except KeyboardInterrupt:
                if interrupted:
                    if self._density:
                        self._density.give_up()
                    raise
                interrupted = True
                self._stop.value = 1
        return interrupted


def sample(
    logp: Union[Callable, str, os.PathLike, None] = None,
    dim: Optional[int] = None,
    *,
    prior: Optional[Prior] = None,
    likelihood: Optional[Callable] = None,
    stan: Union[str, os.PathLike, None] = None,
    data: Data = None,
    grad: Union[Callable, bool, None] = None,
    vectorized: Optional[bool] = None,
    backend: Optional[str] = None,
    pool: Any = None,
    names: Optional[Sequence[str]] = None,
    bounds: Optional[Sequence[Bound]] = None,
    seed: int = 1,
    effective: float = 0,
    evaluations: int = 0,
    seconds: float = 0,
    chains: int = 16,
    draws: int = 0,
    threads: int = 0,
    start_scale: float = 0,
    kernel: Union[Kernel, str, os.PathLike, None] = None,
    log_likelihood: Optional[Callable] = None,
    checkpoint: Union[str, os.PathLike, None] = None,
    resume: bool = False,
    progress: Optional[bool] = None,
) -> Result:
    """Learns how to draw from a density, draws under an exact Metropolis-Hastings test, and judges the draws.

    Parameters
    ----------
    logp
        The logarithm of the density up to a constant, ``-inf`` outside of the support. A function of NumPy takes a
        batch, (n, dim) -> (n,), or with ``vectorized=False`` one point, (dim,) -> number. One of JAX or PyTorch is taken
        as it is, of a point or of a batch, and needs no ``grad``. Or the name of a built-in target ("mog6"), or the path
        of a C file ("own.c"), which is compiled.
    dim
        Number of parameters of a function; with a ``prior`` of names it is known.
    prior
        Of every parameter, in the order in which the function gets them: a dict of names and priors. A prior is a text,
        "uniform(0, 10)", "periodic(0, 360)", "normal(0, 1)", "lognormal(0, 1)", "half_normal(2)", "half_cauchy(5)",
        "cauchy(0, 1)", "student(3, 0, 1)", "exponential(1)", "gamma(2, 1)", "beta(2, 2)", "dirichlet(1)", a frozen
        distribution of scipy.stats, or a pair of one of them and a count for a vector. Without a prior, for a density that
        has its own: "real", "positive", "lower(0)", "upper(1)", "between(0, 1)", "simplex", "ordered". Or one function
        from the unit cube, u -> parameters, as nested samplers have it, with ``dim``. ``logp`` is then the likelihood, and with priors
        for all of them log Z is the evidence.
    likelihood
        ``logp`` by another name, beside ``prior``. It may have a value for every observation, (n, dim) -> (n,
        observations): their sum counts, and the values are the group ``log_likelihood`` for ``arviz.loo``.
    stan
        Instead of ``logp``, a Stan program: a file ``model.stan`` or the program itself, which needs the package stanli, or
        a library ``model.so`` made by BridgeStan. Draws are of its parameters, transformed parameters and generated
        quantities; ``unconstrained`` has the parameters as the sampler sees them.
    data
        The program's data: a dict of numbers and arrays, or the path of a JSON file.
    grad
        The gradient of ``logp``, (n, dim) -> (n, dim), or with ``vectorized=False`` (dim,) -> (dim,). False: JAX and
        PyTorch do not differentiate it.
    vectorized
        Whether the functions take a batch. None: for NumPy yes; for JAX and PyTorch it is detected.
    backend
        "numpy", "jax" or "torch"; None: recognised by what ``logp`` returns at one point, if JAX or PyTorch is loaded.
    pool
        For slow functions of NumPy: an object with a method ``map``, such as the pools of multiprocessing,
        concurrent.futures and
        mpi4py.futures, or a client of dask. Functions must be picklable where workers are processes.
    names
        The parameters' names; x.1, x.2, ... by default.
    bounds
        A pair (low, high) for each parameter, None where there is no bound. ``logp`` is only evaluated inside them and
        need not know of the transform: draws, ``logp`` and log Z are those of the parameters themselves. Warnings and
        ``start_scale`` are about the unbounded scale: log-odds between two bounds, the logarithm of the distance to one.
        Short for a ``prior`` of "between(low, high)" and the like.
    seed
        The same seed gives the same draws, unless ``seconds`` or ``effective`` is given.
    effective
        Draw until the worst effective sample size of all chains is this, and learn as much as that is worth.
    evaluations, seconds
        Budgets of the whole call; 0: no limit. Learning gets half at most.
    chains, draws
        ``draws`` per chain, at most; 0: 1000, and up to 4000 if the verdict needs more, or as many as ``effective``
        takes.
    threads
        The library's threads; 0: one per core, or with ``pool`` one per worker. A function in Python is called by one
        thread at
        a time.
    start_scale
        The search for modes, and chains, start from N(0, start_scale^2); 0: 1, or the target's own.
    kernel
        The kernel of an earlier result, or the file it was saved in: nothing is learned. log Z is estimated if the
        kernel proposes from a map or a mixture.
    log_likelihood
        The log likelihood of every observation, (n, dim) -> (n, observations), evaluated at the draws for
        ``arviz.loo``:
        see :meth:`Result.add_log_likelihood`.
    checkpoint
        A file that is renewed while draws are made, with ``CHECKPOINT.journal`` beside it, which has the draws; while a
        kernel is learned, ``CHECKPOINT.training``. For ``resume`` and :meth:`Result.extend`.
    resume
        Continue from the checkpoint, if there is one, after the process was killed: the draws are the same as if it had
        not been. Density and arguments must be the same.
    progress
        One line on stderr, or in the notebook. None: only in a terminal or a notebook.

    Returns
    -------
    Result
        After Ctrl-C it has the draws so far, and ``stopped`` is true; if there are none yet, ``KeyboardInterrupt`` is
        raised.

    Raises
    ------
    DensityError
        The function raised (its exception is the cause, with its traceback) or returned something that is not a log
        density; ``point`` is where, and ``result`` has the draws so far, if any.
    Error
        The library refused or failed, and says why.
    """
    if not 0 <= start_scale < float("inf"):
        raise ValueError(f"start_scale must be a positive number, not {start_scale!r}")
    stop = ctypes.c_int(0)
    options = _options(seed, chains, draws, threads, effective, evaluations, seconds, stop)
    given = _take_kernel(kernel, options)
    line = ProgressLine(progress)
    _report_to(line, options)
    _keep(checkpoint, resume, line, options)
    if stan is None and data is not None:
        raise TypeError("data are for a Stan program: stan=")
    if likelihood is not None:
        if logp is not None or prior is None:
            raise TypeError("likelihood goes with prior, in place of logp")
        logp = likelihood
    if (stan is None) == (logp is None):
        if logp is not None:
            raise TypeError("sample() takes either logp or stan, not both")
        raise TypeError("likelihood is missing: the prior alone gives no posterior" if prior is not None else
                        "sample() needs a density: logp, prior and likelihood, or stan")
    if stan is not None or isinstance(logp, (str, os.PathLike)):
        if any(wish is not None for wish in (dim, grad, names, prior, bounds, vectorized, backend, pool)):
            raise TypeError("dim, grad, names, prior, bounds, vectorized, backend and pool are for functions: a target that "
                            "is named has its own")
        spec = os.fspath(logp if stan is None else stan)
        text = data_text(data)

        def open_target() -> Any:
            return _open(spec, start_scale) if stan is None else open_stan(spec, text, start_scale)

        title = spec if "\n" not in spec else "stan"

        def job(line: ProgressLine) -> _Job:
            return _Job(open_target(), options, stop, title, given, line, open_target=open_target, again=again)

    else:
        if not callable(logp):
            raise TypeError(f"logp must be a function, a target's name or a C file, not {logp!r}")
        if prior is not None and bounds is not None:
            raise TypeError("bounds are those of the prior: leave one of them out")
        if dim is None and not isinstance(prior, dict):
            raise TypeError("dim is missing: how many parameters logp has")
        if dim is not None:
            dim = _count("dim", dim)
            if dim == 0:
                raise ValueError("dim must be 1 or more, not 0")
            if names is not None and (isinstance(names, str) or len(names) != dim or not all(isinstance(name, str) for name in names)):
                raise ValueError(f"names must be {dim}, one for each parameter, not {names!r}")
            if names is not None and len(set(names)) < dim:
                raise ValueError(f"names must differ: {names!r}")
        parameters = None
        if prior is not None:
            parameters = Parameters.from_prior(prior, dim, names)
            dim = parameters.dim
        elif bounds is not None:
            parameters = Parameters.from_bounds(bounds, dim, names)
        probe = parameters.middle() if parameters else np.full(dim, 0.25)
        title = getattr(logp, "__name__", type(logp).__name__)
        if likelihood is not None and log_likelihood is None and has_observations(likelihood, probe, vectorized):
            log_likelihood, logp = likelihood, Summed(likelihood)
        functions = adapt(logp, grad, probe, vectorized, backend, pool)
        options.threads = options.threads or functions.workers
        density = Density(functions, dim, stop)
        own = _own(density, dim, None if parameters else names, start_scale)
        target = parameters.around(own) if parameters else own

        def job(line: ProgressLine) -> _Job:
            return _Job(target, options, stop, title, given, line, density, parameters, again=again)

    def run(line: ProgressLine) -> Result:
        result = job(line).run()
        if not result.stopped:
            _learned(options)
        if log_likelihood is not None:
            result.add_log_likelihood(log_likelihood)
        return result

    def extend(more: int) -> Result:
        line = ProgressLine(progress)
        stop.value, options.extend = 0, _count("draws", more)
        options.resume = True
        if line.wanted:
            options.progress = line.on_draw
        return run(line)

    again = extend if checkpoint is not None else None
    return run(line)
