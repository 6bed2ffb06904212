"""What aisampler.sample returns."""

from __future__ import annotations

import dataclasses
import functools
from ctypes import POINTER, c_double
from typing import Any, Dict, List, Optional

import numpy as np

from ._bounds import Bounds
from ._library import RunResult, lib


@dataclasses.dataclass(frozen=True)
class Evaluations:
    """What was asked of the density. A gradient comes with its density."""

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


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """Draws and how good they are."""

    draws: np.ndarray  #: chains x draws x dim
    names: List[str]  #: of the dim parameters
    logp: np.ndarray  #: chains x draws, the log density up to the user's constant
    stats: Dict[str, np.ndarray]  #: what the sampler tells of every draw, chains x draws each
    sampler: str  #: the kernel that drew
    log_z: float  #: log of the integral of exp(logp); NaN when learning gave none
    log_z_error: float
    evaluations: Evaluations
    trust: bool  #: the diagnostics have no warning
    verdict: str  #: the same as a sentence
    warnings: List[str]  #: what is wrong, and what to do
    note: str  #: of the check of the density, e.g. that its gradient is imprecise; empty when there is none
    stopped: bool  #: by Ctrl-C: these are the draws so far

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
        """Draws and sampler statistics for ArviZ: a DataTree from version 1 on, InferenceData before."""
        import arviz

        groups = {
            "posterior": {name: self.draws[:, :, i] for i, name in enumerate(self.names)},
            "sample_stats": {"lp": self.logp, **self.stats},
        }
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def __repr__(self) -> str:
        chains, draws, dim = self.draws.shape
        lines = [
            self.verdict,
            *(f"warning: {warning}" for warning in self.warnings),
            f"{chains} chains of {draws} draws of {dim} parameters by {self.sampler}",
            f"log Z = {self.log_z:.4f} +- {self.log_z_error:.4f}; {self.evaluations.total} evaluations "
            f"({self.evaluations.start} to start, {self.evaluations.learning} to learn, "
            f"{self.evaluations.drawing} to draw, {self.evaluations.judging} to judge)",
            repr(self.summary()),
        ]
        return "\n".join(lines)


def read_result(made: RunResult, stopped: bool, bounds: Optional[Bounds]) -> Result:
    """Copies what C has: it is freed afterwards."""
    draws = made.draws.contents
    shape = (draws.chains, draws.draws)
    value = np.ctypeslib.as_array(draws.value, (draws.dim, *shape))
    stats = np.ctypeslib.as_array(draws.stat, (draws.stats, *shape)) if draws.stats else ()
    diagnosis = made.diagnosis.contents if made.diagnosis else None
    count = made.evaluations
    points = np.ascontiguousarray(np.moveaxis(value, 0, 2))
    logp = np.ctypeslib.as_array(draws.logp, shape).copy()
    return Result(
        draws=bounds.inside(points) if bounds else points,
        names=[draws.name[i].decode() for i in range(draws.dim)],
        logp=logp - bounds.log_jacobian(points) if bounds else logp,
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
    )
