"""The shared library: where it is, and what of its headers is used here, as ctypes sees it."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_long, c_size_t, c_uint64, c_void_p

OK, BAD_ARGUMENT, STOPPED = 0, -1, -6
KIND_CUBE = 17  # of ais_kind; tests compare it

# Arrays come as addresses: a pointer object for each would cost more than the call.
LOGP = ctypes.CFUNCTYPE(c_double, c_void_p, c_void_p)
BATCH = ctypes.CFUNCTYPE(None, c_size_t, c_void_p, c_void_p, c_void_p)
GRAD = ctypes.CFUNCTYPE(c_double, c_void_p, c_void_p, c_void_p)


class Error(RuntimeError):
    """The library refused or failed; the sentence says what, where, and what to do."""


class Context(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 1020)]


SHOW = ctypes.CFUNCTYPE(None, c_size_t, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p)
CUBE = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)


class View(Structure):
    _fields_ = [("count", c_int), ("names", POINTER(c_char_p)), ("show", SHOW), ("generated", c_bool)]


class Parameter(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("argument", c_double * 3), ("count", c_int), ("cube", CUBE)]


class Target(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dim", c_int),
        ("logp", LOGP),
        ("batch", BATCH),
        ("grad", GRAD),
        ("names", POINTER(c_char_p)),
        ("start_scale", c_double),
        ("reference", c_void_p),
        ("view", POINTER(View)),
        ("about", c_char_p),
        ("tell", c_void_p),
        ("draws", c_void_p),
        ("data", c_void_p),
        ("close", c_void_p),
    ]


class TrainProgress(Structure):
    _fields_ = [
        ("stage", c_char_p),
        ("share", c_double),
        ("loss", c_double),
        ("discriminator_loss", c_double),
        ("acceptance", c_double),
        ("worst_ess", c_double),
        ("best_ess", c_double),
        ("seconds", c_double),
        ("seconds_left", c_double),
        ("rollbacks", c_int),
        ("evaluations", c_long),
        ("other_ess", c_double),
    ]


class Progress(Structure):
    _fields_ = [
        ("chains", c_int),
        ("warmup", c_int),
        ("draws", c_int),
        ("warmup_done", c_int),
        ("draws_done", c_int),
        ("seconds", c_double),
        ("seconds_left", c_double),
        ("acceptance", c_double),
        ("effective", c_double),
        ("divergences", c_long),
        ("evaluations", c_long),
        ("over", c_bool),
    ]


ON_TRAIN = ctypes.CFUNCTYPE(None, POINTER(TrainProgress), c_void_p)
ON_DRAW = ctypes.CFUNCTYPE(None, POINTER(Progress), c_void_p)


class TrainOptions(Structure):
    _fields_ = [
        ("seed", c_uint64),
        ("threads", c_int),
        ("shape", c_void_p),
        ("objective", c_char_p),
        ("rlogr", c_bool),
        ("paper", c_bool),
        ("ladder", c_bool),
        ("steps", c_long),
        ("rate", c_double),
        ("population", c_int),
        ("scale", c_double),
        ("screen", c_long),
        ("method", c_int),
        ("start", c_void_p),
        ("effective", c_double),
        ("evaluations", c_long),
        ("seconds", c_double),
        ("checkpoint", c_char_p),
        ("checkpoint_seconds", c_double),
        ("resume", c_bool),
        ("progress", ON_TRAIN),
        ("progress_data", c_void_p),
        ("stop", POINTER(c_int)),
        ("ranks", c_void_p),
    ]


class RunBefore(Structure):
    _fields_ = [
        ("check", c_void_p),
        ("kernel", c_void_p),
        ("training", c_void_p),
        ("warmup", c_int),
        ("seconds", c_double),
    ]


class RunOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seed", c_uint64),
        ("chains", c_int),
        ("draws", c_int),
        ("warmup", c_int),
        ("thin", c_int),
        ("threads", c_int),
        ("effective", c_double),
        ("evaluations", c_long),
        ("seconds", c_double),
        ("save_warmup", c_bool),
        ("learning", POINTER(TrainOptions)),
        ("start", POINTER(c_double)),
        ("before", RunBefore),
        ("sinks", c_void_p),
        ("sink_count", c_int),
        ("learned", c_void_p),
        ("learned_data", c_void_p),
        ("progress", ON_DRAW),
        ("progress_data", c_void_p),
        ("stop", POINTER(c_int)),
        ("ranks", c_void_p),
        ("checkpoint", c_char_p),
        ("checkpoint_seconds", c_double),
        ("resume", c_bool),
        ("extend", c_int),
        ("identity", c_char_p),
    ]


class Draws(Structure):
    _fields_ = [
        ("dim", c_int),
        ("chains", c_int),
        ("draws", c_int),
        ("name", POINTER(c_char_p)),
        ("value", POINTER(c_double)),
        ("logp", POINTER(c_double)),
        ("stats", c_int),
        ("stat_name", POINTER(c_char_p)),
        ("stat", POINTER(c_double)),
        ("sampler", c_char * 64),
        ("max_depth", c_int),
    ]


class Diagnosis(Structure):
    _fields_ = [
        ("dim", c_int),
        ("chains", c_int),
        ("draws", c_int),
        ("parameter", c_void_p),
        ("worst_ess", c_double),
        ("worst_ess_function", c_char * 64),
        ("worst_ess_song", c_double),
        ("worst_ess_error", c_double),
        ("mean_ess_song", c_double),
        ("worst_rhat", c_double),
        ("cross_chain_mean", c_double),
        ("cross_chain_largest", c_double),
        ("modes", c_int),
        ("mode_share", POINTER(c_double)),
        ("mode_kl", c_double),
        ("fewest_modes", c_int),
        ("total_variation", c_double),
        ("acceptance", c_double),
        ("lowest_ebfmi", c_double),
        ("divergences", c_long),
        ("trajectories", c_long),
        ("round_trips", c_double),
        ("barrier", c_double),
        ("log_z", c_double),
        ("log_z_error", c_double),
        ("warnings", c_int),
        ("warning", POINTER(c_char * 256)),
        ("checks", c_int),
        ("check", c_void_p),
    ]


class EvaluationCounts(Structure):
    _fields_ = [(name, c_long) for name in ("densities", "gradients", "start", "learning", "drawing", "judging")]


class Check(Structure):
    _fields_ = [("evaluations", c_long), ("threads", c_int), ("densities", c_long), ("gradients", c_long), ("note", c_char * 400)]


class RunResult(Structure):
    """Without `sample`, the last field, which is not read here: the library makes and frees it."""

    _fields_ = [
        ("draws", POINTER(Draws)),
        ("unconstrained", POINTER(Draws)),
        ("diagnosis", POINTER(Diagnosis)),
        ("trust", c_bool),
        ("verdict", c_char * 256),
        ("log_z", c_double),
        ("log_z_error", c_double),
        ("evaluations", EvaluationCounts),
        ("check", Check),
        ("kernel", c_void_p),
        ("training", c_void_p),
        ("warmup", c_int),
    ]


class RunPage(Structure):
    _fields_ = [
        ("title", c_char_p),
        ("seed", c_uint64),
        ("target", POINTER(Target)),
        ("training", c_void_p),
        ("configuration", POINTER(c_char_p)),
        ("parameter", POINTER(c_int)),
        ("parameters", c_int),
        ("truth", POINTER(c_double)),
    ]


# The name of each struct in the headers: tests compare the layouts.
STRUCTS = {
    "ais_context": Context,
    "ais_target": Target,
    "ais_view": View,
    "ais_parameter": Parameter,
    "ais_train_progress": TrainProgress,
    "ais_progress": Progress,
    "ais_train_options": TrainOptions,
    "ais_run_page": RunPage,
    "ais_run_before": RunBefore,
    "ais_run_options": RunOptions,
    "ais_draws": Draws,
    "ais_diagnosis": Diagnosis,
    "ais_evaluations": EvaluationCounts,
    "ais_check": Check,
    "ais_run_result": RunResult,
}

# Not pathlib, nor ctypes.util before it is needed: both import much that takes longer than the rest of the package.
_HERE = os.path.dirname(os.path.realpath(__file__))
_OWN = os.path.join(_HERE, "lib")  # in a wheel
_TREE = os.path.join(os.path.dirname(os.path.dirname(_HERE)), "build")  # where the Makefile builds, seen from a checkout


def _find_library() -> str:
    wish = os.environ.get("AISAMPLER_LIBRARY")
    if wish:
        return wish
    for place in (_OWN, _TREE):
        path = os.path.join(place, "libaisampler.so")
        if os.path.exists(path):
            return path
    import ctypes.util

    found = ctypes.util.find_library("aisampler")
    if found:
        return found
    raise ImportError(
        f"libaisampler.so is neither in {_OWN} nor in {_TREE} nor installed: "
        "build it with 'make command', or set AISAMPLER_LIBRARY to its path"
    )


def find_command() -> str:
    """The command beside the library."""
    library = _find_library()
    folder = os.path.dirname(library)
    for path in (os.path.join(folder, "aisampler"), os.path.join(os.path.dirname(folder), "bin", "aisampler")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"there is no command aisampler beside {library}")


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_find_library())
    columns = (POINTER(c_double), c_int, c_int)
    for name, result, arguments in (
        ("ais_version", c_char_p, ()),
        ("ais_target_open", c_int, (POINTER(Context), c_char_p, POINTER(POINTER(Target)))),
        ("ais_target_stan", c_int, (POINTER(Context), c_char_p, c_char_p, c_char_p, POINTER(POINTER(Target)))),
        ("ais_target_with", c_int, (POINTER(Context), POINTER(Target), POINTER(Parameter), c_int, POINTER(POINTER(Target)))),
        ("ais_parameter_parse", c_int, (POINTER(Context), c_char_p, POINTER(Parameter))),
        ("ais_target_close", None, (POINTER(Target),)),
        ("ais_run", c_int, (POINTER(Context), POINTER(Target), POINTER(RunOptions), POINTER(POINTER(RunResult)))),
        ("ais_run_free", None, (POINTER(RunResult),)),
        ("ais_run_html", c_int, (POINTER(Context), POINTER(RunResult), POINTER(RunPage), c_void_p)),
        ("ais_kernel_name", c_char_p, (c_void_p,)),
        ("ais_kernel_dim", c_int, (c_void_p,)),
        ("ais_kernel_save", c_int, (POINTER(Context), c_void_p, POINTER(Target), c_char_p)),
        ("ais_kernel_load", c_int, (POINTER(Context), c_char_p, POINTER(Target), POINTER(c_void_p))),
        ("ais_kernel_free", None, (c_void_p,)),
        ("ais_mcse_mean", c_double, columns),
        ("ais_ess_bulk", c_double, columns),
        ("ais_ess_tail", c_double, columns),
        ("ais_rhat", c_double, columns),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def version() -> str:
    return lib.ais_version().decode()
