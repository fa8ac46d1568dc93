"""Every collective in every dtype, and every reduction, against Python's own arithmetic on the numbers of all ranks.

    all_collectives.py BACKEND      started once for each rank, by any launcher; prints "done RANK"
"""
import functools
import operator
import os
import sys

import argand as torch
import argand.distributed as dist

dist.init_process_group(sys.argv[1])
rank, size = dist.get_rank(), dist.get_world_size()
Op = dist.ReduceOp
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
BITS = {Op.BAND: operator.and_, Op.BOR: operator.or_, Op.BXOR: operator.xor}
REDUCTIONS = {Op.SUM: operator.add, Op.PRODUCT: operator.mul, Op.MIN: min, Op.MAX: max, Op.AVG: operator.add, Op.PREMUL_SUM: operator.add, **BITS}
MANY = 3000 // size * size  # numbers: more than one segment of an algorithm's small messages
PERIOD = 15  # they repeat, so that Python computes few of them


@functools.cache
def numbers(dtype, of, seed=0):
    """Small numbers, all sums and products of which the dtype has; each rank's are others."""
    found = [(i * (of + 2) + of + seed) % 5 + (i % 3 == of) for i in range(PERIOD)]
    return [bool(x % 2) for x in found] if dtype == torch.bool else [complex(x % 3, 1 - x % 2) for x in found] if dtype in COMPLEX else [x % 3 for x in found]


def repeated(found, dtype, n):
    return torch.tensor(found, dtype=dtype).repeat(-(-n // PERIOD))[:n].clone()


def tensor(dtype, n, of=None, seed=0):
    return repeated(numbers(dtype, rank if of is None else of, seed), dtype, n)


def takes(op, dtype):
    """Whether the reduction exists for the dtype."""
    if op in BITS:
        return dtype in INTEGERS or dtype == torch.bool
    if op in (Op.AVG, Op.PREMUL_SUM):
        return dtype in FLOATS + COMPLEX
    return op not in (Op.MIN, Op.MAX) or dtype not in COMPLEX


@functools.cache
def reduced(op, dtype, n, seed=0):
    """The reduction of all ranks' numbers."""
    found = [functools.reduce(REDUCTIONS[op], column) for column in zip(*(numbers(dtype, of, seed) for of in range(size)))]
    if op == Op.AVG:
        found = [x / size for x in found]
    if op == Op.PREMUL_SUM:
        found = [x * 0.5 for x in found]
    return repeated([bool(x) for x in found] if dtype == torch.bool else found, dtype, n)


def same(got, expected, what):
    assert got.dtype == expected.dtype, (what, got.dtype)
    close = got.equal(expected) if got.dtype in INTEGERS + (torch.bool,) else torch.allclose(got, expected, rtol=4 * torch.finfo(got.dtype).eps, atol=0)
    assert close, (what, got[:8].tolist(), expected[:8].tolist())


def zeros(dtype, n):
    return torch.zeros(n, dtype=dtype)


def reductions(dtype, op, given, n):
    what = f"{op!s} of {n} {dtype}"
    t = tensor(dtype, n)
    dist.all_reduce(t, given)
    same(t, reduced(op, dtype, n), "all_reduce " + what)
    for root in range(size):
        t = tensor(dtype, n)
        dist.reduce(t, root, given)
        same(t, reduced(op, dtype, n) if rank == root else tensor(dtype, n), "reduce " + what)
    a, b = tensor(dtype, n), tensor(dtype, 3, seed=1)
    dist.all_reduce_coalesced([a, b], given)
    same(a, reduced(op, dtype, n), "all_reduce_coalesced " + what)
    same(b, reduced(op, dtype, 3, 1), "all_reduce_coalesced " + what)
    mine = reduced(op, dtype, n * size).chunk(size)[rank]
    out = zeros(dtype, n)
    dist.reduce_scatter_tensor(out, tensor(dtype, n * size), given)
    same(out, mine, "reduce_scatter_tensor " + what)
    out = zeros(dtype, n)
    dist.reduce_scatter(out, list(tensor(dtype, n * size).chunk(size)), given)
    same(out, mine, "reduce_scatter " + what)


def refused(dtype, op, given):
    """The error is raised at the call, on all ranks, so the group can still be used."""
    for call in (lambda: dist.all_reduce(tensor(dtype, 3), given), lambda: dist.reduce(tensor(dtype, 3), 0, given),
                 lambda: dist.reduce_scatter_tensor(zeros(dtype, 1), tensor(dtype, size), given)):
        try:
            call()
        except RuntimeError as error:
            assert str(op).rpartition(".")[2] in str(error) and str(dtype).rpartition(".")[2] in str(error), error
        else:
            raise AssertionError(f"{op!s} of {dtype}")


def moves(dtype, n):
    """What does not compute."""
    of_all = [tensor(dtype, n, of) for of in range(size)]
    for root in range(size):
        t = tensor(dtype, n)
        dist.broadcast(t, root)
        same(t, of_all[root], "broadcast")
        outs = [zeros(dtype, n) for _ in range(size)] if rank == root else None
        dist.gather(tensor(dtype, n), outs, root)
        for got, expected in zip(outs or (), of_all):
            same(got, expected, "gather")
        t = zeros(dtype, n)
        dist.scatter(t, [tensor(dtype, n, of, 2) for of in range(size)] if rank == root else None, root)
        same(t, tensor(dtype, n, rank, 2), "scatter")
    outs = [zeros(dtype, n) for _ in range(size)]
    dist.all_gather(outs, tensor(dtype, n))
    same(torch.cat(outs), torch.cat(of_all), "all_gather")
    out = zeros(dtype, n * size)
    dist.all_gather_into_tensor(out, tensor(dtype, n))
    same(out, torch.cat(of_all), "all_gather_into_tensor")
    outs = [zeros(dtype, n) for _ in range(size)]
    dist.all_to_all(outs, [tensor(dtype, n, seed=10 * to) for to in range(size)])
    same(torch.cat(outs), torch.cat([tensor(dtype, n, of, 10 * rank) for of in range(size)]), "all_to_all")
    out = zeros(dtype, n * size)
    dist.all_to_all_single(out, tensor(dtype, n * size))
    same(out, torch.cat([tensor(dtype, n * size, of).chunk(size)[rank] for of in range(size)]), "all_to_all_single")
    rows = [to + 1 for to in range(size)]
    out = zeros(dtype, size * (rank + 1))
    dist.all_to_all_single(out, tensor(dtype, sum(rows)), [rank + 1] * size, rows)
    same(out, torch.cat([tensor(dtype, sum(rows), of).split(rows)[rank] for of in range(size)]), "all_to_all_single of rows")
    got = zeros(dtype, n)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, tensor(dtype, n), (rank + 1) % size), dist.P2POp(dist.irecv, got, (rank - 1) % size)]):
        work.wait()
    same(got, of_all[rank - 1], "batch_isend_irecv")


for each in (torch.bool, *INTEGERS, *FLOATS, *COMPLEX):
    counts = (1, MANY) if each in (torch.float32, torch.bfloat16) else (MANY,)  # one number is sent another way
    for count in counts:
        moves(each, count)
    for kind in REDUCTIONS:
        argument = dist._make_nccl_premul_sum(0.5) if kind == Op.PREMUL_SUM else kind
        if takes(kind, each):
            for count in counts:
                reductions(each, kind, argument, count)
        else:
            refused(each, kind, argument)
dist.barrier()
dist.monitored_barrier()
dist.destroy_process_group()
os.write(1, f"done {rank}\n".encode())  # mpirun mixes lines that come in pieces
