"""Draws from densities known up to a constant, and how good the draws are.

A first run::

    import aisampler

    def logp(x):                      # a batch: (n, 2) -> (n,)
        return -0.5 * x[:, 0]**2 - 2 * (x[:, 1] - x[:, 0]**2)**2

    result = aisampler.sample(logp, dim=2, effective=4000)
    print(result)                     # verdict, log Z, table of parameters
    result.draws                      # chains x draws x dim
    result.posterior                  # the same for ArviZ
"""

from ._errors import DensityError
from ._kernel import Kernel, load_kernel
from ._library import Error, version
from ._report import Report
from ._result import Evaluations, Result, Summary
from ._sample import sample

__version__ = version()
__all__ = ["DensityError", "Error", "Evaluations", "Kernel", "Report", "Result", "Summary", "load_kernel", "sample"]
for _each in (DensityError, Error):  # tracebacks call them what users do
    _each.__module__ = __name__
