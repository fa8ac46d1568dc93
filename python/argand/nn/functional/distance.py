"""Distances and similarities of vectors."""
from ... import _C

cosine_similarity, pairwise_distance, pdist = _C.cosine_similarity, _C.pairwise_distance, _C.pdist
