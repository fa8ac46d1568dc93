"""Random numbers in functions that torch.func.vmap maps."""
import argand as torch
import pytest

BATCH = torch.arange(6.0).view(2, 3)


def test_random_numbers_in_vmap():
    refused = "called random operation while in randomness error mode"
    for f in (lambda a: a + torch.rand(3), lambda a: torch.dropout(a, 0.5, True), lambda a: a.clone().normal_(),
              lambda a: torch.randperm(3), lambda a: torch.bernoulli(a / 10), lambda a: torch.poisson(a)):
        with pytest.raises(RuntimeError, match=refused):
            torch.vmap(f)(BATCH)
    assert torch.vmap(lambda a: torch.dropout(a, 0.5, False))(BATCH).tolist() == BATCH.tolist()
    with pytest.raises(RuntimeError, match="Only allowed values for randomness are 'error', 'different', or 'same'. Got foo"):
        torch.vmap(lambda a: a, randomness="foo")
    torch.manual_seed(0)
    stream = torch.rand(6)
    torch.manual_seed(0)
    assert torch.vmap(lambda a: torch.rand(2), randomness="different")(BATCH).flatten().tolist() == stream[:4].tolist()
    assert torch.rand(1).item() == stream[4].item()
    torch.manual_seed(0)
    same = torch.vmap(lambda a: torch.rand(2), randomness="same")(BATCH)
    assert same.tolist() == [stream[:2].tolist()] * 2 and torch.rand(1).item() == stream[2].item()
    generator = torch.Generator().manual_seed(3)
    own = torch.vmap(lambda a: torch.rand(2, generator=generator), randomness="same")(BATCH)
    assert own[0].tolist() == own[1].tolist()
    torch.manual_seed(0)
    nested = torch.vmap(lambda a: torch.vmap(lambda b: torch.rand(1), randomness="different")(a), randomness="same")(BATCH)
    assert nested[0].tolist() == nested[1].tolist() and nested[0].flatten().tolist() == stream[:3].tolist()
    with pytest.raises(RuntimeError, match=refused):
        torch.vmap(lambda a: torch.vmap(lambda b: torch.rand(1))(a), randomness="same")(BATCH)
    assert torch.rand(1).numel() == 1  # no scope is left open


def after_seed(f):
    torch.manual_seed(7)
    return f()


WIDE = torch.linspace(0.1, 0.9, 60).view(4, 3, 5)


@pytest.mark.parametrize("draws", [
    (lambda t: torch.randn(t.shape[-2:]), lambda b: torch.randn(b.shape)), (torch.rand_like, torch.rand_like),
    (torch.randn_like, torch.randn_like), (lambda t: torch.randint_like(t, 9), lambda b: torch.randint_like(b, 9)),
    (lambda t: t.clone().normal_(), lambda b: b.clone().normal_()), (lambda t: t.clone().exponential_(), lambda b: b.clone().exponential_()),
    (lambda t: t.clone().cauchy_(), lambda b: b.clone().cauchy_()), (lambda t: t.clone().geometric_(0.3), lambda b: b.clone().geometric_(0.3)),
    (lambda t: t.clone().log_normal_(), lambda b: b.clone().log_normal_()), (lambda t: t.clone().random_(), lambda b: b.clone().random_()),
    (lambda t: t.clone().bernoulli_(0.4), lambda b: b.clone().bernoulli_(0.4)), (torch.bernoulli, torch.bernoulli), (torch.poisson, torch.poisson),
    (lambda t: torch.normal(t, t), lambda b: torch.normal(b, b)), (lambda t: torch.dropout(t, 0.4, True), lambda b: torch.dropout(b, 0.4, True)),
    (torch._standard_gamma, torch._standard_gamma), (torch._sample_dirichlet, torch._sample_dirichlet),
    (lambda t: torch.binomial(t, WIDE[0]), lambda b: torch.binomial(b, WIDE[0])),
    (lambda t: torch.multinomial(t, 2).float(), lambda b: torch.multinomial(b.flatten(0, 1), 2).view(4, 3, 2).float())])
def test_numbers_of_slices_are_those_of_one_draw_for_the_batch(draws):
    of_slice, of_batch = draws
    # The second draw shows that the first one was for all slices, and the last number where the generator is.
    found = after_seed(lambda: (torch.vmap(lambda t: of_slice(t) + torch.rand(()), randomness="different")(WIDE), torch.rand(1)))
    right = after_seed(lambda: (of_batch(WIDE) + torch.rand(4)[:, None, None], torch.rand(1)))
    assert torch.equal(found[0], right[0]) and torch.equal(found[1], right[1])


def test_numbers_of_slices_follow_the_layout_of_the_batch():
    last = torch.ones(5, 6, 4)
    found = after_seed(lambda: torch.vmap(lambda t: t.normal_(), in_dims=-1, randomness="different")(last.clone()))
    assert torch.equal(found, after_seed(lambda: last.clone().movedim(-1, 0).normal_()))
    found = after_seed(lambda: torch.vmap(torch.rand_like, in_dims=-1, randomness="different")(last))
    assert torch.equal(found, after_seed(lambda: torch.rand_like(last.movedim(-1, 0))))
    same = after_seed(lambda: torch.vmap(lambda t: t.normal_(), in_dims=-1, randomness="same")(last.clone()))
    assert torch.equal(same, after_seed(lambda: torch.randn(5, 6)).expand(4, 5, 6))


def test_numbers_of_slices_within_slices_and_of_chunks():
    def f(t):
        return torch.randn(5) + torch.rand(())
    both = torch.vmap(torch.vmap(f, randomness="different"), randomness="different")
    right = after_seed(lambda: torch.randn(4, 3, 5) + torch.rand(4, 3)[..., None])
    assert torch.equal(after_seed(lambda: both(WIDE)), right)
    inner_same = torch.vmap(torch.vmap(f, randomness="same"), randomness="different")
    right = after_seed(lambda: (torch.randn(4, 5) + torch.rand(4)[:, None])[:, None].expand(4, 3, 5))
    assert torch.equal(after_seed(lambda: inner_same(WIDE)), right)
    outer_same = torch.vmap(torch.vmap(f, randomness="different"), randomness="same")
    right = after_seed(lambda: (torch.randn(3, 5) + torch.rand(3)[:, None]).expand(4, 3, 5))
    assert torch.equal(after_seed(lambda: outer_same(WIDE)), right)
    # A draw whose parameters only the slice knows, within slices that get the same numbers: the generator is set back for both.
    mixed = torch.vmap(torch.vmap(lambda t, p: torch.rand(5) + torch.poisson(p + 1) + torch.rand(()), (0, None), randomness="same"),
                       randomness="different")(WIDE, WIDE[:, 0])
    assert torch.equal(mixed, mixed[:, :1].expand(4, 3, 5)) and not torch.equal(mixed[0], mixed[1])
    chunks = after_seed(lambda: torch.vmap(f, randomness="different", chunk_size=3)(WIDE))
    right = after_seed(lambda: torch.cat([torch.randn(n, 5) + torch.rand(n)[:, None] for n in (3, 1)]))
    assert torch.equal(chunks, right)


def test_parameters_that_a_slice_wrote_are_those_that_it_wrote():
    with pytest.raises(RuntimeError, match="It looks like you're calling .item"):
        torch.vmap(lambda t: torch.randn(3) if t > 0 else torch.rand(3), randomness="different")(torch.tensor([1.0, -1.0]))
    zeros = torch.vmap(lambda t: torch.bernoulli(t.mul_(0)), randomness="different")(torch.ones(3, 4))
    assert zeros.sum() == 0


def test_the_same_numbers_for_parameters_that_differ_are_refused():
    refused = "does not currently support same randomness with a batched tensor input"
    for f in (torch.bernoulli, torch.poisson, torch._standard_gamma, torch._sample_dirichlet, lambda t: torch.binomial(t, t),
              lambda t: torch.multinomial(t, 2), lambda t: torch.normal(t, 1.0), lambda t: torch.normal(0.0, t), lambda t: torch.normal(t, t),
              lambda t: torch.ones(3, 5).bernoulli_(t)):
        with pytest.raises(RuntimeError, match=refused):
            torch.vmap(f, randomness="same")(WIDE)
    # "error" comes before what the write itself would be refused for.
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(lambda a, p: a.bernoulli_(p), in_dims=(None, 0))(torch.ones(3, 5), WIDE)


def test_samples_are_drawn_in_the_order_of_their_elements():
    turned = WIDE.movedim(-1, 0)
    for f in (torch.bernoulli, lambda t: torch.bernoulli(t, 0.5), lambda t: torch.normal(t, 1.0), lambda t: torch.normal(0.0, t)):
        sample = after_seed(lambda: f(turned))
        assert sample.is_contiguous() and torch.equal(sample, after_seed(lambda: f(turned.contiguous())))
