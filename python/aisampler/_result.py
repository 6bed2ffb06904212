"""What aisampler.sample returns."""

from __future__ import annotations

import dataclasses
import functools
import os
from ctypes import POINTER, c_double, pointer
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

import numpy as np

from ._backend import rows
from ._errors import DensityError
from ._kernel import Kernel
from ._library import Error, RunResult, lib
from ._report import Report, make_report, shown, true_values
from ._stan import variables


@dataclasses.dataclass(frozen=True)
class Evaluations:
    """How often the density was evaluated. A gradient comes with its density."""

    densities: int
    gradients: int
    start: int
    learning: int
    drawing: int
    judging: int

    @property
    def total(self) -> int:
        return self.densities + self.gradients


class Summary(Dict[str, Dict[str, float]]):
    """Name of a parameter -> mean, sd, mcse, q5, q50, q95, ess_bulk, ess_tail, rhat. Prints as a table."""

    def __repr__(self) -> str:
        columns = list(next(iter(self.values()), {}))
        width = max([9, *map(len, self)])
        lines = [" " * width + "".join(f"{column:>11}" for column in columns)]
        for name, row in self.items():
            cells = (f"{row[column]:11.0f}" if column.startswith("ess") else f"{row[column]:11.4g}" for column in columns)
            lines.append(f"{name:<{width}}" + "".join(cells))
        return "\n".join(lines)


class Run:
    """What the library made, kept as long as its report or its kernel may be needed."""

    def __init__(self, made: Any, kernel: Optional[Kernel], target: Any, open_target: Optional[Callable[[], Any]], title: str,
                 seed: int, configuration: List[str], again: Optional[Callable[[int], "Result"]] = None):
        self.made, self.title, self.seed, self.configuration = made, title, seed, configuration
        self.again = again  # with more draws
        self._given, self._target, self._open_target = kernel, target, open_target

    def kernel(self) -> Kernel:
        own = self.made.contents.kernel
        if own:
            made = self.made.contents
            known = (made.unconstrained or made.draws).contents
            return Kernel(own, self, [known.name[i].decode() for i in range(known.dim)])
        assert self._given is not None
        return self._given

    def report(self, path: Union[str, os.PathLike, None], parameters: List[int], truth: Optional[np.ndarray]) -> Report:
        target = self._open_target() if self._open_target else pointer(self._target)
        try:
            return make_report(self.made, target, self.title, self.seed, self.configuration, path, parameters, truth)
        finally:
            if self._open_target:
                lib.ais_target_close(target)

    def __del__(self) -> None:
        lib.ais_run_free(self.made)


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """Draws and how good they are."""

    draws: np.ndarray  #: chains x draws x dim
    names: List[str]  #: of the dim parameters
    logp: np.ndarray  #: chains x draws, the log density up to the user's constant
    stats: Dict[str, np.ndarray]  #: what the sampler tells of every draw, chains x draws each
    sampler: str  #: the kernel that drew
    log_z: float  #: log of the integral of exp(logp); NaN when nothing tells it
    log_z_error: float
    evaluations: Evaluations
    trust: bool  #: the diagnostics have no warning
    verdict: str  #: the same as a sentence
    warnings: List[str]  #: what is wrong, and what to do
    note: str  #: of the density: that its gradient is imprecise, where a Stan program failed; empty when there is none
    stopped: bool  #: by Ctrl-C or by an exception: these are the draws so far
    unconstrained: Optional[np.ndarray]  #: chains x draws x parameters as the sampler sees them; None where they are draws
    log_likelihood: Dict[str, np.ndarray]  #: name -> chains x draws x observations; see add_log_likelihood
    _run: Optional[Run] = None  # what the library keeps of the run; not in copies that were pickled

    def summary(self) -> Summary:
        """The table of parameters."""
        table = Summary()
        chains, draws, _ = self.draws.shape
        for i, name in enumerate(self.names):
            x = np.ascontiguousarray(self.draws[:, :, i])
            column = (x.ctypes.data_as(POINTER(c_double)), chains, draws)
            q5, q50, q95 = np.quantile(x, (0.05, 0.5, 0.95))
            table[name] = {
                "mean": float(x.mean()),
                "sd": float(x.std(ddof=1)),
                "mcse": lib.ais_mcse_mean(*column),
                "q5": float(q5),
                "q50": float(q50),
                "q95": float(q95),
                "ess_bulk": lib.ais_ess_bulk(*column),
                "ess_tail": lib.ais_ess_tail(*column),
                "rhat": lib.ais_rhat(*column),
            }
        return table

    @functools.cached_property
    def posterior(self) -> Any:
        """Draws and sampler statistics for ArviZ, a DataTree from version 1 on, InferenceData before."""
        try:
            import arviz
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"posterior is made by ArviZ, and there is {str(error).replace('No', 'no')}: pip install arviz",
                                      name=error.name) from error
        columns = {name: self.draws[:, :, i] for i, name in enumerate(self.names)}
        groups = {
            "posterior": columns if self.unconstrained is None else variables(self.names, self.draws),
            "sample_stats": {"lp": self.logp, **self.stats},
        }
        if self.log_likelihood:
            groups["log_likelihood"] = dict(self.log_likelihood)
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def add_log_likelihood(self, function: Callable, name: str = "y", vectorized: Optional[bool] = None) -> None:
        """Evaluates the log likelihood of every observation at all draws, for ``arviz.loo`` and its kin.

        ``function`` is of a batch, (n, dim) -> (n, observations), or of one point, (dim,) -> (observations,), in NumPy,
        JAX or PyTorch; which of the two is found out unless ``vectorized`` says it. The values are in
        ``log_likelihood[name]`` and in the group ``log_likelihood`` of ``posterior``.
        """
        chains, draws, dim = self.draws.shape
        found = rows(function, self.draws.reshape(-1, dim), vectorized, "the log likelihood")
        if found.ndim != 2:
            raise DensityError(
                f"the log likelihood of {chains * draws} draws must have a row of observations for each, not the shape "
                f"{found.shape}", self.draws[0, 0])
        self.log_likelihood[name] = found.reshape(chains, draws, -1)
        self.__dict__.pop("posterior", None)

    def report(self, path: Union[str, os.PathLike, None] = None, parameters: Union[str, Iterable[str], None] = None,
               truth: Optional[Mapping[str, Any]] = None) -> Report:
        """The page that ``aisampler run`` writes: verdict, table, figures. In a notebook it shows itself.

        It stands alone, in the file ``path`` if there is one. ``parameters`` are the names of those that the figures show,
        ``"x"`` for all of ``x.1``, ``x.2``, ... too; without it they are the worst few. ``truth`` are true values, lines in
        the corner plot: name -> number, or an array for ``x.1``, ``x.2``, ...
        """
        return self._kept().report(path, shown(parameters, self.names), true_values(truth, self.names))

    def extend(self, draws: int) -> "Result":
        """A result with this many more draws per chain, all of them judged together; this one stays as it is.

        It equals that of a run with more draws from the start. The run must have had a ``checkpoint``, from which it
        continues, and must be over. What ``effective``, ``evaluations`` or ``seconds`` ended continues without
        that limit.
        """
        again = self._kept().again
        if again is None:
            raise Error("there is nothing to continue from: give sample() a checkpoint")
        if draws < 1:
            raise ValueError(f"draws must be 1 or more, not {draws!r}")
        return again(draws)

    @property
    def kernel(self) -> Kernel:
        """What drew. ``result.kernel.save("k.ais")`` keeps it, ``sample(..., kernel=result.kernel)`` draws without learning."""
        return self._kept().kernel()

    def _kept(self) -> Run:
        if self._run is None:
            raise Error("a result that was pickled has no kernel, no report and cannot be extended: save the kernel and write the report first")
        return self._run

    def __getstate__(self) -> Dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("posterior", "_run")}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        chains, draws, dim = self.draws.shape
        lines = [
            self.verdict,
            *(f"warning: {warning}" for warning in self.warnings),
            *([f"note: {self.note}"] if self.note else []),
            f"{chains} chains of {draws} draws of {dim} parameters by {self.sampler}",
            f"log Z = {self.log_z:.{_decimals(self.log_z_error)}f} +- {self.log_z_error:.2g}; "
            f"{self.evaluations.total} evaluations "
            f"({self.evaluations.start} to start, {self.evaluations.learning} to learn, "
            f"{self.evaluations.drawing} to draw, {self.evaluations.judging} to judge)",
            repr(self.summary()),
        ]
        return "\n".join(lines)


def _decimals(error: float) -> int:
    """Of log Z: four, or as many as show where a smaller error begins."""
    return int(min(max(1 - np.floor(np.log10(error)), 4), 12)) if error > 0 else 4


def read_result(run: Run, stopped: bool) -> Result:
    """Copies what C has of draws and numbers; kernel and report are fetched later."""
    made: RunResult = run.made.contents
    draws = made.draws.contents
    shape = (draws.chains, draws.draws)
    value = np.ctypeslib.as_array(draws.value, (draws.dim, *shape))
    stats = np.ctypeslib.as_array(draws.stat, (draws.stats, *shape)) if draws.stats else ()
    diagnosis = made.diagnosis.contents if made.diagnosis else None
    count = made.evaluations
    points = np.ascontiguousarray(np.moveaxis(value, 0, 2))
    logp = np.ctypeslib.as_array(draws.logp, shape).copy()
    names = [draws.name[i].decode() for i in range(draws.dim)]
    raw, likelihood = None, {}
    if made.unconstrained:
        x = made.unconstrained.contents
        raw = np.ascontiguousarray(np.moveaxis(np.ctypeslib.as_array(x.value, (x.dim, *shape)), 0, 2))
        observations = [i for i, name in enumerate(names) if name.split(".")[0] == "log_lik"]  # Stan's habit, and ArviZ's
        likelihood = {"log_lik": points[:, :, observations]} if observations else {}
    return Result(
        draws=points,
        names=names,
        logp=logp,
        stats={draws.stat_name[k].decode().rstrip("_"): stats[k].copy() for k in range(draws.stats)},
        sampler=draws.sampler.decode(),
        log_z=made.log_z,
        log_z_error=made.log_z_error,
        evaluations=Evaluations(count.densities, count.gradients, count.start, count.learning, count.drawing, count.judging),
        trust=bool(made.trust),
        verdict=made.verdict.decode(),
        warnings=[diagnosis.warning[k].value.decode() for k in range(diagnosis.warnings)] if diagnosis else [],
        note=made.check.note.decode(),
        stopped=stopped,
        unconstrained=raw,
        log_likelihood=likelihood,
        _run=run,
    )
