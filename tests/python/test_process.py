"""What takes a process of its own: Ctrl-C, the command, the cost of an import."""

import os
import signal
import subprocess
import sys
import time

import aisampler

PROGRAM = """
import sys, time, numpy as np, aisampler
calls = 0
def logp(x):
    global calls
    calls += len(x)
    if calls > {limit}:
        print("now", flush=True)
        time.sleep(0.01)  # so that the interrupt comes before much more is done
    return -0.5 * (x**2).sum(axis=1)
result = aisampler.sample(logp, 2, draws=10**8)
print("stopped", result.stopped, result.draws.shape[1], np.isfinite(result.draws).all(), file=sys.stderr)
"""


def interrupted(limit):
    job = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(limit=limit)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # jobs in the background ignore it
    )
    assert job.stdout.readline() == "now\n"
    job.send_signal(signal.SIGINT)
    return job, job.communicate(timeout=60)[1]


def test_ctrl_c_returns_the_draws_so_far():
    job, said = interrupted(40000)
    assert job.returncode == 0, said
    words = said.split()
    assert words[:2] == ["stopped", "True"] and int(words[2]) > 10 and words[3] == "True"


def test_ctrl_c_before_the_first_draw():
    job, said = interrupted(10)
    assert job.returncode != 0 and said.strip().endswith("KeyboardInterrupt")


def test_the_command():
    said = subprocess.run([sys.executable, "-m", "aisampler", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout == f"aisampler {aisampler.__version__}\n"


def test_an_import_is_cheap():
    """Seconds of the processor: others may be busy on this machine. With bytecode, as installed: NumPy's compilation is
    not what an import costs."""
    bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    program = "import time; t = time.process_time(); import aisampler, sys; print(time.process_time() - t, *sys.modules)"
    said = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True,
                           env=bytecode).stdout.split()
            for _ in range(3)]
    assert min(float(words[0]) for words in said) < 0.3
    assert not {"arviz", "scipy", "pandas", "xarray", "matplotlib", "jax", "torch", "IPython", "multiprocessing", "subprocess", "json"} & set(said[0])
