"""Functions of PyTorch, taken as they are. Its wheel has gigabytes of CUDA beside it: tested where it is installed."""

import pytest

torch = pytest.importorskip("torch")

import aisampler
from densities import MEAN, is_found
from densities import logp as exact


def point(x):
    a = x[0] - MEAN[0]
    b = x[1] - MEAN[1] - 0.5 * a
    return -0.5 * torch.square(a) - 2 * torch.square(b)


def batch(x):
    a = x[:, 0] - MEAN[0]
    b = x[:, 1] - MEAN[1] - 0.5 * a
    return -0.5 * torch.square(a) - 2 * torch.square(b)


def branches(x):
    """Which vmap cannot do."""
    return point(x) if float(x[0]) > 0 else 1 * point(x)


@pytest.mark.parametrize("function", [point, batch, branches])
def test_it_is_found_batched_and_differentiated(function):
    is_found(aisampler, function, exact)


def test_a_distribution():
    normal = torch.distributions.MultivariateNormal(torch.tensor([3.0, -1.0], dtype=torch.float64), torch.eye(2, dtype=torch.float64))
    result = aisampler.sample(normal.log_prob, 2)
    assert result.trust and abs(result.log_z) < 5 * result.log_z_error + 1e-3
    assert abs(result.draws.mean(axis=(0, 1)) - [3, -1]).max() < 0.1


def test_a_module_in_single_precision_is_told():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2, bias=False)
            with torch.no_grad():
                self.layer.weight.copy_(torch.eye(2))

        def forward(self, x):
            return -0.5 * torch.sum(self.layer(x) ** 2, dim=-1)

    with pytest.warns(UserWarning, match="single precision"):
        result = aisampler.sample(Model(), 2)
    assert result.trust and result.evaluations.gradients > 0, result


def test_without_a_gradient():
    assert aisampler.sample(point, 2, grad=False, draws=50).evaluations.gradients == 0
    with pytest.warns(UserWarning, match="PyTorch cannot differentiate logp"):
        aisampler.sample(lambda x: -0.5 * torch.sum(x.detach() ** 2), 2, draws=50)
