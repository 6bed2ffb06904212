"""A posterior of a posteriordb checkout: its Stan program compiled by stanli, its density, constrained values and reference.

    Model(posterior, folder)      folder: where the model's JSON file and the density file FILE.c go"""
import ctypes
import json
import os
import zipfile

import numpy as np
import stanli

HERE = os.path.dirname(os.path.abspath(__file__))


def read(path):
    """A JSON file, or the only one in a zip file."""
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(archive.namelist()[0]))
    with open(path) as file:
        return json.load(file)


class Posterior:
    def __init__(self, checkout, name):
        self.root = os.path.join(checkout, "posterior_database")
        self.name = name
        self.about = read(os.path.join(self.root, "posteriors", name + ".json"))

    def data(self):
        return read(os.path.join(self.root, "data", "data", self.about["data_name"] + ".json.zip"))

    def program(self):
        with open(os.path.join(self.root, "models", "stan", self.about["model_name"] + ".stan")) as file:
            return file.read()

    def reference(self):
        """{name: draws of all chains} with names as BridgeStan writes them (theta.1.2), or None."""
        path = os.path.join(self.root, "reference_posteriors", "draws", "draws",
                            (self.about.get("reference_posterior_name") or "") + ".json.zip")
        if not os.path.exists(path):
            return None
        chains = read(path)
        return {key.replace("[", ".").replace(",", ".").replace("]", ""): np.concatenate([chain[key] for chain in chains])
                for key in chains[0]}


def posteriors(checkout):
    folder = os.path.join(checkout, "posterior_database", "posteriors")
    if not os.path.isdir(folder):
        raise SystemExit(f"{checkout} is no checkout of posteriordb: there is no {folder}")
    return sorted(file[:-5] for file in os.listdir(folder) if file.endswith(".json"))


class Model:
    def __init__(self, posterior, folder):
        data = posterior.data()
        data["__stanli"] = {"build_id": stanli.build_id(), "mir": stanli.stan_to_mir(posterior.program()), "name": "model"}
        self.path = os.path.join(folder, posterior.name + ".json")
        with open(self.path, "w") as file:
            json.dump(data, file)
        self.library = ctypes.CDLL(stanli._runtime_lib_path())
        pointer, flag, text = ctypes.c_void_p, ctypes.c_bool, ctypes.c_char_p
        for name, result, arguments in (
            ("bs_model_construct", pointer, [text, ctypes.c_uint, pointer]),
            ("bs_model_destruct", None, [pointer]),
            ("bs_param_unc_num", ctypes.c_int, [pointer]),
            ("bs_param_num", ctypes.c_int, [pointer, flag, flag]),
            ("bs_param_unc_names", text, [pointer]),
            ("bs_param_names", text, [pointer, flag, flag]),
            ("bs_log_density", ctypes.c_int, [pointer, flag, flag, pointer, pointer, pointer]),
            ("bs_log_density_gradient", ctypes.c_int, [pointer, flag, flag, pointer, pointer, pointer, pointer]),
            ("bs_param_constrain", ctypes.c_int, [pointer, flag, flag, pointer, pointer, pointer, pointer]),
        ):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments
        message = ctypes.c_char_p()
        self.model = self.library.bs_model_construct(self.path.encode(), 1, ctypes.byref(message))
        if not self.model:
            raise RuntimeError((message.value or b"the model cannot be constructed").decode())
        self.dim = self.library.bs_param_unc_num(self.model)

    def close(self):
        self.library.bs_model_destruct(self.model)

    def names(self, constrained):
        """Constrained: with transformed parameters, since references have them too."""
        text = (self.library.bs_param_names(self.model, True, False) if constrained
                else self.library.bs_param_unc_names(self.model)).decode()
        return text.split(",") if text else []

    def density_file(self, folder):
        path = os.path.join(folder, "density.c")
        names = ", ".join(json.dumps(name) for name in self.names(False))
        with open(path, "w") as file:
            file.write(f'#define STAN_LIBRARY {json.dumps(str(stanli._runtime_lib_path()))}\n#define STAN_MODEL {json.dumps(self.path)}\n'
                       f'#define STAN_DIM {self.dim}\n#define STAN_NAMES {names}\n'
                       f'#include {json.dumps(os.path.join(HERE, "stan_density.h"))}\n')
        return path

    def gradient(self, x, gradient):
        """The log density at x, or NaN."""
        value = ctypes.c_double()
        failed = self.library.bs_log_density_gradient(self.model, True, True, x.ctypes.data, ctypes.addressof(value),
                                                      gradient.ctypes.data, None)
        return float("nan") if failed else value.value

    def constrain(self, draws):
        """Unconstrained draws (n, dim) as {name: values}; draws that the model refuses are left out."""
        names = self.names(True)
        out, good = np.empty((len(draws), len(names))), np.zeros(len(draws), bool)
        draws = np.ascontiguousarray(draws, dtype=float)
        for i in range(len(draws)):
            good[i] = 0 == self.library.bs_param_constrain(self.model, True, False, draws[i].ctypes.data, out[i].ctypes.data,
                                                           None, None)
        return dict(zip(names, out[good].T))
