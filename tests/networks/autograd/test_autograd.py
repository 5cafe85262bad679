"""Every operation against dense arithmetic, its gradient against finite differences, and numba against torch."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from dccgcn.kernels.elementwise_kernels import bits, threshold
from dccgcn.networks.autograd import (
    FeatureMatrix,
    Pattern,
    attend,
    dropout,
    dropout_key,
    edge_distance,
    edge_product,
    feature_matrix,
    neighbour_softmax,
    relu_dropout,
    spmm,
)
from dccgcn.networks.autograd.dropout_ops import random_bits
from helpers.threads import kernel_threads

BACKENDS = ["numba", "torch"]


def random_mask(shape, seed, density=0.4):
    """Where entries are; the middle row and the last column stay empty."""
    mask = np.random.default_rng(seed).random(shape) < density
    mask[shape[0] // 2] = False
    mask[:, -1] = False
    return mask


MASKS = {
    "wide": random_mask((5, 9), 0),
    "tall": random_mask((9, 4), 1),
    "square": random_mask((7, 7), 2, 0.7),
    "full": np.ones((4, 3), dtype=bool),
    "one entry": np.eye(1, 6, 2, dtype=bool),
    "no entry": np.zeros((3, 4), dtype=bool),
}


@pytest.fixture(params=MASKS.values(), ids=MASKS.keys())
def mask(request):
    return request.param


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    with kernel_threads(request.param):
        yield request.param


def pattern_of(mask, backend):
    return Pattern.of(sp.csr_array(mask.astype(np.float32)), backend=backend)


def numbers(*shape, seed=0, dtype=torch.float64, grad=True):
    drawn = torch.from_numpy(np.random.default_rng([seed, *shape]).normal(size=shape)).to(dtype)
    return drawn.requires_grad_(grad)


def dense(mask, values):
    matrix = np.zeros(mask.shape)
    matrix[mask] = values.detach().numpy()  # NumPy visits a mask row by row, as CSR does
    return matrix


def test_pattern_transposes_by_a_permutation_of_the_entries(mask):
    matrix = sp.csr_array(mask * np.arange(1.0, mask.size + 1).reshape(mask.shape))
    p = Pattern.of(matrix)
    assert (p.entries, p.shape) == (mask.sum(), mask.shape)
    np.testing.assert_array_equal(np.stack([p.rows, p.cols]), np.nonzero(mask))
    t_order, t_indices, t_indptr = (t.numpy() for t in (p.t_order, p.t_indices, p.t_indptr))
    transposed = sp.csr_array((matrix.data[t_order], t_indices, t_indptr), shape=mask.shape[::-1])
    np.testing.assert_array_equal(transposed.toarray(), matrix.toarray().T)
    unsorted = sp.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(ValueError, match="sort the indices"):
        Pattern.of(unsorted)


def test_spmm_against_dense(mask, backend):
    p = pattern_of(mask, backend)
    values, right = numbers(p.entries), numbers(mask.shape[1], 3)
    expected = dense(mask, values) @ right.detach().numpy()
    np.testing.assert_allclose(spmm(p, values, right).detach(), expected, atol=1e-14)
    assert gradcheck(lambda v, d: spmm(p, v, d), (values, right))
    assert gradcheck(lambda v: spmm(p, v, right.detach()), (values,))  # to one side alone
    assert gradcheck(lambda d: spmm(p, values.detach(), d), (right,))
    dropped = torch.where(torch.arange(p.entries) % 2 == 0, 0, values.detach())
    expected = dense(mask, dropped) @ right.detach().numpy()
    np.testing.assert_allclose(spmm(p, dropped, right.detach()), expected, atol=1e-14)


def test_spmm_takes_sides_that_are_not_contiguous(backend):
    p = pattern_of(MASKS["wide"], backend)
    values, right = numbers(p.entries, 2)[:, 0], numbers(3, 9).T
    expected = dense(MASKS["wide"], values) @ right.detach().numpy()
    np.testing.assert_allclose(spmm(p, values, right).detach(), expected, atol=1e-14)
    assert gradcheck(lambda v, d: spmm(p, v[:, 0], d.T), (numbers(p.entries, 2), numbers(3, 9)))


def test_edge_product_against_dense(mask, backend):
    p, left, right = pattern_of(mask, backend), numbers(mask.shape[0], 4), numbers(mask.shape[1], 4, seed=1)
    expected = (left @ right.T)[torch.from_numpy(mask)]
    torch.testing.assert_close(edge_product(p, left, right), expected)
    assert gradcheck(lambda *t: edge_product(p, *t), (left, right))


@pytest.mark.parametrize("drop", [0.0, 0.5])
def test_attention_against_dense(mask, backend, drop):
    p, heads = pattern_of(mask, backend), 3
    target, source = numbers(mask.shape[0], heads), numbers(mask.shape[1], heads, seed=1)
    h = numbers(mask.shape[1], heads, 4, seed=2)
    kept = dropout(torch.ones(p.entries, heads, dtype=torch.float64), drop, 5)
    found = attend(p, target, source, h, 0.2, drop, 5)
    for k in range(heads):
        scores = torch.nn.functional.leaky_relu(target[:, k, None] + source[None, :, k], 0.2)
        weights = torch.where(torch.from_numpy(mask), scores, -torch.inf).softmax(1).nan_to_num(0)
        weights = weights * torch.from_numpy(dense(mask, kept[:, k]))
        torch.testing.assert_close(found[:, k], weights @ h[:, k])
    assert gradcheck(lambda *t: attend(p, *t, 0.2, drop, 5), (target, source, h))


def test_edge_distance_against_dense(mask, backend):
    p = pattern_of(mask, backend)
    rows, cols = mask.shape
    inputs = numbers(rows, 3), numbers(rows, 3, seed=1), numbers(cols, 3, seed=2), numbers(cols, 3, seed=3)
    mu_r, s_r, mu_c, s_c = (t.detach().numpy() for t in inputs)
    everywhere = ((mu_r[:, None] - mu_c[None]) ** 2 * (s_r[:, None] + s_c[None])).sum(2)
    np.testing.assert_allclose(edge_distance(p, *inputs).detach(), everywhere[mask], atol=1e-13)
    assert gradcheck(lambda *t: edge_distance(p, *t), inputs)
    if rows == cols:  # of a set to itself: both gradients are added
        assert gradcheck(lambda mu, s: edge_distance(p, mu, s, mu, s), inputs[:2])


def test_neighbour_softmax_against_dense(mask, backend):
    p = pattern_of(mask, backend)
    scores = numbers(p.entries)
    everywhere = np.full(mask.shape, -np.inf)
    everywhere[mask] = scores.detach()
    for row in np.flatnonzero(mask.any(axis=1)):
        weight = np.exp(everywhere[row] - everywhere[row].max())
        everywhere[row] = weight / weight.sum()
    np.testing.assert_allclose(neighbour_softmax(p, scores).detach(), everywhere[mask], rtol=1e-14)
    assert gradcheck(lambda t: neighbour_softmax(p, t), scores)


def test_neighbour_softmax_leaves_out_minus_infinity(backend):
    p = Pattern.of(sp.csr_array(np.ones((3, 4), np.float32)), backend=backend)
    out = torch.tensor([[0, 1, 0, 0], [1, 1, 1, 1], [1, 1, 0, 1]], dtype=torch.bool).view(-1)
    scores = numbers(12)

    def weights(t):
        return neighbour_softmax(p, t.masked_fill(out, -torch.inf))

    found = weights(scores).detach().view(3, 4)
    np.testing.assert_allclose(found[0, [0, 2, 3]], scores.detach()[[0, 2, 3]].softmax(0))
    assert (found[1] == 0).all()
    assert found[2].tolist() == [0, 0, 1, 0]
    assert gradcheck(weights, scores)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_backends_agree_with_their_gradients(mask, dtype):
    found = []
    for backend in BACKENDS:
        p = pattern_of(mask, backend)
        rows, cols = mask.shape
        mu_r, s_r = numbers(rows, 3, dtype=dtype), numbers(rows, 3, seed=1, dtype=dtype)
        mu_c, s_c = numbers(cols, 3, dtype=dtype), numbers(cols, 3, seed=1, dtype=dtype)
        weights = neighbour_softmax(p, edge_distance(p, mu_r, s_r, mu_c, s_c))
        out = spmm(p, weights, mu_c)
        out.backward(numbers(rows, 3, seed=9, dtype=dtype, grad=False))
        found.append([out.detach(), *(t.grad for t in (mu_r, s_r, mu_c, s_c))])
    for first, second in zip(*found, strict=True):
        assert first.dtype == second.dtype == dtype
        torch.testing.assert_close(first, second)


@pytest.fixture(scope="module")
def alone():
    """What one thread computes, for comparison."""
    with kernel_threads(1):
        return everything()


def everything():
    mask = random_mask((60, 50), 5)
    p = pattern_of(mask, "numba")
    mu_r, mu_c = numbers(60, 4, dtype=torch.float32), numbers(50, 4, dtype=torch.float32)
    s = numbers(60, 4, seed=1, dtype=torch.float32)
    weights = neighbour_softmax(p, edge_distance(p, mu_r, s, mu_c, mu_c))
    out = relu_dropout(spmm(p, dropout(weights.detach(), 0.3, 1) * weights, mu_c), 0.5, 2)
    heads = attend(p, mu_r, mu_c, mu_c[:, :, None] * edge_product(p, mu_r, mu_c).sum(), 0.2, 0.5, 3)
    (out.sum() + heads.square().sum()).backward()
    return [weights.detach(), out.detach(), heads.detach(), mu_r.grad, s.grad, mu_c.grad]


def test_results_are_bitwise_the_same_for_any_number_of_threads(threads, alone):
    for first, second in zip(everything(), alone, strict=True):
        assert torch.equal(first, second)


@pytest.mark.parametrize("key", [0, 1, 123456789, 2**32 - 1])
def test_numba_and_torch_draw_the_same_bits(key):
    drawn = random_bits(key, 500, torch.device("cpu"))
    assert [int(bits(np.uint32(key), e)) for e in range(500)] == drawn.tolist()
    assert 0 <= int(drawn.min()) < int(drawn.max()) < 2**32


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_drops_a_share_p_and_scales_the_rest(p, threads):
    values = torch.ones(100_000)
    out = dropout(values, p, key=7)
    kept = random_bits(7, values.numel(), values.device) >= threshold(p)
    torch.testing.assert_close(out, kept / (1 - p))
    sd = (p * (1 - p) / values.numel()) ** 0.5
    assert abs(float((out == 0).float().mean()) - p) < 4 * sd
    assert (values == 1).all()  # the stored features are left as they are


def test_dropout_of_nothing_changes_nothing():
    values = numbers(50, grad=False)
    assert torch.equal(dropout(values, 0.0, 3), values)
    assert torch.equal(relu_dropout(values, 0.0, 3), values.relu())


def test_masks_of_different_keys_and_neighbouring_positions_are_independent():
    keys = [dropout_key(seed, epoch, site) for seed in (0, 1, 2**32) for epoch in range(10) for site in range(4)]
    assert len(set(keys)) == len(keys)
    kept = torch.stack([random_bits(key, 4000, torch.device("cpu")) >= threshold(0.5) for key in keys]).double()
    correlation = torch.corrcoef(kept) - torch.eye(len(keys))
    assert correlation.abs().max() < 5.5 / 4000**0.5
    shifted = torch.corrcoef(torch.stack([kept[:, :-1].flatten(), kept[:, 1:].flatten()]))[0, 1]
    assert abs(shifted) < 4 / (len(keys) * 3999) ** 0.5


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_relu_dropout_against_torch(p, threads):
    values = numbers(40, 6)
    kept = (random_bits(11, 240, values.device) >= threshold(p)).view(40, 6)
    torch.testing.assert_close(relu_dropout(values, p, 11), values.relu() * kept / (1 - p))
    assert gradcheck(lambda t: relu_dropout(t, p, 11), values)


def test_relu_dropout_passes_a_gradient_that_is_not_contiguous():
    values = numbers(4, 3)
    weights = numbers(3, 4, seed=1, grad=False)
    (relu_dropout(values, 0.5, 2).T * weights).sum().backward()
    kept = (random_bits(2, 12, values.device) >= threshold(0.5)).view(4, 3) & (values > 0)
    torch.testing.assert_close(values.grad, weights.T * kept * 2)


@pytest.mark.parametrize("above", [0.0, 1.0], ids=["dense", "sparse"])
@pytest.mark.parametrize("given", [sp.csr_array, np.asarray])
def test_feature_matrix_against_dense(monkeypatch, above, given):
    monkeypatch.setattr(feature_matrix, "DENSE_ABOVE", above)
    x = (random_mask((12, 9), 3) * np.arange(108).reshape(12, 9)).astype(np.float32)
    matrix = FeatureMatrix.of(given(x))
    assert (matrix.pattern is None) == (above == 0)
    theta = numbers(9, 4, dtype=torch.float32)
    out = matrix.times(theta)
    torch.testing.assert_close(out, torch.from_numpy(x) @ theta)
    out.backward(torch.ones(12, 4))
    torch.testing.assert_close(theta.grad, torch.from_numpy(x).T @ torch.ones(12, 4))
    monkeypatch.undo()
    assert FeatureMatrix.of(np.eye(10)).pattern is not None  # sparse where few features are filled
    assert FeatureMatrix.of(sp.csr_array(np.ones((10, 10)))).pattern is None


@pytest.mark.parametrize("above", [0.0, 1.0], ids=["dense", "sparse"])
def test_feature_matrix_drops_stored_values(monkeypatch, above):
    monkeypatch.setattr(feature_matrix, "DENSE_ABOVE", above)
    x = sp.random_array((200, 100), density=0.3, rng=np.random.default_rng(0), dtype=np.float32)
    matrix = FeatureMatrix.of(sp.csr_array(x))
    dropped = matrix.times(torch.eye(100), 0.4, key=5)
    factor = (dropped / matrix.times(torch.eye(100)))[torch.from_numpy(x.toarray() > 0)]
    torch.testing.assert_close(factor[factor != 0], torch.full_like(factor[factor != 0], 1 / 0.6))
    assert float((factor == 0).float().mean()) == pytest.approx(0.4, abs=0.03)


def test_huge_scores_are_finite(backend):
    p = pattern_of(random_mask((6, 6), 0, 0.9), backend)
    target = torch.tensor([[1e4], [-1e4], [0.0], [1e4], [3.0], [-1e4]])
    assert attend(p, target, -target, torch.ones(6, 1, 2), 0.2, 0.0, 0).isfinite().all()
    p = pattern_of(np.ones((2, 2), bool), backend)
    assert neighbour_softmax(p, torch.tensor([1e30, 0, -1e30, -1e30])).tolist() == [1, 0, 0.5, 0.5]
