"""Distances and similarities of vectors."""
from ... import _C

cosine_similarity, pairwise_distance = _C.cosine_similarity, _C.pairwise_distance


def pdist(input, p=2):
    """The p-norm distances of all pairs of rows of [N, M]: [N (N - 1) / 2]."""
    rows, columns = _C.triu_indices(input.shape[0], input.shape[0], 1, device=input.device).unbind(0)
    return _C.linalg_vector_norm(input.index_select(0, rows) - input.index_select(0, columns), p, -1)
